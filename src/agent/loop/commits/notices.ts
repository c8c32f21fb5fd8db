import { NOTICE_SOURCES, type NoticeRow, type NoticeSource, type OwnerChange } from "../../../db/commit/change.ts";
import type { NoticeView } from "../../calls/notices.ts";
import type { AddedMessages } from "../../conversation/transcript.ts";
import { MANUAL_CHANGED } from "../../tools/manual/manual-changes.ts";
import type { AgentView } from "../view.ts";
import { noteMessage, type Reducer } from "./commit.ts";
import { changeRows, fileNotices, firstByPath, type FileNews } from "./files-changed.ts";

/** The most changed files that a step names, and the most bytes of their paths. */
const NAMED = { files: 20, bytes: 4 * 1024 };

/** The text for the model, by the source of its notices. */
const WORDING: Readonly<Record<NoticeSource, (notices: readonly NoticeView[]) => string>> = {
  CHILD: childrenNote,
  INTERRUPTED_CHILD: childrenNote,
  SHELL: (ends) => `[${ends.map(({ text }) => text).join("\n")}]`,
  FILE: filesNote,
  HOST: (answers) => ["[Programs in the background tried to reach hosts.]", ...answers.map(({ text }) => text)].join("\n"),
  TODO: (reminders) => `[${reminders.map(({ text }) => text).join("\n")}]`,
  MEMORY: (listings) => `[${listings.map(({ text }) => text).join("\n")}]`,
  TOOL: (sections) => [MANUAL_CHANGED, ...sections.map(({ text }) => text)].join("\n\n"),
};

function childrenNote(ends: readonly NoticeView[]): string {
  return `[${ends.map(({ text }) => text).join("\n\n")}]`;
}

function filesNote(changed: readonly NoticeView[]): string {
  const named = firstByPath(changed, ({ ref }) => ref, NAMED);
  const more = changed.length - named.length;
  const names = [...named.map(({ text }) => text), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
  const [which, them] = changed.length === 1 ? ["This file was", "it"] : ["These files were", "them"];
  return `[${which} changed since you last read or wrote ${them}, and not by your file tools: ${names}. Read a file again before you rely on what you know of it.]`;
}

export type NoticesTold = {
  /** One message with a text for each source; none without news. */
  readonly messages: AddedMessages;
  readonly change: Pick<OwnerChange, "fileChanges" | "notices" | "noticesTold" | "noticesDropped">;
  readonly after: Reducer;
};

/**
 * Tells the model, with the step that starts, the untold notices and the changes of files that were found just before.
 * `made` are those of the step itself: changed sections of its manual, and a reminder of its todos.
 */
export function noticesTold(view: AgentView, { changes, known }: FileNews, made: readonly NoticeRow[], at: Date): NoticesTold {
  const step = view.stepCount + 1;
  const found = fileNotices(view, changes, at, step);
  const own = [...found, ...made];
  const outdated = new Set([...found.map(({ ref }) => ref), ...known]);
  const isDropped = ({ source, ref }: NoticeView): boolean => source === "FILE" && outdated.has(ref);
  const kept = view.notices.filter((notice) => !isDropped(notice));
  const told = NOTICE_SOURCES.map((source) => ({ source, notices: kept.filter((notice) => notice.source === source) }));
  const texts = told.flatMap(({ source, notices }) => {
    const all = [...notices, ...own.filter((each) => each.source === source)];
    return all.length === 0 ? [] : [WORDING[source](all)];
  });
  const ids = told.flatMap(({ notices }) => notices.map(({ id }) => id));
  const dropped = view.notices.filter(isDropped).map(({ ref }) => ({ source: "FILE", ref }) as const);
  const gone = new Set(ids);
  return {
    messages: texts.length === 0 ? [] : [noteMessage(view, texts, at)],
    change: {
      fileChanges: changeRows(changes),
      notices: own,
      ...(ids.length === 0 ? {} : { noticesTold: { step, ids } }),
      noticesDropped: dropped,
    },
    after: (now) => ({ ...now, notices: now.notices.filter((notice) => !gone.has(notice.id) && !isDropped(notice)) }),
  };
}
