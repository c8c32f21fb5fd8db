import type { ApprovalTransition, ToolCallPatch } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { closedEvent, requestApproval, type ApprovalRequest } from "../../approvals/request.ts";
import type { ApprovalTemplate } from "../../approvals/scope.ts";
import { type CallView, hasRun, isInputAnswered, callStep, type CallFacts, type CallStep, sealCall } from "../../calls/call.ts";
import { imageRows, imagesOf, endEvents, stageEvents, toolWarning } from "../../calls/events.ts";
import { judgedColumns, judgedFacts, type JudgedCall, type Judgement, type ReadyCall } from "../../calls/judge.ts";
import { riskOf } from "../../calls/risk.ts";
import { refusedStep } from "../../calls/refusals/refusal-details.ts";
import { refusalText, type Refusal } from "../../calls/refusals/refusal.ts";
import type { Stages } from "../../calls/stage-clock.ts";
import { digested, type DigestedImage } from "../../tools/images.ts";
import { format } from "../../calls/stages/formatting.ts";
import type { AgentView } from "../view.ts";
import type { CallTemplate } from "../../calls/scope.ts";
import { awayWarning, serverWait } from "./answer-kept.ts";
import { callsChanged, compose, waiting, type Commit } from "./commit.ts";

export type Unready = Exclude<Judgement, ReadyCall | { readonly kind: "held" | "away" }>;

export type Away = Extract<Judgement, { readonly kind: "away" }>;

export type RecordTemplate = Pick<ApprovalTemplate, "approvalQuorum" | "approvalExpiresMs" | "trace">;

type Outcome = {
  readonly step: CallStep;
  readonly events: readonly AgentEventBody[];
  readonly asked: Asked | null;
  readonly images: readonly DigestedImage[];
};

type Asked = { readonly request: ApprovalRequest; readonly stale: ApprovalTransition | null };

/** Stores judgements of calls that do not start: each call becomes final, or an approval is requested. */
export function callsJudged(
  view: AgentView,
  { judgements, template }: { readonly judgements: readonly Unready[]; readonly template: RecordTemplate },
  at: Date,
): Commit {
  const outcomes = judgements.map((judgement) => outcomeOf(view, judgement, at, template));
  const asked = outcomes.flatMap((outcome) => outcome.asked ?? []);
  return {
    change: {
      transitions: outcomes.map(({ step }) => step.transition),
      approvals: asked.map(({ request }) => request.row),
      waits: asked.map(({ request }) => request.wait),
      ...(asked.length === 0 ? {} : { agent: { lastActivityAt: at } }),
      images: imageRows(outcomes.flatMap(({ images }) => images)),
      approvalTransitions: asked.flatMap(({ stale }) => stale ?? []),
    },
    events: outcomes.flatMap(({ events }) => events),
    after: compose(callsChanged(outcomes.map(({ step }) => step.call)), waiting(asked.map(({ request }) => request.wait))),
  };
}

/** The calls wait for their servers, each with the answer of a person. */
export function serversAwaited(
  view: AgentView,
  { away, template }: { readonly away: readonly Away[]; readonly template: Pick<CallTemplate, "deferredTimeoutMs"> },
  at: Date,
): Commit {
  const waits = away.map(({ call, server }) => serverWait(view, call, { server, afterMs: null }, template, at));
  return { change: { waits }, events: away.map(({ call, reason }) => awayWarning(call, reason)), after: waiting(waits) };
}

/** Refuses a call that was judged and waited for its start. If it has run before, its outcome is unknown. */
export function callRefused(
  view: AgentView,
  { judged, refusal, template }: { readonly judged: JudgedCall; readonly refusal: Refusal; readonly template: RecordTemplate },
  at: Date,
): Commit {
  const { call, stages } = judged;
  const { step, events } = traced(view, { call, stages }, template, refused(judged, refusal, at, template));
  const warning = toolWarning({ detail: refusal.type, message: `${judged.call.name}: ${refusalText(refusal)}` });
  return { change: { transitions: [step.transition] }, events: [warning, ...events], after: callsChanged([step.call]) };
}

function outcomeOf(view: AgentView, judgement: Unready, at: Date, template: RecordTemplate): Outcome {
  const { call } = judgement;
  if (hasRun(call) && !isAskedBetweenRounds(judgement))
    return withFailedHook(judgement, sealed(call, notRepeated(judgement), at, template));
  return traced(view, judgement, template, judgedOutcome(view, judgement, at, template));
}

/** True if a call that has the answer of a person for its tool is to be asked for before it continues. It is still the call that ran. */
function isAskedBetweenRounds(judgement: Unready): boolean {
  return judgement.kind === "asked" && isInputAnswered(judgement.call) && judgement.inputHash === judgement.call.inputHash;
}

function traced(
  view: AgentView,
  judged: { readonly kind?: Judgement["kind"]; readonly call: CallView; readonly stages: Stages },
  { trace }: RecordTemplate,
  outcome: Outcome,
): Outcome {
  if (!trace) return outcome;
  const { call, stages, kind } = judged;
  const before = view.calls.find(({ id }) => id === call.id)?.stages ?? [];
  return { ...outcome, events: [...stageEvents(call.id, before, stages, kind === "asked"), ...outcome.events] };
}

function judgedOutcome(view: AgentView, judgement: Unready, at: Date, template: RecordTemplate): Outcome {
  const { call, stages } = judgement;
  switch (judgement.kind) {
    case "refused": {
      const { refusal } = judgement;
      return refusedWith({ call, stages, refusal, at, template }, {}, {});
    }
    case "denied":
      return withFailedHook(judgement, refused(judgement, judgement.refusal, at, template));
    case "answered": {
      const { output, details, images: given } = format(judgement.result);
      const images = given.map(digested);
      const facts: CallFacts = { output, ...imagesOf(images), ...judgedFacts(judgement), stages, ...ended(at, stages) };
      const columns = { ...judgedColumns(judgement), details };
      const step = callStep(call, "COMPLETED", at, facts, columns, { note: judgement.explanation.place });
      return { ...ending(step, template), images };
    }
    case "asked":
      return ask(view, judgement, at, template);
  }
}

function withFailedHook(judgement: Unready, outcome: Outcome): Outcome {
  if (judgement.kind !== "denied" || judgement.failedHook === null) return outcome;
  const warning = toolWarning({ detail: "hook_failed", message: judgement.failedHook });
  return { ...outcome, events: [warning, ...outcome.events] };
}

function notRepeated(judgement: Unready): string {
  switch (judgement.kind) {
    case "refused":
    case "denied":
      return refusalText(judgement.refusal);
    case "answered":
      return "a hook now answers this call";
    case "asked":
      return `it must be asked for: ${judgement.reason}`;
  }
}

/** Seals a call that has run, has an unknown outcome, and is not run again. */
function sealed(call: CallView, why: string, at: Date, template: RecordTemplate): Outcome {
  return ending(sealCall(call, { note: `it may not run again: ${why}` }, at), template);
}

function refused(judged: JudgedCall, refusal: Refusal, at: Date, template: RecordTemplate): Outcome {
  const { call, stages } = judged;
  if (hasRun(call)) return sealed(call, refusalText(refusal), at, template);
  return refusedWith({ call, stages, refusal, at, template }, judgedFacts(judged), judgedColumns(judged));
}

type RefusedCall = {
  readonly call: CallView;
  readonly stages: Stages;
  readonly refusal: Refusal;
  readonly at: Date;
  readonly template: RecordTemplate;
};

function refusedWith(
  { call, stages, refusal, at, template }: RefusedCall,
  facts: CallFacts,
  columns: Partial<ToolCallPatch>,
): Outcome {
  return ending(refusedStep(call, refusal, at, { facts: { ...facts, stages, ...ended(at, stages) }, columns }), template);
}

function ending(step: CallStep, template: RecordTemplate): Outcome {
  return { step, events: endEvents(step.call, template), asked: null, images: [] };
}

function ask(view: AgentView, judgement: Unready & { kind: "asked" }, at: Date, template: RecordTemplate): Outcome {
  const { call, validated, inputHash, meta, preview } = judgement;
  const isBegun = isInputAnswered(call);
  const reason = isBegun
    ? `the call has begun, and its tool is to get the answer of a person: ${judgement.reason}`
    : judgement.reason;
  const facts = { ...judgedFacts(judgement), inputHash, stages: judgement.stages };
  const step = callStep(call, "APPROVAL_REQUIRED", at, facts, judgedColumns(judgement), { note: reason });
  const request = requestApproval(
    view,
    {
      kind: "TOOL_CALL",
      call: step.call,
      input: validated.bound.input,
      inputHash,
      reason,
      risk: riskOf(judgement.validated.tool, judgement.values, meta),
      meta,
      preview,
      quorum: template.approvalQuorum,
      question: null,
      continuation: null,
      at,
    },
    template,
  );
  // The approval was given for something else than what would run.
  const stale =
    call.approval?.state === "ALLOWED" && !isBegun
      ? ({ id: call.approval.id, from: "ALLOWED", to: "STALE", closedAt: at } as const)
      : null;
  return {
    step: { ...step, call: request.call },
    events: [
      ...(stale === null ? [] : [closedEvent(stale.id, call.id, "STALE", "what was allowed is not what would run now")]),
      request.event,
    ],
    asked: { request, stale },
    images: [],
  };
}

/** The time of the stages in ms, without the wait for a decision. */
function workedMs(stages: Stages): number {
  return stages.reduce((sum, { stage, durationMs }) => (stage === "confirmation" ? sum : sum + durationMs), 0);
}

function ended(at: Date, stages: Stages): CallFacts {
  return { completedAt: at.toISOString(), durationMs: workedMs(stages) };
}
