import type { AgentPatch, OwnerChange } from "../../../db/commit/change.ts";
import { joinChanges } from "../../../db/commit/parts.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { mapStrings } from "../../../lib/json.ts";
import { storable } from "../../../lib/text.ts";
import type { CallView } from "../../calls/call.ts";
import type { AgentView } from "../view.ts";

/** The rows of an agent after a commit of its owner, as a function of the rows before it: so they need not be read again. */
export type Reducer = (before: AgentView) => AgentView;

/** A commit of an owner: rows, the events that report them, and the rows after it. */
export type Commit = { readonly change: OwnerChange; readonly events: readonly AgentEventBody[]; readonly after: Reducer };

/** After a commit that changes nothing that a view shows. */
export const identity: Reducer = (view) => view;

/** After several things, one after the other. */
export function compose(...reducers: readonly Reducer[]): Reducer {
  return (view) => reducers.reduce((now, reducer) => reducer(now), view);
}

/** Several commits of one agent as one, in their order. */
export function joinCommits(...commits: readonly Commit[]): Commit {
  return {
    change: joinChanges(commits.map(({ change }) => change)),
    events: commits.flatMap(({ events }) => events),
    after: compose(...commits.map(({ after }) => after)),
  };
}

/** Events that change no row. */
export function said(...events: readonly AgentEventBody[]): Commit {
  return { change: {}, events, after: identity };
}

/** The state and the breakpoint of an agent. */
export type StateAndBreakpoint = Pick<AgentView, "state" | "breakpoint">;

/** A change of state and breakpoint: the columns, the events that report it, and the rows after it. */
export type Move = { readonly patch: AgentPatch; readonly events: readonly AgentEventBody[]; readonly after: Reducer };

/** The move of an agent from where it stands. What stays as it is has no event. */
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

/** A move as a commit of its own. */
export function moved(view: AgentView, to: Partial<StateAndBreakpoint>): Commit {
  const { patch, events, after } = move(view, to);
  return { change: { agent: patch }, events, after };
}

/**
 * An agent is no longer interrupted, and its note, if there is one, was told. The note of an interrupt that came since the rows
 * were read stays, since nobody has told the model of it: the next turn does. So does the interrupt itself, if it came after
 * messages that wait.
 */
export function interruptEnded({ interruptAt, interruptNote }: AgentView): Commit {
  const told = interruptAt === null || interruptNote === null ? {} : { toldNote: interruptNote };
  return {
    change: { interruptEnd: { seen: interruptAt }, ...told },
    events: [],
    after: (view) => ({ ...view, interruptAt: null, interruptNote: interruptAt === null ? view.interruptNote : null }),
  };
}

/** After calls of the last step changed. */
export function callsChanged(changed: readonly CallView[]): Reducer {
  const stored = new Map(changed.map((call) => [call.id, asStored(call)]));
  return (view) => ({ ...view, calls: view.calls.map((call) => stored.get(call.id) ?? call) });
}

/** The call as it is read from its row: what PostgreSQL cannot store was replaced in its texts. */
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
