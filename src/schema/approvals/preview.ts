import type { CallPreview } from "../../agent/calls/stages/preview.ts";
import { visibleLine, visibleLines } from "../../lib/escape-hidden.ts";
import { builder } from "../builder.ts";

const FilePreview = builder.objectRef<CallPreview["files"][number]>("FilePreview").implement({
  description: "A change of a file that a call would make.",
  fields: (t) => ({
    path: t.string({
      description: "The file's path in the workspace, links resolved.",
      resolve: ({ path }) => visibleLine(path),
    }),
    diff: t.string({
      nullable: true,
      description:
        "A unified diff for people to read, in which nothing hides: control characters, bidirectional overrides and long runs of spaces within a line stand as escapes. Null if it is too large, or if the file has no text.",
      resolve: ({ diff }) => (diff === null ? null : visibleLines(diff)),
    }),
  }),
});

/** The changes that a call would make. */
export const Preview = builder.objectRef<CallPreview>("CallPreview").implement({
  description: "What a call would change, as things stood when it was asked for.",
  fields: (t) => ({
    files: t.field({
      type: [FilePreview],
      complexity: { field: 0, multiplier: 1 },
      description: "The files that it would change, at most 100; empty if that is not known.",
      resolve: ({ files }) => [...files],
    }),
    problem: t.string({
      nullable: true,
      description: "Why it is not known, or not all of it: the call may fail for that. Null if all is shown.",
      resolve: ({ problem }) => (problem === null ? null : visibleLines(problem)),
    }),
  }),
});
