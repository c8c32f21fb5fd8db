import type { FileAccess as Access } from "../agent/workspace/known-files.ts";
import { FILE_CHANGE_KINDS, type FileChangeKind as ChangeKind } from "../events/snapshots.ts";
import { toolCallByRow } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { described } from "./described.ts";
import { ToolCall } from "./tool-call.ts";

const FileAccess = builder.enumType("FileAccess", {
  description: "What a call did with a file.",
  values: described<Access>({ READ: "It read the file.", WRITTEN: "It wrote the file." }),
});

export const FileChangeKind = builder.enumType("FileChangeKind", {
  description: "What something else than the file tools of an agent made of a file that the agent knows.",
  values: described<ChangeKind>({
    CHANGED: "Its content is another.",
    REMOVED: "It is no longer there.",
    MADE_AGAIN: "It is there again, after it was removed.",
  }),
});

export const KnownFile = builder.prismaObject("KnownFile", {
  description: "A file that an agent knows, as the last of its calls that read or wrote the file found or left it.",
  fields: (t) => ({
    path: t.exposeString("path", {
      nullable: true,
      description: "Its path with all links resolved, relative to the workspace; null where it was erased.",
    }),
    access: t.field({
      type: FileAccess,
      description: "What that call did with it.",
      select: { access: true },
      resolve: ({ access }) => (access === "WRITTEN" ? access : "READ"),
    }),
    isWhole: t.exposeBoolean("isWhole", {
      description: "False if the agent has read parts of this content only, or a content that is not valid text.",
    }),
    digest: t.exposeString("digest", { description: "The SHA-256 of its content, in hex." }),
    bytes: t.float({
      description: "The length of its content, in bytes.",
      select: { bytes: true },
      resolve: ({ bytes }) => Number(bytes),
    }),
    modifiedAt: t.expose("modifiedAt", { type: "DateTime", description: "When its content was changed, as the file said." }),
    at: t.expose("at", { type: "DateTime", description: "When that call ended." }),
    callId: t.exposeID("callId", { description: "That call." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "That call as it stands now.",
      select: { callId: true },
      resolve: (query, { callId }, _args, context) => toolCallByRow(context, callId, query),
    }),
    change: t.field({
      type: FileChangeKind,
      nullable: true,
      description: "What something else has made of it since, as FILE_CHANGED last said; null for nothing.",
      select: { change: true },
      resolve: ({ change }) => FILE_CHANGE_KINDS.find((known) => known === change) ?? null,
    }),
    changeToldAt: t.expose("changeToldAt", {
      type: "DateTime",
      nullable: true,
      description: "When the model was told of that change; null before.",
    }),
  }),
});

export const KnownFileConnection = connectionOf("KnownFile", KnownFile);
