import type { FileChangeSnapshot as Snapshot } from "../../events/snapshots.ts";
import { FileChangeKind } from "../agent-state.ts";
import { builder } from "../builder.ts";
import { eventType, TimelineEvent } from "./event.ts";

const FileChangeSnapshot = builder.objectRef<Snapshot>("FileChangeSnapshot").implement({
  description: "A changed file, as it was found.",
  fields: (t) => ({
    path: t.string({
      nullable: true,
      description: "Path relative to the workspace. Null if it was erased.",
      resolve: ({ path }) => path,
    }),
    change: t.field({ type: FileChangeKind, description: "Kind of change.", resolve: ({ change }) => change }),
    modifiedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Modification time of the file. Null if the file was removed.",
      resolve: ({ modifiedAt }) => (modifiedAt === null ? null : new Date(modifiedAt)),
    }),
    bytes: t.float({
      nullable: true,
      description: "Size in bytes. Null if the file was removed.",
      resolve: ({ bytes }) => bytes,
    }),
  }),
});

eventType("FILE_CHANGED").implement({
  description:
    "Files that the agent has read or written were changed by another program or person, or by a command that it ran. The model is told at its next step.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    files: t.field({
      type: [FileChangeSnapshot],
      description: "Changed files, ordered by path, at most 50. Fewer if their paths are long.",
      resolve: ({ body }) => body.files,
    }),
    fileCount: t.int({
      description: "Number of changed files, including those not listed.",
      resolve: ({ body }) => body.fileCount,
    }),
  }),
});
