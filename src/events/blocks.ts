import { retrying } from "../db/retry-while-unavailable.ts";
import type { Sql, Statement } from "../db/sql.ts";
import type { TimelineEvent } from "./event.ts";

/**
 * An agent's events from the newest on, one by one as they are asked for: the planner must not look for what stands near
 * the end by reading all of them.
 */
const BACKWARDS = (before = "true"): string =>
  `SELECT position, kind, payload FROM event WHERE agent_id = $1 AND ${before} ORDER BY position DESC OFFSET 0`;
/** From where a block begins: what an agent said before that is not looked at. */
const BLOCK_TEXT: Statement<
  { text: string | null },
  [agentId: string, position: number, step: number, block: number, kind: string]
> = {
  name: "block_text",
  text: `SELECT string_agg(payload ->> 'delta', '' ORDER BY position) AS text FROM event
    WHERE agent_id = $1 AND kind = $5 AND position < $2 AND (payload ->> 'step')::int = $3 AND (payload ->> 'block')::int = $4
      AND position > coalesce((SELECT s.position FROM (${BACKWARDS("position < $2")}) s WHERE s.kind = $5 || '_START'
        AND (s.payload ->> 'step')::int = $3 AND (s.payload ->> 'block')::int = $4 LIMIT 1), 0)`,
};

/** A block that has begun and not ended, with what was said of it. */
export type OpenBlock = { readonly kind: "text" | "thinking"; readonly block: number; readonly text: string };

/**
 * The blocks of text and of thinking of an agent's last step that have begun and not ended, with what was said of them. It
 * looks no further back than to the end of the last step that was completed.
 */
const OPEN_BLOCKS: Statement<OpenBlock, [agentId: string, step: number]> = {
  name: "open_blocks",
  text: `SELECT block, CASE WHEN kind LIKE 'THINK%' THEN 'thinking' ELSE 'text' END AS kind, coalesce(string_agg(delta, '' ORDER BY position), '') AS text FROM (
      SELECT position, kind, (payload ->> 'block')::int AS block, payload ->> 'delta' AS delta FROM event
      WHERE agent_id = $1 AND (payload ->> 'step')::int = $2
        AND position > coalesce((SELECT d.position FROM (${BACKWARDS()}) d WHERE d.kind IN ('STEP_COMPLETE', 'DONE') LIMIT 1), 0)
        AND kind IN ('TEXT_CHUNK_START', 'TEXT_CHUNK', 'TEXT_CHUNK_END', 'THINK_CHUNK_START', 'THINK_CHUNK', 'THINK_CHUNK_END')
    ) said GROUP BY 1, 2 HAVING count(*) FILTER (WHERE kind LIKE '%_END') = 0 ORDER BY block`,
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

/** The blocks of a step that have begun and not ended: where a model call broke off with its server. Waits for the database. */
export async function openBlocks(sql: Sql, agentId: string, step: number): Promise<OpenBlock[]> {
  return retrying(sql).query(OPEN_BLOCKS, [agentId, step]);
}
