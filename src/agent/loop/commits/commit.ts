import type { AgentPatch, OwnerChange } from "../../../db/commit/change.ts";
import { joinChanges } from "../../../db/commit/parts.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { mapStrings } from "../../../lib/json.ts";
import { storable } from "../../../lib/text.ts";
import type { CallView } from "../../calls/call.ts";
import type { AgentView } from "../view.ts";

/** The agent's rows after a commit, computed from the rows before it, so that they need no second read. */
export type Reducer = (before: AgentView) => AgentView;

export type Commit = { readonly change: OwnerChange; readonly events: readonly AgentEventBody[]; readonly after: Reducer };

export const identity: Reducer = (view) => view;

export function compose(...reducers: readonly Reducer[]): Reducer {
  return (view) => reducers.reduce((now, reducer) => reducer(now), view);
}

export function joinCommits(...commits: readonly Commit[]): Commit {
  return {
    change: joinChanges(commits.map(({ change }) => change)),
    events: commits.flatMap(({ events }) => events),
    after: compose(...commits.map(({ after }) => after)),
  };
}

export function eventsOnly(...events: readonly AgentEventBody[]): Commit {
  return { change: {}, events, after: identity };
}

export type StateAndBreakpoint = Pick<AgentView, "state" | "breakpoint">;

/** A change of state and breakpoint: columns, events, and the rows after it. */
export type Move = { readonly patch: AgentPatch; readonly events: readonly AgentEventBody[]; readonly after: Reducer };

/** Moves an agent to a state and breakpoint. Values that stay the same have no event. */
export function move({ state, breakpoint }: StateAndBreakpoint, to: Partial<StateAndBreakpoint>): Move {
  const next = { state, breakpoint, ...to };
  return {
    patch: next,
    events: [
      ...(next.state === state ? [] : [{ kind: "STATE_CHANGED", previousState: state, state: next.state } as const]),
      ...(next.breakpoint === breakpoint
        ? []
        : [{ kind: "BREAKPOINT_CHANGED", previousBreakpoint: breakpoint, breakpoint: next.breakpoint } as const]),
    ],
    after: (view) => ({ ...view, ...next }),
  };
}

export function moved(view: AgentView, to: Partial<StateAndBreakpoint>): Commit {
  const { patch, events, after } = move(view, to);
  return { change: { agent: patch }, events, after };
}

/**
 * Ends an interrupt whose note the model was told. A newer interrupt and its note stay for the next turn, also if it
 * came after messages that wait.
 */
export function interruptEnded({ interruptAt, interruptNote }: AgentView): Commit {
  const told = interruptAt === null || interruptNote === null ? {} : { toldNote: interruptNote };
  return {
    change: { interruptEnd: { seen: interruptAt }, ...told },
    events: [],
    after: (view) => ({ ...view, interruptAt: null, interruptNote: interruptAt === null ? view.interruptNote : null }),
  };
}

export function callsChanged(changed: readonly CallView[]): Reducer {
  const stored = new Map(changed.map((call) => [call.id, asStored(call)]));
  return (view) => ({ ...view, calls: view.calls.map((call) => stored.get(call.id) ?? call) });
}

/** The call as it is read from its row: characters that PostgreSQL cannot store are replaced. */
export function asStored(call: CallView): CallView {
  return {
    ...call,
    requestedInput: mapStrings(call.requestedInput, storable),
    effectiveInput: mapStrings(call.effectiveInput, storable),
    ruleValues: mapStrings(call.ruleValues, storable),
    output: call.output === null ? null : storable(call.output),
    error: call.error === null ? null : { ...call.error, message: storable(call.error.message) },
  };
}
