import { type ReadyCall, judgedColumns, judgedFacts } from "../../calls/judge.ts";
import type { CallView } from "../../calls/call.ts";
import { startEvents } from "../../calls/events.ts";
import { stageEvents } from "../../calls/trace.ts";
import { callStep, type CallFacts, type CallStep } from "../../calls/states.ts";
import type { AgentView } from "../view.ts";
import { callsChanged, compose, type Commit, move } from "./commit.ts";

/** Calls are about to run: EXECUTING is committed before they do (invariant 5). */
export function callsStarted(
  view: AgentView,
  { ready, trace }: { readonly ready: readonly ReadyCall[]; readonly trace: boolean },
  at: Date,
): Commit {
  const steps = ready.map((call) => begin(call, at));
  const before = view.breakpoint === "TOOL_EXECUTING" ? [] : move(view, { breakpoint: "PRE_TOOL" }).events;
  const from = before.length === 0 ? view : { ...view, breakpoint: "PRE_TOOL" as const };
  const { patch, events, after } = move(from, { state: "WORKING", breakpoint: "TOOL_EXECUTING" });
  return {
    change: { agent: patch, transitions: steps.map(({ transition }) => transition) },
    events: [
      ...before,
      ...events,
      ...(trace ? ready.flatMap((call) => stageEvents(call.call.id, rowOf(view, call).stages, call.stages)) : []),
      // A call that runs again has its TOOL_START.
      ...steps.flatMap(({ call, transition }) =>
        transition.from === "PENDING" || transition.from === "APPROVED" ? startEvents(call) : [],
      ),
    ],
    after: compose(after, callsChanged(steps.map(({ call }) => call))),
  };
}

/** The call as its row is. */
function rowOf(view: AgentView, { call }: ReadyCall): Pick<CallView, "stages"> {
  return view.calls.find(({ id }) => id === call.id) ?? { stages: [] };
}

function begin(ready: ReadyCall, at: Date): CallStep {
  const facts: CallFacts = {
    startedAt: ready.call.startedAt ?? at.toISOString(),
    attempt: ready.call.attempt + 1,
    effectiveInput: ready.validated.bound.input,
    inputHash: ready.confirmed.inputHash,
    stages: ready.stages,
  };
  const { by } = ready.confirmed;
  // Why a call was asked stays on it, whatever would be said of it now. Of an input that a person gave, hooks say something only now.
  const { state, approval } = ready.call;
  const isNew = state === "PENDING" || (state === "APPROVED" && approval?.isEdited === true);
  const all = isNew ? { ...facts, ...judgedFacts(ready) } : facts;
  const step = callStep(ready.call, "EXECUTING", at, all, isNew ? judgedColumns(ready) : {});
  return by === null ? step : { ...step, transition: { ...step.transition, by } };
}
