import type { AgentView } from "../view.ts";
import { compose, type Commit, move } from "./commit.ts";
import { joined, joinWaiting, transcriptColumns } from "./messages.ts";

/**
 * A turn begins: the messages that wait join the transcript, to be answered by it. One that is a retry answers those of the
 * turn before as well, which stand in the transcript already.
 */
export function turnStarted(view: AgentView): Commit {
  const turn = view.turn + 1;
  const joins = joinWaiting(view, turn, view.transcriptLength);
  const retried = view.retryTurn === null ? [] : view.turnMessageIds;
  const { patch, events, after } = move(view, { state: "WORKING" });
  return {
    change: { agent: { ...patch, turn, ...transcriptColumns(view.transcriptLength + joins.length) }, joins },
    events,
    after: compose(after, (now) => ({ ...now, turn, turnMessageIds: retried, retryTurn: null, stepsInTurn: 0 }), joined(joins)),
  };
}
