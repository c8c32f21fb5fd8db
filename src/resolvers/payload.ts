import { formatCursor } from "../events/cursor.ts";
import type { Outcome } from "../agent/actors/refusal.ts";
import type { Result } from "../lib/result.ts";
import type { Context } from "./context.ts";
import type { UserError } from "./errors.ts";

export type Payload = {
  readonly rowId: string | null;
  readonly cursor: string;
  readonly userErrors: readonly UserError[];
};

/**
 * The payload of a mutation. Its cursor is that of its newest event, or the head of the log without one; never an
 * expired one. Its rows are read again: earlier mutations of the document may have cached them.
 */
export async function payloadOf(context: Context, result: Result<Outcome, UserError>): Promise<Payload> {
  context.anew();
  const head = await context.snapshot();
  if (!result.ok) return { rowId: null, cursor: formatCursor(head, head.position), userErrors: [result.refusal] };
  const { id, position } = result.value;
  return { rowId: id, cursor: formatCursor(head, Math.max(position ?? head.position, head.floor)), userErrors: [] };
}
