import { retrying, type Sql, type Statement } from "../db/sql.ts";
import type { TimelineEvent } from "./event.ts";

/** An agent's events from the newest on, one by one on demand: the planner must not read all of them. */
const BACKWARDS = (agentId: string, before: string): string =>
  `SELECT position, kind, payload FROM event WHERE agent_id = ${agentId} AND ${before} ORDER BY position DESC OFFSET 0`;
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

export type OpenBlock = {
  readonly agentId: string;
  readonly step: number;
  readonly kind: "text" | "thinking";
  readonly block: number;
  readonly text: string;
  readonly isEnded: boolean;
};

/**
 * The unfinished blocks of agents up to a position of the log, with their text. It reads back to the last completed
 * step at most.
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

export async function blockText(
  sql: Sql,
  kind: "TEXT_CHUNK" | "THINK_CHUNK",
  { agentId, position }: Pick<TimelineEvent, "agentId" | "position">,
  { step, block }: { readonly step: number; readonly block: number },
): Promise<string> {
  const [row] = await sql.query(BLOCK_TEXT, [agentId, position, step, block, kind]);
  return row?.text ?? "";
}

export async function brokenBlocks(sql: Sql, agentId: string): Promise<readonly OpenBlock[]> {
  return retrying(sql).query(BLOCKS_OF_OPEN_STEP, [[agentId], null]);
}

/** The unfinished blocks of each agent at a position of the log, in the order of `agentIds`. */
export async function openBlocksAt(
  sql: Sql,
  agentIds: readonly string[],
  position: number,
): Promise<readonly (readonly OpenBlock[])[]> {
  const open = (await sql.query(BLOCKS_OF_OPEN_STEP, [agentIds, position])).filter(({ isEnded }) => !isEnded);
  const blocks = Map.groupBy(open, ({ agentId }) => agentId);
  return agentIds.map((id) => blocks.get(id) ?? []);
}
