import type { FileAccess as Access } from "../agent/workspace/known-files.ts";
import {
  FILE_CHANGE_KINDS,
  type FileChangeKind as ChangeKind,
  SHELL_END_REASONS,
  type TodoSnapshot as Item,
} from "../events/snapshots.ts";
import { NOTICE_SOURCES, type NoticeSource as Source } from "../db/commit/change.ts";
import { toolCallByRow } from "../resolvers/tool-call.ts";
import { builder, connectionOf, described } from "./builder.ts";
import { ShellEndReason, ShellState, TodoStatus } from "./enums.ts";
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
    changeToldAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time at which the model was told of `change`. Null if it has not been told yet.",
      select: { agentId: true, path: true, change: true },
      resolve: ({ agentId, path, change }, _args, { loaders }) =>
        change === null ? null : loaders.toldTimes.load({ agentId, path }),
    }),
  }),
});

export const KnownFileConnection = connectionOf("KnownFile", KnownFile);

export const Shell = builder.prismaObject("Shell", {
  description: "A background shell: a command that an agent left running. It runs on one server and ends with it.",
  fields: (t) => ({
    shellId: t.exposeID("id", { description: "Id of the shell, as used by the agent and in events." }),
    callId: t.exposeID("callId", { description: "`callId` of the call that started it." }),
    command: t.string({
      nullable: true,
      description: "Command line. Null if it was erased.",
      select: { command: true },
      resolve: ({ command }) => (command === "" ? null : command),
    }),
    state: t.field({
      type: ShellState,
      description: "Whether it is running.",
      select: { state: true },
      resolve: ({ state }) => (state === "RUNNING" ? state : "ENDED"),
    }),
    server: t.exposeString("server", {
      description: "Id of the server on which it runs or ran, as in the output of `bash_logs`.",
    }),
    host: t.exposeString("host", { description: "Host name of that server." }),
    endReason: t.field({
      type: ShellEndReason,
      nullable: true,
      description: "Reason why it ended. Null while it is running.",
      select: { endReason: true },
      resolve: ({ endReason }) => SHELL_END_REASONS.find((known) => known === endReason) ?? null,
    }),
    exitCode: t.exposeInt("exitCode", {
      nullable: true,
      description: "Exit code. Null while it is running, if a signal ended it, or if unknown.",
    }),
    signal: t.exposeString("signal", {
      nullable: true,
      description: "Signal that ended it, for example `SIGKILL`. Null while it is running, if none did, or if unknown.",
    }),
    startedAt: t.expose("startedAt", { type: "DateTime", description: "Start time." }),
    endedAt: t.expose("endedAt", { type: "DateTime", nullable: true, description: "End time. Null while it is running." }),
  }),
});

export const TodoItem = builder.objectRef<Item>("TodoItem").implement({
  description: "An entry of the agent's todo list.",
  fields: (t) => ({
    todoId: t.exposeID("id", { description: "Id given by the agent, unique within the list." }),
    title: t.exposeString("title", { nullable: true, description: "Title. Null if it was erased." }),
    status: t.expose("status", { type: TodoStatus, description: "Progress of the entry." }),
    assignee: t.exposeString("assignee", { nullable: true, description: "Assignee. Null if there is none." }),
    notes: t.exposeString("notes", { nullable: true, description: "Notes. Null if there are none." }),
  }),
});

const NoticeSource = builder.enumType("NoticeSource", {
  description: "Subject of a notice.",
  values: described<Source>({
    CHILD: "The end of an agent that works in the background.",
    INTERRUPTED_CHILD: "The end of an interrupted agent, whose call has ended already.",
    SHELL: "The end of a background shell.",
    FILE: "A change of a known file by something else.",
    HOST: "The answer to a program in the background that asked for a host.",
    TODO: "A reminder of todos.",
    TOOL: "A tool that came, went or changed.",
    MEMORY: "The memories of the agent.",
  }),
});

export const Notice = builder.prismaObject("Notice", {
  description: "A text of the server that the agent's next step tells the model, once.",
  fields: (t) => ({
    noticeId: t.exposeID("id", { description: "Id of the notice. It is no node." }),
    source: t.field({
      type: NoticeSource,
      nullable: true,
      description: "Its subject. Null for one that only a newer server knows.",
      select: { source: true },
      resolve: ({ source }) => NOTICE_SOURCES.find((known) => known === source) ?? null,
    }),
    about: t.exposeString("ref", {
      description:
        "The one thing of that subject, for example a path or the id of a shell. A newer notice replaces an untold one of the same thing.",
    }),
    text: t.exposeString("text", { description: "Its text." }),
    at: t.expose("at", { type: "DateTime", description: "Time at which it was made." }),
    toldAtStep: t.exposeInt("toldAtStep", { nullable: true, description: "Step that told the model. Null before." }),
  }),
});

export const NoticeConnection = connectionOf("Notice", Notice);
