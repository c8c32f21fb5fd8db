import type { OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { FileChangeKind, FileChangeSnapshot } from "../../../events/snapshots.ts";
import { byteLength } from "../../../lib/text.ts";
import { commandBeginning, stateOf, type ShellView } from "../../calls/shells/rows.ts";
import type { AddedMessages } from "../../conversation/transcript.ts";
import { endWords } from "../../tools/bash/background-shells.ts";
import type { FoundChange } from "../../workspace/changes/file-check.ts";
import { modifiedAt, type RememberedFile } from "../../workspace/known-files.ts";
import type { AgentView } from "../view.ts";
import { identity, type Commit, noteMessage, type Reducer } from "./commit.ts";

/** The most files that one event or note names, and the most bytes of their paths. */
const EVENT = { files: 50, bytes: 24 * 1024 };
const NOTE = { files: 20, bytes: 4 * 1024 };

export type FileNews = { readonly changes: readonly FoundChange[]; readonly untold: readonly RememberedFile[] };

export const NO_NEWS: FileNews = { changes: [], untold: [] };

export function filesChanged({ changes }: FileNews): Commit {
  return { change: { fileChanges: rowsOf(changes, null) }, events: changedEvents(changes), after: identity };
}

export type FilesNote = {
  readonly messages: AddedMessages;
  readonly change: Pick<OwnerChange, "fileChanges">;
  readonly events: readonly AgentEventBody[];
};

export function filesNote(view: AgentView, { changes, untold }: FileNews, at: Date): FilesNote {
  const told = [...changes, ...untold.flatMap((file) => (file.change === null ? [] : [{ file, change: file.change }]))];
  if (told.length === 0) return { messages: [], change: {}, events: [] };
  return {
    messages: [noteMessage(view, noteOn(told), at)],
    change: { fileChanges: rowsOf(told, at) },
    events: changedEvents(changes),
  };
}

type ChangedFile = Pick<FoundChange, "file" | "change">;

function rowsOf(changed: readonly ChangedFile[], toldAt: Date | null): NonNullable<OwnerChange["fileChanges"]> {
  return changed.map(({ file: { path, callId }, change }) => ({
    path,
    callId,
    change,
    changeToldAt: toldAt?.toISOString() ?? null,
  }));
}

function changedEvents(changes: readonly FoundChange[]): readonly AgentEventBody[] {
  if (changes.length === 0) return [];
  const files = first(changes, EVENT).map(({ file: { path }, change, state }): FileChangeSnapshot => ({
    path,
    change,
    modifiedAt: state === null ? null : modifiedAt(state).toISOString(),
    bytes: state === null ? null : Number(state.bytes),
  }));
  return [{ kind: "FILE_CHANGED", files, fileCount: changes.length }];
}

const WORDS = { CHANGED: "", REMOVED: " (removed)", MADE_AGAIN: " (removed, and made again)" } as const satisfies Record<
  FileChangeKind,
  string
>;

function noteOn(told: readonly ChangedFile[]): string {
  const named = first(told, NOTE);
  const more = told.length - named.length;
  const names = [
    ...named.map(({ file: { path }, change }) => `${shown(path)}${WORDS[change]}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
  const which = told.length === 1 ? "This file was" : "These files were";
  return `[${which} changed since you last read or wrote ${told.length === 1 ? "it" : "them"}, and not by your file tools: ${names.join(", ")}. Read a file again before you rely on what you know of it.]`;
}

function shown(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}

function first<File extends ChangedFile>(
  changed: readonly File[],
  bound: { readonly files: number; readonly bytes: number },
): readonly File[] {
  let bytes = 0;
  const sorted = changed.toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1)).slice(0, bound.files);
  return sorted.filter(({ file }, index) => (bytes += byteLength(JSON.stringify(file.path))) <= bound.bytes || index === 0);
}

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
