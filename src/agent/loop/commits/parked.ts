import type { AgentView } from "../view.ts";
import { compose, interruptEnded, moved, type Commit } from "./commit.ts";

/**
 * Gives the agent back: refused if anything arrived since the view was read (invariant 8). An interrupt of a turn that
 * never began, because its message was withdrawn, is cleared.
 */
export function parked(view: AgentView): Commit {
  const { change, events, after } =
    view.state === "READY" ? interruptEnded(view) : moved(view, { state: "PAUSED", breakpoint: "AWAITING_APPROVAL" });
  return {
    change: {
      ...change,
      expectSignal: view.signal,
      agent: { ...change.agent, runnableAt: null, leaseOwner: null, leaseUntil: null },
    },
    events,
    after: compose(after, (now) => ({ ...now, leaseOwner: null })),
  };
}
