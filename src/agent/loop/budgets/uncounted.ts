import type { ModelOutcome } from "../../conversation/model-call.ts";
import { totalTokens, type ModelError, type ModelErrorKind } from "../../models/model.ts";

/** The end of a model call, with its failure if it failed. */
export type Outcome = Pick<ModelOutcome, "kind" | "spent"> & { readonly error?: ModelError };

/** Failures of calls that a provider charges, although it reports no usage. */
const CHARGED: ReadonlySet<ModelErrorKind> = new Set(["silent", "broken", "empty"]);

/** True if the input of a call is uncounted, although the provider may have read it: its cost is estimated. */
export function isUncounted({ kind, spent, error }: Outcome): boolean {
  if (totalTokens({ ...spent.usage, outputTokens: 0 }) > 0) return false;
  return kind === "interrupted" || (error !== undefined && CHARGED.has(error.kind));
}
