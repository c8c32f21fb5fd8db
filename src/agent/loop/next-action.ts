import { isFinal, type CallView } from "../calls/call.ts";
import type { AgentView } from "./view.ts";

export type Activity = {
  readonly serverId: string;
  readonly isModelRunning: boolean;
  readonly isJudging: boolean;
  readonly runningCalls: ReadonlySet<string>;
  readonly endingCalls: ReadonlySet<string>;
  /** Calls that passed the gate up to execution, under this lease. */
  readonly readyCalls: ReadonlySet<string>;
  /** Calls that would have failed when they were judged: they are judged again when all earlier ones are final. */
  readonly heldCalls: ReadonlySet<string>;
  /** Unfinished calls of an earlier owner that may run again. */
  readonly repeatableCalls: ReadonlySet<string>;
  /** True if the earlier owner was lost and the log does not yet report the takeover. */
  readonly isTakenOver: boolean;
};

export type Bounds = {
  readonly maxSteps: number;
  readonly toolConcurrency: number;
  readonly isExclusive: (tool: string) => boolean;
};

export type Action =
  | { readonly kind: "start turn" }
  | { readonly kind: "start step" }
  | { readonly kind: "judge calls"; readonly calls: readonly CallView[] }
  | { readonly kind: "execute calls"; readonly calls: readonly CallView[] }
  | { readonly kind: "cancel calls"; readonly calls: readonly CallView[] }
  | { readonly kind: "end turn"; readonly reason: "MAX_STEPS" | "INTERRUPTED" }
  /** Continues after a lost owner: with calls of unknown outcome, a model call that broke off, or neither. */
  | { readonly kind: "resume"; readonly unfinished: readonly CallView[] }
  | { readonly kind: "wait" }
  | { readonly kind: "park" };

/** Decides from the rows alone what an agent does next. First run, approval, crash and takeover are one path. */
export function nextAction(view: AgentView, activity: Activity, bounds: Bounds): Action {
  if (view.state === "READY") return isTurnWanted(view) ? { kind: "start turn" } : { kind: "park" };

  const unfinished = view.calls.filter(
    (call) => call.state === "EXECUTING" && !activity.runningCalls.has(call.id) && !activity.repeatableCalls.has(call.id),
  );
  const isBrokenOff = view.lastStep?.state === "STARTED" && !activity.isModelRunning;
  if (activity.isTakenOver || unfinished.length > 0 || isBrokenOff) return { kind: "resume", unfinished };
  if (view.interruptAt !== null) return { kind: "end turn", reason: "INTERRUPTED" };
  const cancelled = view.calls.filter(
    ({ id, state, cancelRequested }) => cancelRequested !== null && !isFinal(state) && !activity.endingCalls.has(id),
  );
  if (cancelled.length > 0) return { kind: "cancel calls", calls: cancelled };
  if (activity.isModelRunning || activity.isJudging) return { kind: "wait" };

  const isAnswering = view.lastMessageKind === "ASSISTANT" && view.calls.length > 0;
  if (isAnswering && view.calls.some((call) => !isFinal(call.state))) return nextOfCalls(view, activity, bounds);
  if (isAnswering && view.waits.length > 0) return whileWaiting(view, activity);
  if (view.waits.some(({ kind }) => kind === "BUDGET")) return whileWaiting(view, activity);
  return view.stepsInTurn >= bounds.maxSteps ? { kind: "end turn", reason: "MAX_STEPS" } : { kind: "start step" };
}

/** A message, a retry, or the end of a child in the background begins a turn. A reminder does so only if it says so. */
export function isTurnWanted({ waiting, reminders, retryTurn, notices, isArchived }: AgentView): boolean {
  const joinsOnly = reminders.filter(({ startsTurn }) => !startsTurn).length;
  return waiting.length > joinsOnly || retryTurn !== null || (!isArchived && notices.some(({ source }) => source === "CHILD"));
}

function nextOfCalls(view: AgentView, activity: Activity, bounds: Bounds): Action {
  const isHeld = hasShellElsewhere(view, activity.serverId);
  const firstOpen = view.calls.findIndex(({ state }) => !isFinal(state));
  const held = new Set(view.calls.flatMap(({ id }, index) => (index > firstOpen && activity.heldCalls.has(id) ? [id] : [])));
  const unjudged = view.calls.filter(
    (call) =>
      mayRun(view, call, activity) &&
      !activity.readyCalls.has(call.id) &&
      !held.has(call.id) &&
      !activity.runningCalls.has(call.id) &&
      // Such a shell may change what a verdict depends on (invariant 14).
      !(isHeld && bounds.isExclusive(call.name)),
  );
  if (unjudged.length > 0) return { kind: "judge calls", calls: unjudged };
  const scheduled = view.calls.map((call): ScheduledCall => ({
    id: call.id,
    isExclusive: bounds.isExclusive(call.name),
    status: held.has(call.id) ? "held" : statusOf(view, call, activity),
  }));
  const starting = new Set(startable(scheduled, bounds.toolConcurrency, isHeld));
  if (starting.size > 0) return { kind: "execute calls", calls: view.calls.filter((call) => starting.has(call.id)) };
  const isShellAwaited = isHeld && startable(scheduled, bounds.toolConcurrency).length > 0;
  return isShellAwaited ? { kind: "wait" } : whileWaiting(view, activity);
}

/** An archived agent does not wait: its turn ends. */
function whileWaiting({ isArchived }: AgentView, { runningCalls }: Activity): Action {
  if (runningCalls.size > 0) return { kind: "wait" };
  return isArchived ? { kind: "end turn", reason: "INTERRUPTED" } : { kind: "park" };
}

export function hasShellElsewhere({ shells }: AgentView, serverId: string): boolean {
  return shells.some(({ server }) => server !== serverId);
}

function mayRun(view: AgentView, { id, state }: CallView, { repeatableCalls }: Activity): boolean {
  return !isFinal(state) && !isWaiting(view, id) && (state !== "EXECUTING" || repeatableCalls.has(id));
}

function isWaiting({ waits }: AgentView, callId: string): boolean {
  return waits.some((wait) => wait.callId === callId);
}

function statusOf(view: AgentView, { id, state }: CallView, activity: Activity): ScheduledCall["status"] {
  if (activity.runningCalls.has(id)) return "running";
  if (isFinal(state)) return "final";
  return isWaiting(view, id) ? "waiting" : "ready";
}

export type ScheduledCall = {
  readonly id: string;
  readonly isExclusive: boolean;
  readonly status: "waiting" | "held" | "ready" | "running" | "final";
};

/**
 * The ready calls that may start, in source order. Consecutive reads run together, at most `concurrency`. An exclusive
 * call waits for all earlier calls that can run, and blocks later ones. Reads pass a call that waits for a person, for
 * a later result or for earlier calls; exclusive calls do not. `isChangeHeld` holds all exclusive calls.
 */
export function startable(calls: readonly ScheduledCall[], concurrency: number, isChangeHeld = false): string[] {
  const starting: string[] = [];
  let running = calls.filter(({ status }) => status === "running").length;
  let isEarlierOpen = false;
  let isHeld = isChangeHeld;
  for (const call of calls) {
    if (call.status === "final") continue;
    if (call.status === "waiting" || call.status === "held") {
      isHeld = true;
    } else if (call.isExclusive) {
      if (call.status === "ready" && !isEarlierOpen && !isHeld) starting.push(call.id);
      break;
    } else {
      isEarlierOpen = true;
      if (call.status === "ready" && running < concurrency) {
        starting.push(call.id);
        running += 1;
      }
    }
  }
  return starting;
}
