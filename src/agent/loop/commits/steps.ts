import type { OwnerChange, StepEnd } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { totalTokens, type ModelErrorKind, type TokenPrice, costOf, type Spending } from "../../models/model.ts";
import type { TodoReminder } from "../../calls/todos.ts";
import type { Sent } from "../../conversation/sent-request.ts";
import type { AgentView } from "../view.ts";
import {
  compose,
  type Commit,
  type Reducer,
  move,
  added,
  joined,
  joinWaiting,
  resultsMessage,
  transcriptColumns,
  eventsOnly,
} from "./commit.ts";
import { budgetsHeld, budgetsSettled, type StepHolds } from "./budgets.ts";
import { needsAfter } from "./hosts-asked.ts";
import { changedEvents, type FileNews } from "./files-changed.ts";
import { manualNews, type PresentTools } from "./manual.ts";
import { memoryListed } from "./memory.ts";
import { noticesTold } from "./notices.ts";
import { schedulesTriggered } from "./schedules.ts";
import { todosReminded } from "./todos.ts";

/** `todos` is the reminder that is due; null for none. */
export type StepFacts = {
  readonly model: string;
  readonly files: FileNews;
  readonly present: PresentTools;
  readonly todos: TodoReminder | null;
  /** The list of its memory that this step tells; null for none. */
  readonly memory: string | null;
  /** Null if it has no budget. */
  readonly budget: StepHolds | null;
};

/** Starts a step. Appends, in this order: tool results, notices, waiting messages, reminders of schedules. */
export function stepStarted(view: AgentView, { model, files, present, todos, memory, budget }: StepFacts, at: Date): Commit {
  const results = resultsMessage(view, at);
  const shown = added(results)(view);
  const manual = manualNews(shown, present, shown.transcriptLength, at);
  const reminded = todosReminded(shown, todos, at, view.stepCount + 1);
  const listing = memory === null ? [] : [memoryListed(shown, memory, at, view.stepCount + 1)];
  const told = noticesTold(shown, files, [...manual.notices, ...reminded.notices, ...listing], at);
  const messages = [...results, ...told.messages];
  const joins = joinWaiting(view, view.turn, view.transcriptLength + messages.length);
  const triggered = schedulesTriggered(view, view.transcriptLength + messages.length + joins.length, at);
  const { patch, events, after: moved } = move(view, { state: "WORKING", breakpoint: "PRE_MODEL" });
  const joining = compose(joined(joins), added(triggered.messages), triggered.after);
  const after = compose(moved, added(messages), told.after, manual.after, joining, begun(model, budget !== null));
  const now = after(view);
  return {
    change: {
      agent: { ...patch, ...needsAfter(view), stepCount: now.stepCount, ...transcriptColumns(now.transcriptLength) },
      messages: [...messages, ...triggered.messages],
      schedulesMoved: triggered.moves,
      ...told.change,
      ...manual.change,
      joins,
      stepStart: stepRow(now, model, at),
      ...budgetsHeld(now.stepCount, budget),
    },
    events: [
      ...resumed(view),
      ...(budget?.events ?? []),
      ...changedEvents(files.changes),
      ...manual.events,
      ...reminded.events,
      ...triggered.events,
      ...events,
    ],
    after,
  };
}

function resumed({ lastStep }: AgentView): readonly AgentEventBody[] {
  const isPlanned = lastStep?.state === "ABORTED" && lastStep.stopReason === PLANNED_STOP;
  return isPlanned ? [{ kind: "AGENT_RESUMED", strategy: "PLANNED", sealed: [] }] : [];
}

function begun(model: string, isHeld: boolean): Reducer {
  return (view) => {
    const step = view.stepCount + 1;
    return {
      ...view,
      stepCount: step,
      stepsInTurn: view.stepsInTurn + 1,
      lastStep: { step, turn: view.turn, state: "STARTED", stopReason: null, model, isHeld },
      calls: [],
    };
  };
}

function stepRow(now: AgentView, model: string, at: Date): NonNullable<OwnerChange["stepStart"]> {
  return {
    agentId: now.id,
    step: now.stepCount,
    tenant: now.tenant,
    turn: now.turn,
    state: "STARTED",
    model,
    stopReason: null,
    inputTokens: null,
    outputTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    contextTokens: null,
    contextBytes: null,
    contextWindow: null,
    request: null,
    costUsd: null,
    startedAt: at,
    completedAt: null,
    outputIsEstimated: false,
    copiedFrom: null,
    errorType: null,
  };
}

export type Aborted = {
  readonly events: readonly AgentEventBody[];
  readonly spent: Spending;
  readonly price: TokenPrice | null;
  /** True if its server shut down in a planned way: the next owner reports that. */
  readonly isPlanned?: boolean;
  /** True if the cost of the call is unknown: budgets are charged the expected one. */
  readonly isLost?: boolean;
  /** The request to the model. Null if none was made, absent if the server that made it has crashed. */
  readonly sent?: Sent | null;
  /** Absent if the model call did not fail. */
  readonly errorType?: ModelErrorKind | null;
};

/** The stop reason of a step that a planned shutdown interrupted. */
const PLANNED_STOP = "planned_stop";

const UNKNOWN: UsageColumns = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  costUsd: null,
  outputIsEstimated: false,
};

export type ContextColumns = Pick<StepEnd, "contextTokens" | "contextBytes" | "contextWindow">;

const NO_CONTEXT: ContextColumns = { contextTokens: null, contextBytes: null, contextWindow: null };

/** The request of a step on its row, with those of its parts that the agent has not had before, and the id of its answer. */
export function requestOf({ measured }: AgentView, sent: Sent | null, answerId: string | null = null): RequestColumns {
  if (sent === null) return { columns: { request: null }, stored: {} };
  const isKnown = measured?.frame === sent.record.frame;
  const request = answerId === null ? sent.record : { ...sent.record, answerId };
  return { columns: { request }, stored: isKnown ? {} : { requestParts: sent.parts } };
}

type RequestColumns = {
  readonly columns: Pick<StepEnd, "request">;
  readonly stored: Pick<OwnerChange, "requestParts">;
};

/** Ends a model call without an answer: it broke off, failed, or was not made. Its tokens are charged all the same. */
export function stepAborted(
  view: AgentView,
  { events, spent, price, isPlanned = false, isLost = false, sent = null, errorType = null }: Aborted,
  at: Date,
): Commit {
  const request = requestOf(view, sent);
  const stopReason = isPlanned ? PLANNED_STOP : null;
  const used = totalTokens(spent.usage) === 0 ? null : stepUsage(view.stepCount, spent, price);
  return {
    change: {
      stepEnd: {
        step: view.stepCount,
        state: "ABORTED",
        stopReason,
        ...(used?.columns ?? UNKNOWN),
        ...NO_CONTEXT,
        ...request.columns,
        completedAt: at,
        errorType,
      },
      ...request.stored,
      ...budgetsSettled(view, spent, price, isLost),
    },
    events: used === null ? events : [...events, used.event],
    after: (now) => ({
      ...now,
      lastStep: now.lastStep === null ? null : { ...now.lastStep, state: "ABORTED", stopReason, isHeld: false },
    }),
  };
}

export function stepAbortedIfOpen(view: AgentView, facts: Aborted, at: Date): Commit {
  if (view.lastStep?.state === "STARTED") return stepAborted(view, facts, at);
  return eventsOnly(...facts.events);
}

type UsageColumns = Omit<StepEnd, "state" | "stopReason" | "completedAt" | "request" | "errorType" | keyof ContextColumns>;

export function stepUsage(
  step: number,
  { usage, isEstimated }: Spending,
  price: TokenPrice | null,
): { readonly columns: UsageColumns; readonly event: AgentEventBody } {
  const costUsd = costOf(usage, price);
  return {
    columns: { ...usage, costUsd, outputIsEstimated: isEstimated },
    event: { kind: "TOKEN_USAGE", step, ...usage, totalTokens: totalTokens(usage), costUsd, isEstimated },
  };
}
