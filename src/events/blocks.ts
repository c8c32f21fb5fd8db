import { retrying } from "../db/retry-while-unavailable.ts";
import type { Sql, Statement } from "../db/sql.ts";
import type { TimelineEvent } from "./event.ts";

/**
 * An agent's events from the newest on, one by one as they are asked for: the planner must not look for what stands near
 * the end by reading all of them.
 */
const BACKWARDS = (agentId: string, before: string): string =>
  `SELECT position, kind, payload FROM event WHERE agent_id = ${agentId} AND ${before} ORDER BY position DESC OFFSET 0`;
/** From where a block begins: what an agent said before that is not looked at. */
const BLOCK_TEXT: Statement<
  { text: string | null },
  [agentId: string, position: number, step: number, block: number, kind: string]
> = {
  name: "block_text",
  text: `SELECT string_agg(payload ->> 'delta', '' ORDER BY position) AS text FROM event
    WHERE agent_id = $1 AND kind = $5 AND position < $2 AND (payload ->> 'step')::int = $3 AND (payload ->> 'block')::int = $4
      AND position > coalesce((SELECT s.position FROM (${BACKWARDS("$1", "position < $2")}) s WHERE s.kind = $5 || '_START'
        AND (s.payload ->> 'step')::int = $3 AND (s.payload ->> 'block')::int = $4 LIMIT 1), 0)`,
};

/** A block that has begun, with what was said of it. */
export type OpenBlock = {
  readonly agentId: string;
  readonly step: number;
  readonly kind: "text" | "thinking";
  readonly block: number;
  readonly text: string;
  /** True for a thought that was over before its step. */
  readonly isEnded: boolean;
};

/**
 * The blocks of text and of thinking of an agent that have begun up to a place of the log, with what was said of them. It looks no
 * further back than to the end of the last step that was completed.
 */
const BLOCKS_OF_OPEN_STEP: Statement<OpenBlock, [agentIds: readonly string[], upTo: number | null]> = {
  name: "blocks_of_open_step",
  text: `SELECT b.*, a.id AS "agentId" FROM unnest($1::text[]) a(id), LATERAL (SELECT step, block, CASE WHEN kind LIKE 'THINK%' THEN 'thinking' ELSE 'text' END AS kind, coalesce(string_agg(delta, '' ORDER BY position), '') AS text,
      bool_or(kind LIKE '%_END') AS "isEnded" FROM (
      SELECT position, kind, (payload ->> 'step')::int AS step, (payload ->> 'block')::int AS block, payload ->> 'delta' AS delta FROM event
      WHERE agent_id = a.id AND position <= coalesce($2, 9223372036854775807)
        AND position > coalesce((SELECT d.position FROM (${BACKWARDS("a.id", "position <= coalesce($2, 9223372036854775807)")}) d WHERE d.kind IN ('STEP_COMPLETE', 'DONE') LIMIT 1), 0)
        AND kind IN ('TEXT_CHUNK_START', 'TEXT_CHUNK', 'TEXT_CHUNK_END', 'THINK_CHUNK_START', 'THINK_CHUNK', 'THINK_CHUNK_END')
    ) said GROUP BY 1, 2, 3) b ORDER BY step, block`,
};

/** The text of a block, joined from its deltas before `position`: for an end that could not hold it. */
export async function blockText(
  sql: Sql,
  kind: "TEXT_CHUNK" | "THINK_CHUNK",
  { agentId, position }: Pick<TimelineEvent, "agentId" | "position">,
  { step, block }: { readonly step: number; readonly block: number },
): Promise<string> {
  const [row] = await sql.query(BLOCK_TEXT, [agentId, position, step, block, kind]);
  return row?.text ?? "";
}

/** The blocks of a model call that broke off with its server. Waits for the database. */
export async function brokenBlocks(sql: Sql, agentId: string): Promise<readonly OpenBlock[]> {
  return retrying(sql).query(BLOCKS_OF_OPEN_STEP, [[agentId], null]);
}

/** The blocks that had begun and not ended at a place of the log, for each of the agents, in their order. */
export async function openBlocksAt(
  sql: Sql,
  agentIds: readonly string[],
  position: number,
): Promise<readonly (readonly OpenBlock[])[]> {
  const open = (await sql.query(BLOCKS_OF_OPEN_STEP, [agentIds, position])).filter(({ isEnded }) => !isEnded);
  const blocks = Map.groupBy(open, ({ agentId }) => agentId);
  return agentIds.map((id) => blocks.get(id) ?? []);
}
