import type { DoneReason } from "../../../db/done-reason.ts";
import type { AgentView } from "../view.ts";
import { compose, interruptEnded, type Commit, move } from "./commit.ts";
import { needsAfter } from "./hosts-asked.ts";
import { added, noteMessage, resultsMessage, transcriptColumns } from "./messages.ts";

/** The most messages that a DONE lists. If there are more, readers take them from their rows. */
const EVENT_MESSAGE_IDS = 200;

/**
 * Ends a turn with exactly one DONE, which lists the messages that it answers. Results of the last step's calls join
 * the transcript, followed by a note for the model, if there is one.
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
