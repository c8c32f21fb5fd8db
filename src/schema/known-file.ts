import type { FileAccess as Access } from "../agent/workspace/known-files.ts";
import { FILE_CHANGE_KINDS, type FileChangeKind as ChangeKind } from "../events/snapshots.ts";
import { toolCallByRow } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { described } from "./described.ts";
import { ToolCall } from "./tool-call.ts";

const FileAccess = builder.enumType("FileAccess", {
  description: "How a call accessed a file.",
  values: described<Access>({ READ: "The call read the file.", WRITTEN: "The call wrote the file." }),
});

export const FileChangeKind = builder.enumType("FileChangeKind", {
  description: "A change of a known file by something other than the file tools of its agent.",
  values: described<ChangeKind>({
    CHANGED: "The content changed.",
    REMOVED: "The file was removed.",
    MADE_AGAIN: "The file exists again after it was removed.",
  }),
});

export const KnownFile = builder.prismaObject("KnownFile", {
  description: "A file that the agent has read or written, as of the last call that did so.",
  fields: (t) => ({
    path: t.exposeString("path", {
      nullable: true,
      description: "Path relative to the workspace, with links resolved. Null if it was erased.",
    }),
    access: t.field({
      type: FileAccess,
      description: "How that call accessed the file.",
      select: { access: true },
      resolve: ({ access }) => (access === "WRITTEN" ? access : "READ"),
    }),
    isWhole: t.exposeBoolean("isWhole", {
      description: "True if the agent knows the whole content. False if it read only parts, or if the content is not valid text.",
    }),
    digest: t.exposeString("digest", { description: "SHA-256 of the content, in hex." }),
    bytes: t.float({
      description: "Size of the content in bytes.",
      select: { bytes: true },
      resolve: ({ bytes }) => Number(bytes),
    }),
    modifiedAt: t.expose("modifiedAt", { type: "DateTime", description: "Modification time of the file at that call." }),
    at: t.expose("at", { type: "DateTime", description: "Time at which that call ended." }),
    callId: t.exposeID("callId", { description: "`callId` of that call." }),
    toolCall: t.prismaField({
      type: ToolCall,
      nullable: true,
      description: "That call as it is now.",
      select: { callId: true },
      resolve: (query, { callId }, _args, context) => toolCallByRow(context, callId, query),
    }),
    change: t.field({
      type: FileChangeKind,
      nullable: true,
      description: "Latest change since that call by something other than the agent's file tools. Null if there is none.",
      select: { change: true },
      resolve: ({ change }) => FILE_CHANGE_KINDS.find((known) => known === change) ?? null,
    }),
    changeToldAt: t.expose("changeToldAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which the model was told of `change`. Null if it has not been told yet.",
    }),
  }),
});

export const KnownFileConnection = connectionOf("KnownFile", KnownFile);
