import type { JsonObject } from "../../lib/json.ts";
import { writtenFiles } from "../policy/rule-values.ts";
import type { CallView } from "./call.ts";
import { callStep, type CallFacts, type CallStep, type Trail } from "./states.ts";

const ADVICE: Readonly<Record<string, { readonly error: string; readonly recommendations: readonly string[] }>> = {
  PENDING: {
    error: "The call was not run.",
    recommendations: ["It had no effect.", "Call the tool again only if it is still wanted."],
  },
  APPROVAL_REQUIRED: {
    error: "Nobody had decided on the call, and it was not run.",
    recommendations: ["It had no effect.", "Call the tool again only if it is still wanted: it will be asked for again."],
  },
  APPROVED: {
    error: "The call was allowed, but it was not run.",
    recommendations: ["It had no effect.", "Call the tool again only if it is still wanted, with an input that is still right."],
  },
  EXECUTING: {
    error: "The call was running when it broke off; whether it had effects is unknown.",
    recommendations: ["Check for effects before anything else.", "Call the tool again only if it is safe to repeat."],
  },
};

function sealedResult(call: CallView, note: string): { readonly facts: CallFacts; readonly details: JsonObject } {
  const isOutcomeUnknown = call.state === "APPROVAL_REQUIRED" && call.approval?.kind === "OUTCOME_UNKNOWN";
  const status = isOutcomeUnknown ? "EXECUTING" : call.state;
  const advice = ADVICE[status];
  if (advice === undefined) throw new Error(`a call in state ${call.state} has its result`);
  // A call that had not begun has written no file.
  const files = status === "EXECUTING" ? writtenFiles(call.ruleValues) : [];
  const payload = {
    ok: false,
    error: advice.error,
    data: {
      status,
      startedAt: call.startedAt,
      approval: call.approval?.state ?? null,
      toolId: call.id,
      note,
      ...(files.length === 0 ? {} : { files }),
    },
    recommendations: advice.recommendations,
    _autoSealed: true,
  };
  const error = {
    type: "aborted",
    stage: status === "EXECUTING" ? "execution" : "confirmation",
    message: `${advice.error} (${note})`,
  } as const;
  return { facts: { output: JSON.stringify(payload), isError: true, error }, details: payload };
}

export function sealCall(call: CallView, trail: Trail & { readonly note: string }, at: Date): CallStep {
  const { facts, details } = sealedResult(call, trail.note);
  return callStep(call, "SEALED", at, { ...facts, completedAt: at.toISOString() }, { details }, trail);
}
