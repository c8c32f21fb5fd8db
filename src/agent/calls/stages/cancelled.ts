import type { CancelRequest } from "../../../db/commit/change.ts";
import type { Refusal } from "../refusals/refusal.ts";

/** The reason with which the signal of a running call aborts if a person cancels that call alone. */
export class CallCancelled extends Error {
  override readonly name = "AbortError";
  readonly request: CancelRequest;

  constructor(request: CancelRequest) {
    super("a person cancelled the call");
    this.request = request;
  }
}

/** The refusal of a call that a person cancelled before it ended; "execution" if it had begun to run. */
export function cancelledRefusal({ by, note }: CancelRequest, stage: "confirmation" | "execution"): Refusal {
  return { type: "cancelled", stage, by, note };
}
