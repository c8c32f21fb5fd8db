import type { CancelRequest } from "../../../db/commit/change.ts";
import type { Refusal } from "../refusals/refusal.ts";

export class CallCancelled extends Error {
  override readonly name = "AbortError";
  readonly request: CancelRequest;

  constructor(request: CancelRequest) {
    super("a person cancelled the call");
    this.request = request;
  }
}

export function cancelledRefusal({ by, note }: CancelRequest, stage: "confirmation" | "execution"): Refusal {
  return { type: "cancelled", stage, by, note };
}
