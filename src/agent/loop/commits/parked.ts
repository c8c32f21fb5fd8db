import type { AgentView } from "../view.ts";
import { compose, type Commit, move } from "./commit.ts";

/** The agent is given back: refused if anything arrived since the view was read (invariant 8). */
export function parked(view: AgentView): Commit {
  const { patch, events, after } =
    view.state === "READY"
      ? { patch: {}, events: [], after: (now: AgentView) => now }
      : move(view, { state: "PAUSED", breakpoint: "AWAITING_APPROVAL" });
  return {
    change: { expectSignal: view.signal, agent: { ...patch, runnableAt: null, leaseOwner: null, leaseUntil: null } },
    events,
    after: compose(after, (now) => ({ ...now, leaseOwner: null })),
  };
}
