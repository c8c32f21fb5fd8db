import type { AgentView } from "../view.ts";
import { compose, interruptEnded, type Commit, move } from "./commit.ts";

/**
 * The agent is given back: refused if anything arrived since the view was read (invariant 8). An interrupt of a turn that never began,
 * since its message was withdrawn, goes with it.
 */
export function parked(view: AgentView): Commit {
  const { patch, events, after } =
    view.state === "READY"
      ? {
          patch: interruptEnded(view),
          events: [],
          after: (now: AgentView) => ({ ...now, ...interruptEnded(view) }),
        }
      : move(view, { state: "PAUSED", breakpoint: "AWAITING_APPROVAL" });
  return {
    change: { expectSignal: view.signal, agent: { ...patch, runnableAt: null, leaseOwner: null, leaseUntil: null } },
    events,
    after: compose(after, (now) => ({ ...now, leaseOwner: null })),
  };
}
