import type { AddedMessages } from "../../conversation/transcript.ts";
import type { OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import { commandBeginning } from "../../calls/shells/names.ts";
import { stateOf, type ShellView } from "../../calls/shells/rows.ts";
import { endWords } from "../../tools/bash/shell-words.ts";
import type { AgentView } from "../view.ts";
import { identity, type Commit, type Reducer } from "./commit.ts";
import { noteMessage } from "./messages.ts";

/** Starts a background shell: its row is stored before its program starts. */
export function shellStarted(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Commit {
  const { id, callId, server } = start.row;
  const command = commandBeginning(start.row.command);
  const shell: ShellView = { id, callId, command, state: "RUNNING", server, endReason: null, exitCode: null, signal: null };
  return {
    change: { shellStart: start },
    events: [event],
    after: (view) => ({ ...view, shells: [...view.shells, shell] }),
  };
}

export type ShellsNote = {
  readonly messages: AddedMessages;
  readonly change: Pick<OwnerChange, "shellsTold">;
  readonly after: Reducer;
};

export function shellsNote(view: AgentView, at: Date): ShellsNote {
  const ended = view.shells.filter(({ state }) => state === "ENDED");
  if (ended.length === 0) return { messages: [], change: {}, after: identity };
  const note = noteMessage(view, `[${ended.map(sentence).join("\n")}]`, at);
  const told = new Set(ended.map(({ id }) => id));
  return {
    messages: [note],
    change: { shellsTold: [...told] },
    after: (now) => ({ ...now, shells: now.shells.filter(({ id }) => !told.has(id)) }),
  };
}

function sentence(shell: ShellView): string {
  const { end } = stateOf(shell);
  const how = end === null ? "" : `: ${endWords(end)}`;
  return `The background shell ${shell.id} (${shell.command}) has ended${how}. bash_logs has what it said, if it said anything.`;
}
