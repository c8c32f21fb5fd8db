import type { FileChangeSnapshot as Snapshot } from "../../events/snapshots.ts";
import { builder } from "../builder.ts";
import { FileChangeKind } from "../known-file.ts";
import { eventType, TimelineEvent } from "./event.ts";

const FileChangeSnapshot = builder.objectRef<Snapshot>("FileChangeSnapshot").implement({
  description: "A file that was changed, as it was found.",
  fields: (t) => ({
    path: t.string({
      nullable: true,
      description: "Its path, relative to the workspace; null where it was erased.",
      resolve: ({ path }) => path,
    }),
    change: t.field({ type: FileChangeKind, description: "What was made of it.", resolve: ({ change }) => change }),
    modifiedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When its content was changed, as the file says; null if it was removed.",
      resolve: ({ modifiedAt }) => (modifiedAt === null ? null : new Date(modifiedAt)),
    }),
    bytes: t.float({
      nullable: true,
      description: "The length of its content, in bytes; null if it was removed.",
      resolve: ({ bytes }) => bytes,
    }),
  }),
});

eventType("FILE_CHANGED").implement({
  description:
    "Something else than the agent's file tools has changed files that the agent knows: a person, another program, a command that the agent ran. The model is told when its next step begins.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    files: t.field({
      type: [FileChangeSnapshot],
      description: "The first of the files, by their paths; at most 50, and fewer if their paths are long.",
      resolve: ({ body }) => body.files,
    }),
    fileCount: t.int({
      description: "How many files have changed, also those that are not listed.",
      resolve: ({ body }) => body.fileCount,
    }),
  }),
});
