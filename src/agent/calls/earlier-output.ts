import type { Sql, Statement } from "../../db/sql.ts";
import { wholeCharacters } from "../../lib/text.ts";
import type { EarlierOutput, OutputRange } from "../tools/tool-context.ts";
import type { ToolOutputs } from "./outputs.ts";

type Row = {
  readonly id: string;
  readonly output: string | null;
  readonly keptBytes: number | null;
  readonly isErased: boolean;
};

/** The newest call of this id: some providers use an id again. */
const READ: Statement<Row, [agentId: string, providerId: string]> = {
  name: "read_earlier_output",
  text: `SELECT coalesce(copied_from, id) AS id, output, kept_output_bytes AS "keptBytes", erased_at IS NOT NULL AS "isErased"
    FROM tool_call WHERE agent_id = $1 AND provider_id = $2 ORDER BY step DESC, ordinal DESC LIMIT 1`,
};

/** A part of the output of an earlier call of this agent: of the kept whole, if this server has it. Null without such a call. */
export async function readEarlierOutput(
  { sql, outputs }: { readonly sql: Sql; readonly outputs: Pick<ToolOutputs, "read"> },
  agentId: string,
  call: string,
  { offset, bytes }: OutputRange,
): Promise<EarlierOutput | null> {
  const [row] = await sql.query(READ, [agentId, call]);
  if (row === undefined) return null;
  if (row.isErased || row.output === null) return { text: null, total: 0, next: null, isWhole: !row.isErased };
  const kept = row.keptBytes === null ? null : await outputs.read(row.id, offset, bytes);
  if (kept !== null) return { text: kept.text, total: row.keptBytes ?? 0, next: kept.nextOffset, isWhole: true };
  const all = Buffer.from(row.output, "utf8");
  const piece = all.subarray(offset, offset + bytes);
  const isEnd = offset + piece.length >= all.length;
  const end = isEnd ? piece.length : wholeCharacters(piece, piece.length);
  const text = piece.toString("utf8", 0, end);
  return { text, total: all.length, next: isEnd ? null : offset + end, isWhole: row.keptBytes === null };
}
