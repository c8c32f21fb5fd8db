import { formatCursor } from "../events/cursor.ts";
import type { Outcome } from "../agent/actors/outcome.ts";
import type { Result } from "../lib/result.ts";
import type { Context } from "./context.ts";
import type { UserError } from "./errors.ts";

/** The outcome of a mutation: the id of the row that it is about, or null if nothing came of it. */
export type Payload = {
  readonly rowId: string | null;
  readonly cursor: string;
  readonly userErrors: readonly UserError[];
};

/**
 * The payload of a mutation. Its cursor is that of its newest event, or the head of the log if there is none; never one that has
 * expired. What the payload shows is read anew: the mutations before it in the same document have shown what it has changed.
 */
export async function payloadOf(context: Context, result: Result<Outcome, UserError>): Promise<Payload> {
  context.anew();
  const head = await context.snapshot();
  if (!result.ok) return { rowId: null, cursor: formatCursor(head, head.position), userErrors: [result.refusal] };
  const { id, position } = result.value;
  return { rowId: id, cursor: formatCursor(head, Math.max(position ?? head.position, head.floor)), userErrors: [] };
}
