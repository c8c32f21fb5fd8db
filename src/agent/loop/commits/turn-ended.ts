import type { DoneReason } from "../../../db/done-reason.ts";
import type { AgentView } from "../view.ts";
import { compose, interruptEnded, type Commit, move } from "./commit.ts";
import { needsAfter } from "./hosts-asked.ts";
import { added, noteMessage, resultsMessage, transcriptColumns } from "./messages.ts";

/** More messages than these are not listed in the DONE of their turn, but read from their rows. */
const EVENT_MESSAGE_IDS = 200;

/**
 * A turn ends: one DONE, always, with the messages that it answers. Calls of the last step leave their results in the
 * transcript, and then a note for the model, if there is one.
 */
export function turnEnded(
  view: AgentView,
  { reason, note, detail }: { readonly reason: DoneReason; readonly note: string | null; readonly detail?: "empty" },
  at: Date,
): Commit {
  const results = resultsMessage(view, at);
  const messages = note === null ? results : [...results, noteMessage(added(results)(view), note, at)];
  const { patch, events, after } = move(view, { state: "READY", breakpoint: "READY" });
  const calm = interruptEnded(view);
  const messageIds = view.turnMessageIds.length > EVENT_MESSAGE_IDS ? null : view.turnMessageIds;
  return {
    change: {
      ...calm.change,
      messages,
      agent: {
        ...patch,
        ...needsAfter(view),
        ...transcriptColumns(view.transcriptLength + messages.length),
        lastActivityAt: at,
        doneReason: reason,
      },
    },
    events: [
      ...events,
      { kind: "DONE", turn: view.turn, step: view.stepCount, reason, ...(detail === undefined ? {} : { detail }), messageIds },
    ],
    after: compose(after, added(messages), calm.after),
  };
}
