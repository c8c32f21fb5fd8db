import type { ToolCallPatch } from "../../../db/commit/change.ts";
import type { ToolCallError, ToolCallErrorType } from "../../../events/snapshots.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";
import { byteLength, marked } from "../../../lib/text.ts";
import { type CallView, callStep, type CallFacts, type CallStep, type Trail } from "../call.ts";
import { bounded } from "../stages/formatting.ts";
import { refusedFacts, refusedState, refusedTrail, type Refusal, ISSUES, refusalText, toolCallError } from "./refusal.ts";

export type BesidesRefusal = {
  readonly facts?: CallFacts;
  readonly columns?: Partial<ToolCallPatch>;
  readonly trail?: Trail;
};

export function refusedStep(
  call: CallView,
  refusal: Refusal,
  at: Date,
  { facts = {}, columns = {}, trail = refusedTrail(refusal) }: BesidesRefusal = {},
): CallStep {
  return callStep(
    call,
    refusedState(refusal),
    at,
    { ...refusedFacts(refusal), completedAt: at.toISOString(), ...facts },
    { ...columns, details: refusalDetails(refusal) },
    trail,
  );
}

export function refusedResult(refusal: Refusal, soFar: string | null): { readonly output: string; readonly details: Json } {
  const [output, details] = [refusalText(refusal), refusalDetails(refusal)];
  if (soFar === null || !isJsonObject(details)) return { output, details };
  return { output: `${output}\n\nIts output until then:\n${soFar}`, details: bounded({ ...details, output: soFar }) };
}

function refusalDetails(refusal: Refusal): Json {
  const error = toolCallError(refusal);
  const hasWaited = refusal.type === "timeout" && refusal.waitedSince !== null;
  const recommendations = hasWaited ? AFTER_A_WAIT : recommendationsOf(error);
  const common = { errorType: error.type, retryable: isRetryable(error.type), recommendations };
  return bounded({ ...ownDetails(refusal), ...common });
}

function ownDetails(refusal: Refusal): JsonObject {
  switch (refusal.type) {
    case "not_found":
      return { requestedTool: refusal.name, availableTools: refusal.available };
    case "disabled":
      return {
        requestedTool: refusal.name,
        availableTools: refusal.available,
        ...(refusal.reason === null ? {} : { reason: refusal.reason }),
      };
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
    case "no_result":
      return { afterMs: refusal.dueMs };
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

const ADVICE: Readonly<
  Record<ToolCallErrorType, { readonly isRetryable: boolean; readonly recommendations: readonly string[] }>
> = {
  not_found: { isRetryable: false, recommendations: ["Use one of the tools that there are."] },
  disabled: { isRetryable: false, recommendations: ["Use one of the tools that the agent has."] },
  invalid_params: { isRetryable: false, recommendations: ["Correct the arguments that are named, and call again."] },
  permission_denied: {
    isRetryable: false,
    recommendations: ["Find another way, or say what cannot be done.", "Ask an operator if the rule is meant."],
  },
  user_rejected: { isRetryable: false, recommendations: ["Ask what to do instead, or continue without it."] },
  approval_expired: { isRetryable: true, recommendations: ["Go on without it, or ask for it when people are there."] },
  tool_busy: { isRetryable: true, recommendations: ["Call again later."] },
  execution_failed: { isRetryable: true, recommendations: ["Read what the tool says, change what is wrong, and call again."] },
  timeout: {
    isRetryable: true,
    recommendations: [
      "Check for effects before it is repeated, unless its message says that its program did not run.",
      "Ask for less in one call.",
    ],
  },
  aborted: { isRetryable: false, recommendations: ["Check for effects before it is repeated."] },
};

const AFTER_A_WAIT: readonly string[] = [
  "The program that it waited to start did not run: call again when what its message names has ended.",
];

/** True if the same call may succeed later, or after a correction that the advice describes. */
export function isRetryable(type: ToolCallErrorType): boolean {
  return ADVICE[type].isRetryable;
}

/** The advice on a refusal, a sentence each. A call that was aborted before it ran has no effects. */
export function recommendationsOf({ type, stage }: Pick<ToolCallError, "type" | "stage">): readonly string[] {
  if (type === "aborted" && stage !== "execution") return ["It was not run: do as its message says."];
  return ADVICE[type].recommendations;
}
