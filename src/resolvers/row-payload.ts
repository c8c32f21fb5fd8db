import type { CommandRefusal } from "../agent/actors/refusal.ts";
import type { Result } from "../lib/result.ts";
import { snapshotCursor } from "./agent.ts";
import type { Context } from "./context.ts";
import type { UserError } from "./errors.ts";

/** The outcome of a command that no event reports: the id of its row, or null if nothing came of it. */
export type RowPayload = {
  readonly rowId: string | null;
  readonly cursor: string;
  readonly userErrors: readonly UserError[];
};

/** The payload of a command that answers the id of a row. */
export async function rowPayload(context: Context, result: Result<string, CommandRefusal>): Promise<RowPayload> {
  const cursor = await snapshotCursor(context);
  return result.ok ? { rowId: result.value, cursor, userErrors: [] } : { rowId: null, cursor, userErrors: [result.refusal] };
}
