import type { ApprovalTransition, Change, ToolCallPatch, ToolCallTransition } from "../db/change.ts";
import type { EventBody } from "../events/event.ts";
import { callStep, closedEvent, endEvents, type CallFacts, type CallStep } from "./call-record.ts";
import type { CallOutcome, JudgedCall, Judgement, ReadyCall } from "./call-runner.ts";
import { format } from "./gate/formatting.ts";
import { refusalText, refusedState, toolCallError, type Refusal } from "./gate/refusal.ts";
import { hookVerdict, type Explanation } from "./gate/policy.ts";
import { keptValues } from "./gate/rule-values.ts";
import { hasRun, type CallLook, type Look } from "./look.ts";
import { sealCall } from "./orphans.ts";
import { question } from "./question.ts";
import type { Template } from "./template.ts";
import type { Stages } from "./stage-clock.ts";

/** A transition with the events that report it. */
export type CallCommit = {
  readonly transition: ToolCallTransition;
  /** The call after it. */
  readonly call: CallLook;
  readonly approval: NonNullable<Change["approvals"]>[number] | null;
  readonly stale: ApprovalTransition | null;
  readonly events: readonly EventBody[];
};

/** What a template says of the record of calls. */
export type CallTemplate = Pick<Template, "approvalQuorum" | "approvalExpiresMs" | "trace">;

/** What to commit for a call that does not start now: its final state, or the question to a person. */
export function recordJudgement(
  agent: Pick<Look, "id" | "tenant">,
  judgement: Exclude<Judgement, ReadyCall>,
  at: Date,
  template: CallTemplate,
): CallCommit {
  const { call, stages } = judgement;
  if (hasRun(call.state)) return sealRepeated(call, notRepeated(judgement), at, template);
  switch (judgement.kind) {
    case "refused":
      return refusedCommit(
        { call, stages, refusal: judgement.refusal, at, template },
        {},
        { explanation: unjudged(judgement.refusal) },
      );
    case "denied":
      return refuseCall(judgement, judgement.refusal, at, template);
    case "answered": {
      const { output, details } = format(judgement.result);
      const facts: CallFacts = { output, ...judgedFacts(judgement), stages, ...ended(at, stages) };
      const columns = { ...judgedColumns(judgement), details };
      return ending(callStep(call, "COMPLETED", at, facts, columns, judgement.explanation.place), template);
    }
    case "asked":
      return ask(agent, judgement, at, template);
  }
}

/** Why a call that was to run again does not. */
function notRepeated(judgement: Exclude<Judgement, ReadyCall>): string {
  switch (judgement.kind) {
    case "refused":
    case "denied":
      return refusalText(judgement.refusal);
    case "answered":
      return "a hook answers this call by now";
    case "asked":
      return `it must be asked for: ${judgement.reason}`;
  }
}

/** The end of a call that has run, that nobody knows the outcome of, and that does not run again. */
function sealRepeated(call: CallLook, why: string, at: Date, template: CallTemplate): CallCommit {
  return ending(sealCall(call, `it may not run again: ${why}`, at), template);
}

/** The transition to EXECUTING, to be committed before the call runs. */
export function beginCall(ready: ReadyCall, epoch: number, at: Date): CallStep {
  const facts: CallFacts = {
    startedAt: ready.call.startedAt ?? at.toISOString(),
    attempt: ready.call.attempt + 1,
    effectiveInput: ready.validated.bound.input,
    inputHash: ready.confirmed.inputHash,
    stages: ready.stages,
  };
  const { by } = ready.confirmed;
  // Why a call was asked stays on it, whatever would be said of it now.
  const isNew = ready.call.state === "PENDING";
  const step = callStep(ready.call, "EXECUTING", at, isNew ? { ...facts, ...judgedFacts(ready) } : facts, {
    ...(isNew ? judgedColumns(ready) : {}),
    epoch,
  });
  return by === null ? step : { ...step, transition: { ...step.transition, by } };
}

/** What to commit when a call has run. */
export function finishCall(outcome: CallOutcome, call: CallLook, at: Date, template: CallTemplate): CallCommit {
  const common = { stages: outcome.stages, completedAt: at.toISOString(), durationMs: outcome.durationMs };
  const step =
    outcome.kind === "completed"
      ? callStep(
          call,
          "COMPLETED",
          at,
          { ...common, output: outcome.output },
          { details: outcome.details, keptOutputBytes: outcome.keptOutputBytes },
        )
      : callStep(call, "FAILED", at, { ...common, ...refusedFacts(outcome.refusal) }, {}, outcome.refusal.type);
  const warnings = outcome.warnings.map(({ detail, message }): EventBody => ({
    kind: "ERROR",
    severity: "WARN",
    phase: "TOOL",
    message,
    detail,
  }));
  return ending(step, template, warnings);
}

/** What to commit for a call that was judged, and is refused now. One that has run before has an unknown outcome. */
export function refuseCall(judged: JudgedCall, refusal: Refusal, at: Date, template: CallTemplate): CallCommit {
  const { call, stages } = judged;
  if (hasRun(call.state)) return sealRepeated(call, refusalText(refusal), at, template);
  return refusedCommit({ call, stages, refusal, at, template }, judgedFacts(judged), judgedColumns(judged));
}

type RefusedCall = {
  readonly call: CallLook;
  readonly stages: Stages;
  readonly refusal: Refusal;
  readonly at: Date;
  readonly template: CallTemplate;
};

function refusedCommit(
  { call, stages, refusal, at, template }: RefusedCall,
  facts: CallFacts,
  columns: Partial<ToolCallPatch>,
): CallCommit {
  const all = { ...refusedFacts(refusal), ...facts, stages, ...ended(at, stages) };
  return ending(callStep(call, refusedState(refusal), at, all, columns, refusal.type), template);
}

function ending(step: CallStep, template: CallTemplate, before: readonly EventBody[] = []): CallCommit {
  return { ...step, approval: null, stale: null, events: [...before, ...endEvents(step.call, template)] };
}

/** The explanation of a call that did not come as far as permission. */
function unjudged({ stage, type }: Refusal): Explanation {
  return { verdict: "deny", decidedBy: stage, place: stage, reason: type, considered: [] };
}

/** What was judged, shown and would run, and the values of it that the rules saw. */
function judgedFacts({ validated, values }: JudgedCall): CallFacts {
  return { effectiveInput: validated.bound.input, ruleValues: values === null ? null : keptValues(values) };
}

/** What the gate saw and said, as it is kept on the row. */
function judgedColumns({ explanation }: JudgedCall): Partial<ToolCallPatch> {
  return {
    explanation,
    verdict: explanation.verdict,
    hookVerdict: hookVerdict(explanation),
  };
}

function ask(
  agent: Pick<Look, "id" | "tenant">,
  asked: Judgement & { kind: "asked" },
  at: Date,
  template: CallTemplate,
): CallCommit {
  const { call, validated, reason, inputHash } = asked;
  const input = validated.bound.input;
  const step = callStep(
    call,
    "APPROVAL_REQUIRED",
    at,
    { ...judgedFacts(asked), inputHash, stages: asked.stages },
    judgedColumns(asked),
    reason,
  );
  const asking = {
    kind: "TOOL_CALL",
    call: step.call,
    input,
    inputHash,
    reason,
    risk: validated.tool.risk,
    quorum: template.approvalQuorum,
    at,
  } as const;
  const { approval, event } = question(agent, asking, template);
  // What a person allowed once is not what would run now.
  const stale =
    call.approval?.state === "ALLOWED" ? ({ id: call.approval.id, from: "ALLOWED", to: "STALE", closedAt: at } as const) : null;
  return {
    ...step,
    approval,
    stale,
    events: [
      ...(stale === null ? [] : [closedEvent(stale.id, call.id, "STALE", "what was allowed is not what would run now")]),
      event,
    ],
  };
}

function refusedFacts(refusal: Refusal): CallFacts {
  return { output: refusalText(refusal), isError: true, error: toolCallError(refusal) };
}

function ended(at: Date, stages: Stages): CallFacts {
  return { completedAt: at.toISOString(), durationMs: Object.values(stages).reduce((sum, ms) => sum + ms, 0) };
}
