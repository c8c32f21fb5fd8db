import { randomUUIDv7 } from "node:crypto";
import type { NoticeRow } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { storable } from "../../lib/text.ts";

/** A notice that the model is not told yet. `source` is a NoticeSource, or one that a later version knows. */
export type NoticeView = Pick<NoticeRow, "id" | "ref" | "text"> & { readonly source: string };

/** The untold notices of an agent `a` as NoticeViews. */
export const UNTOLD_NOTICES = `(SELECT coalesce(json_agg(json_build_object('id', n.id, 'source', n.source, 'ref', n.ref, 'text', n.text) ORDER BY n.id), '[]')
    FROM notice n WHERE n.agent_id = a.id AND n.told_at_step IS NULL)`;

/** A new notice. `toldAtStep` is the step that tells it in the same commit; null for the next step. */
export function notice(
  { id: agentId, tenant }: { readonly id: string; readonly tenant: string },
  { source, ref, text }: Pick<NoticeRow, "source" | "ref" | "text">,
  at: Date,
  toldAtStep: number | null = null,
): NoticeRow {
  return {
    id: randomUUIDv7(),
    tenant,
    agentId,
    source,
    ref: storable(ref),
    text: storable(text),
    at,
    toldAtStep,
    retryTurn: null,
  };
}

export type FileOfAgent = { readonly agentId: string; readonly path: string };

const READ_TIMES: Statement<{ at: Date | null }, [agentIds: readonly string[], paths: readonly string[]]> = {
  name: "read_times_of_file_notices",
  text: `SELECT (SELECT s.started_at FROM notice n LEFT JOIN step s ON s.agent_id = n.agent_id AND s.step = n.told_at_step
      WHERE n.agent_id = f.agent_id AND n.source = 'FILE' AND n.ref = f.path ORDER BY n.id DESC LIMIT 1) AS at
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS f(agent_id, path, place) ORDER BY f.place`,
};

/** When the model was told of the newest change of each file; null for one that it was not told of. */
export async function readToldTimes(sql: Sql, files: readonly FileOfAgent[]): Promise<readonly (Date | null)[]> {
  const rows = await sql.query(READ_TIMES, [files.map(({ agentId }) => agentId), files.map(({ path }) => path)]);
  return rows.map(({ at }) => at);
}
