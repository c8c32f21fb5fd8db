import type { AddedMessages } from "../../conversation/transcript.ts";
import type { AgentView } from "../view.ts";
import { compose, type Commit, move } from "./commit.ts";
import { added, joined, joinWaiting, noteMessage, transcriptColumns } from "./messages.ts";

/**
 * Begins a turn: the waiting messages join the transcript. A retry also answers the messages of the turn before, which
 * are in the transcript already. The note of an interrupt that came too late for its turn precedes them.
 */
export function turnStarted(view: AgentView, at: Date): Commit {
  const turn = view.turn + 1;
  const messages = lateNote(view, at);
  const joins = joinWaiting(view, turn, view.transcriptLength + messages.length);
  const retried = view.retryTurn === null ? [] : view.turnMessageIds;
  const { patch, events, after } = move(view, { state: "WORKING" });
  const transcript = transcriptColumns(view.transcriptLength + messages.length + joins.length);
  const told = messages.length === 0 ? null : view.interruptNote;
  return {
    change: { agent: { ...patch, turn, ...transcript }, messages, joins, ...(told === null ? {} : { toldNote: told }) },
    events,
    after: compose(
      after,
      (now) => ({
        ...now,
        turn,
        turnMessageIds: retried,
        retryTurn: null,
        stepsInTurn: 0,
        interruptNote: told === null ? now.interruptNote : null,
      }),
      added(messages),
      joined(joins),
    ),
  };
}

function lateNote(view: AgentView, at: Date): AddedMessages {
  if (view.interruptAt !== null || view.interruptNote === null) return [];
  return [noteMessage(view, `[While the last turn ended, a person wanted to interrupt it: ${view.interruptNote}]`, at)];
}
