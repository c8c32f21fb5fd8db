import type { CallPreview } from "../../agent/calls/stages/preview.ts";
import { visibleLine, visibleLines } from "../../lib/escape-hidden.ts";
import { builder } from "../builder.ts";

const FilePreview = builder.objectRef<CallPreview["files"][number]>("FilePreview").implement({
  description: "Change that a call would make to one file.",
  fields: (t) => ({
    path: t.string({
      description: "Path in the workspace, with links resolved.",
      resolve: ({ path }) => visibleLine(path),
    }),
    diff: t.string({
      nullable: true,
      description:
        "Unified diff for people. Control characters, bidirectional overrides and long runs of spaces within a line are shown as escapes. Null if the diff is too large or the file is not text.",
      resolve: ({ diff }) => (diff === null ? null : visibleLines(diff)),
    }),
  }),
});

export const Preview = builder.objectRef<CallPreview>("CallPreview").implement({
  description: "Changes that a call would make, as of the approval request.",
  fields: (t) => ({
    files: t.field({
      type: [FilePreview],
      complexity: { field: 0, multiplier: 1 },
      description: "Files that the call would change, at most 100. Empty if unknown.",
      resolve: ({ files }) => [...files],
    }),
    problem: t.string({
      nullable: true,
      description:
        "Why the changes are unknown or incomplete; the call may fail for the same reason. Null if the preview is complete.",
      resolve: ({ problem }) => (problem === null ? null : visibleLines(problem)),
    }),
  }),
});
