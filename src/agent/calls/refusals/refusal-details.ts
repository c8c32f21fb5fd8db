import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { byteLength, marked } from "../../../lib/text.ts";
import { bounded } from "../stages/formatting.ts";
import { AFTER_A_WAIT, isRetryable, recommendationsOf } from "../advice.ts";
import { ISSUES, refusalText, toolCallError, type Refusal } from "./refusal.ts";

export function refusedResult(refusal: Refusal, soFar: string | null): { readonly output: string; readonly details: Json } {
  const [output, details] = [refusalText(refusal), refusalDetails(refusal)];
  if (soFar === null || !isJsonObject(details)) return { output, details };
  return { output: `${output}\n\nIts output until then:\n${soFar}`, details: bounded({ ...details, output: soFar }) };
}

export function refusalDetails(refusal: Refusal): Json {
  const error = toolCallError(refusal);
  const hasWaited = refusal.type === "timeout" && refusal.waitedSince !== null;
  const recommendations = hasWaited ? AFTER_A_WAIT : recommendationsOf(error);
  const common = { errorType: error.type, retryable: isRetryable(error.type), recommendations };
  return bounded({ ...ownDetails(refusal), ...common });
}

function ownDetails(refusal: Refusal): JsonObject {
  switch (refusal.type) {
    case "not_found":
    case "disabled":
      return { requestedTool: refusal.name, availableTools: refusal.available };
    case "incomplete":
      return { stopReason: refusal.stopReason };
    case "invalid_params":
      return {
        validationErrors: refusal.issues
          .slice(0, ISSUES)
          .map(({ path, message, value }) => ({ path, message, value: shortened(value) })),
        receivedParams: shortened(refusal.input),
        expectedSchema: refusal.schema,
      };
    case "permission_denied":
      return refusal.result === null ? { reason: refusal.reason } : { reason: refusal.reason, result: refusal.result.details };
    case "user_rejected":
    case "aborted":
    case "cancelled":
      return { note: refusal.note };
    case "approval_expired":
      return { expiredAt: refusal.expiredAt };
    case "tool_busy":
      return { waitedMs: refusal.waitedMs };
    case "execution_failed":
      return refusal.cause;
    case "timeout":
      return { afterMs: refusal.afterMs, ...(refusal.waitedSince === null ? {} : { waitedSince: refusal.waitedSince }) };
  }
}

/** The largest value that details repeat, in bytes of JSON: the call's input has it completely. */
const REPEATED_BYTES = 4_096;

function shortened(value: Json | undefined): Json {
  if (value === undefined) return null;
  const text = JSON.stringify(value);
  return byteLength(text) <= REPEATED_BYTES ? value : marked(text, REPEATED_BYTES, "the input has the whole");
}
