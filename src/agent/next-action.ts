import { isFinal } from "./gate/refusal.ts";
import { isToRetry, type CallLook, type Look } from "./look.ts";
import { startable, type Slot } from "./schedule.ts";

/** What the owner of an agent has under way in memory. */
export type Activity = {
  readonly isModelRunning: boolean;
  /** True while hooks are looking at calls. */
  readonly isJudging: boolean;
  readonly runningCalls: ReadonlySet<string>;
  /** Calls that passed the gate up to execution, under this lease. */
  readonly readyCalls: ReadonlySet<string>;
  /** Calls that an earlier owner left unfinished, and that may run again. */
  readonly repeatableCalls: ReadonlySet<string>;
};

/** What bounds the agent. */
export type Bounds = {
  readonly maxSteps: number;
  readonly toolConcurrency: number;
  readonly isExclusive: (tool: string) => boolean;
};

/** The next thing to do for an agent. */
export type Action =
  | { readonly kind: "start turn" }
  /** Calls the model; where calls have just become final, their results join the transcript first. */
  | { readonly kind: "start step" }
  | { readonly kind: "judge calls"; readonly calls: readonly CallLook[] }
  | { readonly kind: "execute calls"; readonly calls: readonly CallLook[] }
  | { readonly kind: "end turn"; readonly reason: "MAX_STEPS" | "INTERRUPTED" }
  /** What an earlier owner left unfinished: calls whose outcome is unknown, a model call that broke off. */
  | { readonly kind: "resume"; readonly orphans: readonly CallLook[] }
  /** Wait for what is under way. */
  | { readonly kind: "wait" }
  /** Nothing can be done until something arrives. */
  | { readonly kind: "park" };

/**
 * Decides from the rows what an agent does next. First run, after an approval, after a crash and on another node are
 * one path: all of them are a look at the rows.
 */
export function nextAction(look: Look, activity: Activity, bounds: Bounds): Action {
  if (look.state === "READY") return look.waiting.length > 0 ? { kind: "start turn" } : { kind: "park" };

  const orphans = look.calls.filter(
    (call) => call.state === "EXECUTING" && !activity.runningCalls.has(call.id) && !activity.repeatableCalls.has(call.id),
  );
  const isBrokenOff = look.lastStep?.state === "STARTED" && !activity.isModelRunning;
  if (orphans.length > 0 || isBrokenOff) return { kind: "resume", orphans };
  if (look.interruptAt !== null) return { kind: "end turn", reason: "INTERRUPTED" };
  if (activity.isModelRunning || activity.isJudging) return { kind: "wait" };

  const isAnswering = look.lastMessageKind === "ASSISTANT" && look.calls.length > 0;
  if (isAnswering && look.calls.some((call) => !isFinal(call.state))) return nextOfCalls(look, activity, bounds);
  return look.stepsInTurn >= bounds.maxSteps ? { kind: "end turn", reason: "MAX_STEPS" } : { kind: "start step" };
}

function nextOfCalls(look: Look, activity: Activity, bounds: Bounds): Action {
  const unjudged = look.calls.filter(
    (call) => mayRun(call, activity) && !activity.readyCalls.has(call.id) && !activity.runningCalls.has(call.id),
  );
  if (unjudged.length > 0) return { kind: "judge calls", calls: unjudged };
  const slots = look.calls.map((call): Slot => ({
    id: call.id,
    isExclusive: bounds.isExclusive(call.name),
    status: statusOf(call, activity),
  }));
  const starting = new Set(startable(slots, bounds.toolConcurrency));
  if (starting.size > 0) return { kind: "execute calls", calls: look.calls.filter((call) => starting.has(call.id)) };
  return activity.runningCalls.size > 0 ? { kind: "wait" } : { kind: "park" };
}

/** Whether a call has not run, or is to run again. */
function mayRun(call: CallLook, { repeatableCalls }: Activity): boolean {
  const isRepeatable = call.state === "EXECUTING" && repeatableCalls.has(call.id);
  return call.state === "PENDING" || call.state === "APPROVED" || isRepeatable || isToRetry(call);
}

function statusOf(call: CallLook, activity: Activity): Slot["status"] {
  if (activity.runningCalls.has(call.id)) return "running";
  if (isFinal(call.state)) return "final";
  return call.state === "APPROVAL_REQUIRED" && !isToRetry(call) ? "waiting for a person" : "ready";
}
