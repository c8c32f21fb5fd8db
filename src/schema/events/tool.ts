import type { BodyOf, EventKind as Kind } from "../../events/event.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { toolCallByRow } from "../../resolvers/tool-call.ts";
import { builder } from "../builder.ts";
import { globalId } from "../../lib/global-id.ts";
import { ChildOutcome } from "./enums.ts";
import { CallWait, GateStage, ShellEndReason } from "../enums.ts";
import { ToolCall, ToolCallError, ToolCallSnapshot } from "../tool-call.ts";
import { eventType, TimelineEvent } from "./event.ts";

const ToolEvent = builder
  .interfaceRef<EventView<BodyOf<"TOOL_START" | "TOOL_WAITING" | "TOOL_END" | "TOOL_ERROR" | "TOOL_EXECUTED">>>("ToolEvent")
  .implement({
    description: "An event about a tool call.",
    interfaces: [TimelineEvent],
    fields: (t) => ({
      call: t.field({
        type: ToolCallSnapshot,
        description: "The call at the time of the event.",
        resolve: ({ body }) => body.call,
      }),
      toolCall: t.prismaField({
        type: ToolCall,
        nullable: true,
        description: "The call as it is now.",
        resolve: (query, { body }, _args, context) => toolCallByRow(context, body.call.callId, query),
      }),
    }),
  });

eventType("TOOL_START").implement({
  description: "A tool call starts to run. For a call that never runs, this event comes together with its TOOL_END.",
  interfaces: [TimelineEvent, ToolEvent],
});

eventType("TOOL_WAITING").implement({
  description: "The result of a tool call comes later: the call is WAITING, and its place is free. TOOL_END follows.",
  interfaces: [TimelineEvent, ToolEvent],
  fields: (t) => ({
    waitsFor: t.field({
      type: CallWait,
      description: "Where the result comes from. With CLIENT_TOOL, clients read the whole input from `toolCall`.",
      resolve: ({ body }) => body.waitsFor,
    }),
    dueAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "The time at which the call fails if it has no result. Null for one that waits for another agent.",
      resolve: ({ body }) => (body.dueAt === null ? null : new Date(body.dueAt)),
    }),
  }),
});

eventType("TOOL_END").implement({
  description: "A tool call reached its final state. Every call has exactly one such event, whatever its outcome.",
  interfaces: [TimelineEvent, ToolEvent],
});

const ChildEvent = builder.interfaceRef<EventView<BodyOf<"AGENT_SPAWNED" | "AGENT_RETURNED">>>("ChildEvent").implement({
  description: "An event about an agent that this agent started.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({
      nullable: true,
      description: "`callId` of the call that started it. Never null here.",
      resolve: ({ body }) => body.callId,
    }),
    childId: t.id({ description: "`id` of the agent that was started.", resolve: ({ body }) => globalId("Agent", body.childId) }),
  }),
});

eventType("AGENT_SPAWNED").implement({
  description: "The agent started another one. Its events follow.",
  interfaces: [TimelineEvent, ChildEvent],
  fields: (t) => ({
    templateId: t.id({ description: "Template of the agent that was started.", resolve: ({ body }) => body.templateId }),
    description: t.string({
      description: "Its task in a few words. Empty if it was erased.",
      resolve: ({ body }) => body.description ?? "",
    }),
    isBackground: t.boolean({ description: "True if the call does not wait for it.", resolve: ({ body }) => body.isBackground }),
  }),
});

eventType("AGENT_RETURNED").implement({
  description: "An agent that this one started has ended its task: its result goes to the call, or to the next step.",
  interfaces: [TimelineEvent, ChildEvent],
  fields: (t) => ({
    outcome: t.field({ type: ChildOutcome, description: "How it ended.", resolve: ({ body }) => body.outcome }),
    answer: t.string({ description: "Beginning of its answer. Empty if it was erased.", resolve: ({ body }) => body.text ?? "" }),
  }),
});

eventType("TOOL_ERROR").implement({
  description: "A tool call ended with an error. Its TOOL_END follows.",
  interfaces: [TimelineEvent, ToolEvent],
  fields: (t) => ({
    error: t.string({
      nullable: true,
      description: "Error message. Null if it was erased.",
      resolve: ({ body }) => body.error,
    }),
  }),
});

eventType("TOOL_EXECUTED").implement({
  description: "Audit record of a tool call in its final state.",
  interfaces: [TimelineEvent, ToolEvent],
});

const ExecutionEvent = builder.interfaceRef<EventView<BodyOf<Extract<Kind, `EXECUTION_${string}`>>>>("ExecutionEvent").implement({
  description: "A trace event of a call. Only for templates with `trace`.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "`callId` of the call. Never null here.", resolve: ({ body }) => body.callId }),
    tool: t.string({ description: "Name of the tool.", resolve: ({ body }) => body.tool }),
  }),
});

eventType("EXECUTION_STARTED").implement({
  description: "A call enters the gate.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    inputPreview: t.string({
      nullable: true,
      description: "The input as JSON text, cut at 200 characters. Null if it was erased.",
      resolve: ({ body }) => body.inputPreview,
    }),
    parameters: t.field({
      type: "JSON",
      nullable: true,
      description: "Input given by the model. Null if it exceeds 16 KB: then read `ToolCall.requestedInput`.",
      resolve: ({ body }) => body.parameters,
    }),
  }),
});

eventType("STAGE_STARTED").implement({
  description: "A call enters a stage of the gate. Only for templates with `trace`.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "`callId` of the call. Never null here.", resolve: ({ body }) => body.callId }),
    stage: t.field({ type: GateStage, description: "Stage of the gate.", resolve: ({ body }) => body.stage }),
  }),
});

eventType("STAGE_COMPLETED").implement({
  description: "A call completed a stage of the gate. Only for templates with `trace`.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "`callId` of the call. Never null here.", resolve: ({ body }) => body.callId }),
    stage: t.field({ type: GateStage, description: "Stage of the gate.", resolve: ({ body }) => body.stage }),
    durationMs: t.float({ description: "Duration in ms.", resolve: ({ body }) => body.durationMs }),
  }),
});

eventType("EXECUTION_COMPLETED").implement({
  description: "A call ended with a result.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    result: t.string({
      nullable: true,
      description: "Result as the model reads it, cut at 4 KB.",
      resolve: ({ body }) => body.result,
    }),
    durationMs: t.float({ description: "Duration in ms.", resolve: ({ body }) => body.durationMs }),
  }),
});

eventType("EXECUTION_FAILED").implement({
  description: "A call was refused or failed.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    durationMs: t.float({ description: "Duration in ms.", resolve: ({ body }) => body.durationMs }),
    failure: t.field({ type: ToolCallError, description: "The error.", resolve: ({ body }) => body.error }),
  }),
});

eventType("EXECUTION_ABORTED").implement({
  description: "A call was interrupted, cancelled or sealed.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    durationMs: t.float({ description: "Duration in ms.", resolve: ({ body }) => body.durationMs }),
    failure: t.field({ type: ToolCallError, description: "The error.", resolve: ({ body }) => body.error }),
  }),
});

eventType("SHELL_STARTED").implement({
  description: "A call started a background shell.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    shellId: t.id({ description: "Id of the shell, as in `Shell.shellId`.", resolve: ({ body }) => body.shellId }),
    callId: t.id({
      nullable: true,
      description: "`callId` of the call that started it. Never null here.",
      resolve: ({ body }) => body.callId,
    }),
    command: t.string({
      nullable: true,
      description: "Command line, cut at 2 KB. Null if it was erased.",
      resolve: ({ body }) => body.command,
    }),
  }),
});

eventType("SHELL_ENDED").implement({
  description: "A background shell ended, with all programs that it started. Every shell has exactly one such event.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    shellId: t.id({ description: "Id of the shell, as in `Shell.shellId`.", resolve: ({ body }) => body.shellId }),
    callId: t.id({
      nullable: true,
      description: "`callId` of the call that started it. Never null here.",
      resolve: ({ body }) => body.callId,
    }),
    command: t.string({
      nullable: true,
      description: "Command line, cut at 2 KB. Null if it was erased.",
      resolve: ({ body }) => body.command,
    }),
    endReason: t.field({ type: ShellEndReason, description: "Reason why it ended.", resolve: ({ body }) => body.endReason }),
    exitCode: t.int({
      nullable: true,
      description: "Exit code. Null if a signal ended it, or if unknown.",
      resolve: ({ body }) => body.exitCode,
    }),
    signal: t.string({
      nullable: true,
      description: "Signal that ended it, for example `SIGKILL`. Null if none did, or if unknown.",
      resolve: ({ body }) => body.signal,
    }),
    durationMs: t.float({ description: "Run time in ms.", resolve: ({ body }) => body.durationMs }),
  }),
});

eventType("TOOL_CUSTOM_EVENT").implement({
  description: "A custom event emitted by a tool.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "`callId` of the call. Never null here.", resolve: ({ body }) => body.callId }),
    tool: t.string({ description: "Name of the tool.", resolve: ({ body }) => body.tool }),
    eventType: t.string({ description: "Type of the event, defined by the tool.", resolve: ({ body }) => body.eventType }),
    eventData: t.field({
      type: "JSON",
      nullable: true,
      description: "Data of the event, defined by the tool.",
      resolve: ({ body }) => body.eventData,
    }),
  }),
});
