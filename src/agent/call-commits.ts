import { randomUUID } from "node:crypto";
import type { ApprovalTransition, Change, ToolCallTransition } from "../db/change.ts";
import type { EventBody } from "../events/event.ts";
import { callStep, endEvents, snapshot, type CallFacts, type CallStep } from "./call-record.ts";
import type { CallOutcome, Judgement, ReadyCall } from "./call-runner.ts";
import { format } from "./gate/formatting.ts";
import { refusalText, refusedState, toolCallError, type Refusal } from "./gate/refusal.ts";
import type { CallLook, Look } from "./look.ts";
import type { Stages } from "./stage-clock.ts";

/** A transition with the events that report it. */
export type CallCommit = {
  readonly transition: ToolCallTransition;
  readonly approval: NonNullable<Change["approvals"]>[number] | null;
  readonly stale: ApprovalTransition | null;
  readonly events: readonly EventBody[];
};

/** What to commit for a call that does not start now: its final state, or the question to a person. */
export function recordJudgement(
  agent: Pick<Look, "id" | "tenant">,
  judgement: Exclude<Judgement, ReadyCall>,
  at: Date,
): CallCommit {
  const { call, stages, explanation } = judgement;
  const columns = explanation === null ? {} : { explanation };
  const input = judgement.validated === null ? {} : { effectiveInput: judgement.validated.bound.input };
  switch (judgement.kind) {
    case "refused": {
      const step = callStep(
        call,
        refusedState(judgement.refusal),
        at,
        { ...refusedFacts(judgement.refusal), ...input, stages, ...ended(at, stages) },
        columns,
        judgement.refusal.type,
      );
      return { transition: step.transition, approval: null, stale: null, events: endEvents(step.call) };
    }
    case "answered": {
      const { output, details } = format(judgement.result);
      const step = callStep(
        call,
        "COMPLETED",
        at,
        { output, ...input, stages, ...ended(at, stages) },
        { ...columns, details },
        explanation?.decidedBy,
      );
      return { transition: step.transition, approval: null, stale: null, events: endEvents(step.call) };
    }
    case "asked":
      return ask(agent, judgement, at, columns);
  }
}

/** The transition to EXECUTING, to be committed before the call runs. */
export function beginCall(ready: ReadyCall, epoch: number, at: Date): CallStep {
  const input = ready.confirmed.call.bound.input;
  const facts: CallFacts = {
    startedAt: at.toISOString(),
    attempt: ready.call.attempt + 1,
    effectiveInput: input,
    stages: ready.stages,
  };
  return callStep(ready.call, "EXECUTING", at, facts, {
    epoch,
    inputHash: ready.confirmed.inputHash,
    explanation: ready.explanation,
  });
}

/** What to commit when a call has run. */
export function finishCall(outcome: CallOutcome, call: CallLook, at: Date): CallCommit {
  const common = { stages: outcome.stages, completedAt: at.toISOString(), durationMs: outcome.durationMs };
  const step =
    outcome.kind === "completed"
      ? callStep(call, "COMPLETED", at, { ...common, output: outcome.output }, { details: outcome.details })
      : callStep(call, "FAILED", at, { ...common, ...refusedFacts(outcome.refusal) }, {}, outcome.refusal.type);
  const warnings = outcome.warnings.map(({ detail, message }): EventBody => ({
    kind: "ERROR",
    severity: "WARN",
    phase: "TOOL",
    message,
    detail,
  }));
  return { transition: step.transition, approval: null, stale: null, events: [...warnings, ...endEvents(step.call)] };
}

function ask(agent: Pick<Look, "id" | "tenant">, asked: Judgement & { kind: "asked" }, at: Date, columns: object): CallCommit {
  const { call, validated, reason } = asked;
  const input = validated.bound.input;
  const id = randomUUID();
  const approval = {
    id,
    tenant: agent.tenant,
    agentId: agent.id,
    toolCallId: call.id,
    kind: "TOOL_CALL",
    state: "PENDING",
    input,
    inputHash: asked.inputHash,
    reason,
    risk: validated.tool.readOnly ? "LOW" : "MEDIUM",
    requestedAt: at,
    expiresAt: null,
    closedAt: null,
  } as const;
  const look = {
    id,
    state: "PENDING",
    inputHash: asked.inputHash,
    decision: null,
    decidedBy: null,
    decidedAt: null,
    note: null,
  } as const;
  const step = callStep(
    call,
    "APPROVAL_REQUIRED",
    at,
    { effectiveInput: input, stages: asked.stages },
    { ...columns, inputHash: asked.inputHash },
    reason,
  );
  const request = {
    approvalId: id,
    kind: "TOOL_CALL",
    call: snapshot({ ...step.call, approval: look }),
    inputHash: asked.inputHash,
    reason,
    risk: approval.risk,
    expiresAt: null,
  } as const;
  // What a person allowed once is not what would run now.
  const stale =
    call.approval?.state === "ALLOWED" ? ({ id: call.approval.id, from: "ALLOWED", to: "STALE", closedAt: at } as const) : null;
  return { transition: step.transition, approval, stale, events: [{ kind: "PERMISSION_REQUIRED", request }] };
}

function refusedFacts(refusal: Refusal): CallFacts {
  return { output: refusalText(refusal), isError: true, error: toolCallError(refusal) };
}

function ended(at: Date, stages: Stages): CallFacts {
  return { completedAt: at.toISOString(), durationMs: Object.values(stages).reduce((sum, ms) => sum + ms, 0) };
}
