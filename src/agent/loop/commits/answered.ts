import { randomUUIDv7 } from "node:crypto";
import type { OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { CallView } from "../../calls/call.ts";
import { executionStarted } from "../../calls/events.ts";
import { throughBridge } from "../../calls/stages/validation.ts";
import { cacheUse } from "../../conversation/cache-use.ts";
import { isEmpty, type Answer, type AnsweredCall } from "../../conversation/answer.ts";
import type { AnswerTimes } from "../../conversation/model-call.ts";
import type { Sent } from "../../conversation/sent-request.ts";
import type { Model, Spending } from "../../models/model.ts";
import type { AgentView } from "../view.ts";
import { budgetsSettled } from "./budgets.ts";
import { asStored, compose, identity, joinCommits, type Commit, type Reducer, move, added, answerMessage } from "./commit.ts";
import { shapedEnd, withValue, type ShapedAnswer } from "./shapes.ts";
import { requestOf, stepUsage, type ContextColumns } from "./steps.ts";
import { turnEnded } from "./turns.ts";

export type Answered = {
  readonly answer: Answer;
  readonly texts: readonly AgentEventBody[];
  /** The tokens of the call, and of earlier tries that failed before their first text. */
  readonly spent: Spending;
  readonly times: AnswerTimes;
  readonly context: ContextColumns;
  readonly sent: Sent | null;
  readonly model: Pick<Model, "name" | "price">;
  /** Answers that took longer than this, in ms, are reported. */
  readonly slowStepMs: number;
  readonly trace: boolean;
  /** The check of an answer that ends the turn; null if the turn has no shape. */
  readonly shaped: ShapedAnswer | null;
};

/** True for an answer that ends its turn: without calls, and not to be continued. */
export function isFinalAnswer({ calls, stopReason }: Answer): boolean {
  return calls.length === 0 && stopReason !== "pause_turn";
}

/** Stores a model's answer: its message, its calls and its cost. An answer without calls ends the turn. */
export function answered(view: AgentView, facts: Answered, at: Date): Commit {
  const { answer, context, sent } = facts;
  const request = requestOf(view, sent, answer.cache?.answerId ?? null);
  const message = withValue(answerMessage(answer, view, at), facts.shaped);
  const calls = newCalls(answer, view, at);
  const { stopReason } = answer;
  const used = stepUsage(view.stepCount, facts.spent, facts.model.price);
  // An answer without text did not stream.
  const streamed = view.breakpoint === "PRE_MODEL" ? move(view, { breakpoint: "STREAMING_MODEL" }) : null;
  const stored: Commit = {
    change: {
      stepEnd: {
        step: view.stepCount,
        state: "COMPLETED",
        stopReason,
        errorType: null,
        ...used.columns,
        ...context,
        ...request.columns,
        completedAt: at,
      },
      ...request.stored,
      messages: message,
      toolCalls: calls,
      ...budgetsSettled(view, facts.spent, facts.model.price),
    },
    events: [
      ...(streamed?.events ?? []),
      ...facts.texts,
      ...reports(view, facts, used.event, at),
      ...(facts.trace ? calls.map((call) => executionStarted(pendingCall(call))) : []),
    ],
    after: compose(streamed?.after ?? identity, added(message), completed(stopReason, calls), measured(facts, at)),
  };
  const now = stored.after(view);
  if (!isFinalAnswer(answer)) return joinCommits(stored, pending(now));
  if (facts.shaped?.kind === "misfit") {
    const asked = shapedEnd(now, facts.shaped, message, at);
    return joinCommits(stored, asked, pending(asked.after(now)));
  }
  if (facts.shaped !== null) return joinCommits(stored, shapedEnd(now, facts.shaped, message, at));
  const detail = isEmpty(answer) ? ({ detail: "empty" } as const) : {};
  return joinCommits(stored, turnEnded(now, { reason: "COMPLETED", note: null, ...detail }, at));
}

function reports(view: AgentView, facts: Answered, used: AgentEventBody, at: Date): AgentEventBody[] {
  const { answer, times, context, model, slowStepMs, sent } = facts;
  const { contextTokens, contextWindow } = context;
  const { stopReason } = answer;
  const { durationMs, firstTokenMs } = times;
  const step = view.stepCount;
  const asked = { model: model.name, frame: sent?.record.frame ?? null, at: at.getTime() - durationMs };
  return [
    {
      kind: "STEP_COMPLETE",
      step,
      durationMs,
      ...(firstTokenMs === null ? {} : { firstTokenMs }),
      stopReason,
      contextTokens,
      contextWindow,
      ...cacheUse(view, { ...asked, usage: answer.usage, told: answer.cache ?? null }),
    },
    used,
    ...(durationMs > slowStepMs
      ? [warning("slow_step", `step ${step} by ${model.name} took ${Math.round(durationMs)} ms; the limit is ${slowStepMs}`)]
      : []),
    ...(stopReason === "max_tokens"
      ? [warning("max_tokens", `step ${step} by ${model.name} was cut at its limit of tokens`)]
      : []),
    ...(isEmpty(answer)
      ? [warning("empty", `step ${step} by ${model.name} has nothing in it, also when it was made again`)]
      : []),
  ];
}

function pending(view: AgentView): Commit {
  const { patch, events, after } = move(view, { breakpoint: "TOOL_PENDING" });
  return { change: { agent: { ...patch, transcriptLength: view.transcriptLength } }, events, after };
}

type NewCalls = NonNullable<OwnerChange["toolCalls"]>;

function completed(stopReason: string, calls: NewCalls): Reducer {
  return (view) => ({
    ...view,
    lastStep: view.lastStep === null ? null : { ...view.lastStep, state: "COMPLETED", stopReason, isHeld: false },
    calls: calls.map(pendingCall),
  });
}

function measured({ answer, spent, context, sent, model }: Answered, at: Date): Reducer {
  const { contextTokens: tokens, contextBytes: bytes } = context;
  const { cacheReadTokens, cacheWriteTokens } = spent.usage;
  const frame = sent?.record.frame ?? null;
  // As its row has it.
  const answerId = sent === null ? null : (answer.cache?.answerId ?? null);
  const cached = cacheReadTokens + cacheWriteTokens;
  return (view) =>
    bytes === null
      ? view
      : {
          ...view,
          measured: { step: view.stepCount, tokens, bytes, at: at.getTime(), frame, model: model.name, cached, answerId },
        };
}

function newCalls({ calls }: Answer, view: AgentView, at: Date): NewCalls {
  return calls
    .map((call) => asMeant(call, view))
    .map((call, ordinal) => ({
      id: randomUUIDv7(),
      tenant: view.tenant,
      agentId: view.id,
      turn: view.turn,
      step: view.stepCount,
      ordinal,
      providerId: call.providerId,
      name: call.name,
      state: "PENDING",
      attempt: 0,
      requestedInput: call.requestedInput,
      effectiveInput: null,
      ruleValues: null,
      inputHash: null,
      output: null,
      details: null,
      images: null,
      keptOutputBytes: null,
      error: null,
      isError: false,
      explanation: null,
      verdict: null,
      hookVerdict: null,
      stages: [],
      auditTrail: [{ state: "PENDING", timestamp: at.toISOString() }],
      startedAt: null,
      completedAt: null,
      durationMs: null,
      createdAt: at,
      updatedAt: at,
      cancelRequested: null,
      copiedFrom: null,
      cachedFrom: null,
      todos: null,
      erasedAt: null,
      exitCode: null,
      hosts: null,
    }));
}

/** The call that is judged, recorded and shown: one by the bridge is that of the tool that it names. Its message stays as the model wrote it. */
function asMeant(call: AnsweredCall, { manual }: AgentView): AnsweredCall {
  const meant = manual?.fixesTools === true ? throughBridge({ name: call.name, input: call.requestedInput }) : null;
  return meant === null ? call : { ...call, name: meant.name, requestedInput: meant.input };
}

function pendingCall({ id, ordinal, providerId, name, state, attempt, requestedInput }: NewCalls[number]): CallView {
  return asStored({
    id,
    ordinal,
    providerId,
    name,
    state,
    attempt,
    requestedInput,
    effectiveInput: null,
    ruleValues: null,
    inputHash: null,
    output: null,
    images: null,
    isError: false,
    error: null,
    stages: [],
    startedAt: null,
    completedAt: null,
    durationMs: null,
    approval: null,
    hosts: [],
    cachedFrom: null,
    cancelRequested: null,
  });
}

export function warning(detail: string, message: string): AgentEventBody {
  return { kind: "ERROR", severity: "WARN", phase: "MODEL", message, detail };
}
