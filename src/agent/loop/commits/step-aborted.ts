import type { AgentEventBody } from "../../../events/event.ts";
import type { AgentView } from "../view.ts";
import type { Commit } from "./commit.ts";

/** A model call that was begun has no answer: it broke off, failed, or was not made. `events` close what it said. */
export function stepAborted(view: AgentView, { events }: { readonly events: readonly AgentEventBody[] }, at: Date): Commit {
  return {
    change: { stepEnd: { step: view.stepCount, state: "ABORTED", completedAt: at } },
    events,
    after: (now) => ({ ...now, lastStep: now.lastStep === null ? null : { ...now.lastStep, state: "ABORTED" } }),
  };
}

/** The same if a model call of the last step was begun and not answered; else only the events. */
export function stepAbortedIfOpen(view: AgentView, facts: { readonly events: readonly AgentEventBody[] }, at: Date): Commit {
  const aborted = stepAborted(view, facts, at);
  return view.lastStep?.state === "STARTED" ? aborted : { ...aborted, change: {}, after: (now) => now };
}
