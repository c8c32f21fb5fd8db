import type { NoticeRow, OwnerChange } from "../../../db/commit/change.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { FileChangeKind, FileChangeSnapshot } from "../../../events/snapshots.ts";
import { byteLength } from "../../../lib/text.ts";
import { notice } from "../../calls/notices.ts";
import type { FoundChange } from "../../workspace/changes/file-check.ts";
import { modifiedAt } from "../../workspace/known-files.ts";
import { noticed, type Commit } from "./commit.ts";

/** The most files that one event names, and the most bytes of their paths. */
const EVENT = { files: 50, bytes: 24 * 1024 };

export type FileNews = {
  readonly changes: readonly FoundChange[];
  /** The paths of untold changes that the agent knows by now: it has read or written the files since. */
  readonly known: readonly string[];
};

export const NO_NEWS: FileNews = { changes: [], known: [] };

type Agent = Parameters<typeof notice>[0];

/** Reports changes that were found during a step. The next step tells the model. */
export function filesChanged(agent: Agent, changes: readonly FoundChange[], at: Date): Commit {
  const notices = fileNotices(agent, changes, at);
  return { change: { fileChanges: changeRows(changes), notices }, events: changedEvents(changes), after: noticed(notices) };
}

export function changeRows(changes: readonly FoundChange[]): NonNullable<OwnerChange["fileChanges"]> {
  return changes.map(({ file: { path, callId }, change }) => ({ path, callId, change }));
}

export function changedEvents(changes: readonly FoundChange[]): readonly AgentEventBody[] {
  if (changes.length === 0) return [];
  const files = firstByPath(changes, ({ file }) => file.path, EVENT).map(
    ({ file: { path }, change, state }): FileChangeSnapshot => ({
      path,
      change,
      modifiedAt: state === null ? null : modifiedAt(state).toISOString(),
      bytes: state === null ? null : Number(state.bytes),
    }),
  );
  return [{ kind: "FILE_CHANGED", files, fileCount: changes.length }];
}

const WORDS = { CHANGED: "", REMOVED: " (removed)", MADE_AGAIN: " (removed, and made again)" } as const satisfies Record<
  FileChangeKind,
  string
>;

export function fileNotices(
  agent: Agent,
  changes: readonly FoundChange[],
  at: Date,
  toldAtStep: number | null = null,
): readonly NoticeRow[] {
  return changes.map(({ file: { path }, change }) =>
    notice(agent, { source: "FILE", ref: path, text: `${shown(path)}${WORDS[change]}` }, at, toldAtStep),
  );
}

function shown(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}

/** The first items by their paths, within bounds of their number and of the bytes of their paths; at least one. */
export function firstByPath<Item>(
  items: readonly Item[],
  pathOf: (item: Item) => string,
  bound: { readonly files: number; readonly bytes: number },
): readonly Item[] {
  let bytes = 0;
  const sorted = items.toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1)).slice(0, bound.files);
  return sorted.filter((item, index) => (bytes += byteLength(JSON.stringify(pathOf(item)))) <= bound.bytes || index === 0);
}
