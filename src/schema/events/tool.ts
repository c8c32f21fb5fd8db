import type { BodyOf, EventKind as Kind } from "../../events/event.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { toolCallByRow } from "../../resolvers/tool-call.ts";
import { builder } from "../builder.ts";
import { eventType, TimelineEvent } from "./event.ts";
import { GateStage, ShellEndReason } from "../enums.ts";
import { ToolCall, ToolCallError, ToolCallSnapshot } from "../tool-call.ts";

const ToolEvent = builder
  .interfaceRef<EventView<BodyOf<"TOOL_START" | "TOOL_END" | "TOOL_ERROR" | "TOOL_EXECUTED">>>("ToolEvent")
  .implement({
    description: "Something that happened to a tool call.",
    interfaces: [TimelineEvent],
    fields: (t) => ({
      call: t.field({ type: ToolCallSnapshot, description: "The call as it stood then.", resolve: ({ body }) => body.call }),
      toolCall: t.prismaField({
        type: ToolCall,
        nullable: true,
        description: "The call as it stands now.",
        resolve: (query, { body }, _args, context) => toolCallByRow(context, body.call.callId, query),
      }),
    }),
  });

eventType("TOOL_START").implement({
  description: "A tool call begins to execute; one that never does has its start together with its end.",
  interfaces: [TimelineEvent, ToolEvent],
});

eventType("TOOL_END").implement({
  description: "A tool call has its final state. Exactly one a call, even if it failed, was denied or sealed.",
  interfaces: [TimelineEvent, ToolEvent],
});

eventType("TOOL_ERROR").implement({
  description: "A tool call ended without a result of its own; before its TOOL_END.",
  interfaces: [TimelineEvent, ToolEvent],
  fields: (t) => ({
    error: t.string({
      nullable: true,
      description: "What went wrong, in words; null where they were erased.",
      resolve: ({ body }) => body.error,
    }),
  }),
});

eventType("TOOL_EXECUTED").implement({
  description: "The audit of a tool call in its final state.",
  interfaces: [TimelineEvent, ToolEvent],
});

const ExecutionEvent = builder.interfaceRef<EventView<BodyOf<Extract<Kind, `EXECUTION_${string}`>>>>("ExecutionEvent").implement({
  description: "A step of the pipeline of a call, for templates that trace.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "The call.", resolve: ({ body }) => body.callId }),
    tool: t.string({ description: "The tool.", resolve: ({ body }) => body.tool }),
  }),
});

eventType("EXECUTION_STARTED").implement({
  description: "A call enters the gate.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    inputPreview: t.string({
      nullable: true,
      description: "JSON text of the input, cut at 200 characters; null where it was erased.",
      resolve: ({ body }) => body.inputPreview,
    }),
    parameters: t.field({
      type: "JSON",
      nullable: true,
      description: "What the model asked for; null where that is more than 16 KB: the call has it.",
      resolve: ({ body }) => body.parameters,
    }),
  }),
});

eventType("STAGE_STARTED").implement({
  description: "A call enters a stage of the gate.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "The call.", resolve: ({ body }) => body.callId }),
    stage: t.field({ type: GateStage, description: "The stage.", resolve: ({ body }) => body.stage }),
  }),
});

eventType("STAGE_COMPLETED").implement({
  description: "A call has gone through a stage of the gate.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "The call.", resolve: ({ body }) => body.callId }),
    stage: t.field({ type: GateStage, description: "The stage.", resolve: ({ body }) => body.stage }),
    durationMs: t.float({ description: "How long it took, in ms.", resolve: ({ body }) => body.durationMs }),
  }),
});

eventType("EXECUTION_COMPLETED").implement({
  description: "A call has its result.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    result: t.string({
      nullable: true,
      description: "What the model reads, cut at 4 KB; null in events of before.",
      resolve: ({ body }) => body.result,
    }),
    durationMs: t.float({ description: "How long it took, in ms.", resolve: ({ body }) => body.durationMs }),
  }),
});

eventType("EXECUTION_FAILED").implement({
  description: "A call was refused or failed.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    durationMs: t.float({ description: "How long it took, in ms.", resolve: ({ body }) => body.durationMs }),
    failure: t.field({ type: ToolCallError, description: "Why it has no result of its own.", resolve: ({ body }) => body.error }),
  }),
});

eventType("EXECUTION_ABORTED").implement({
  description: "A call was interrupted, or sealed without a result of its own.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    durationMs: t.float({ description: "How long it took, in ms.", resolve: ({ body }) => body.durationMs }),
    failure: t.field({ type: ToolCallError, description: "Why it has no result of its own.", resolve: ({ body }) => body.error }),
  }),
});

eventType("SHELL_STARTED").implement({
  description: "A call left a command running in the background.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    shellId: t.id({ description: "The shell.", resolve: ({ body }) => body.shellId }),
    callId: t.id({ nullable: true, description: "The call that started it.", resolve: ({ body }) => body.callId }),
    command: t.string({
      nullable: true,
      description: "Its command line, cut at 2 KB; null where it was erased.",
      resolve: ({ body }) => body.command,
    }),
  }),
});

eventType("SHELL_ENDED").implement({
  description: "A background shell has ended, with all that it started. One a shell, always.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    shellId: t.id({ description: "The shell.", resolve: ({ body }) => body.shellId }),
    callId: t.id({ nullable: true, description: "The call that started it.", resolve: ({ body }) => body.callId }),
    command: t.string({
      nullable: true,
      description: "Its command line, cut at 2 KB; null where it was erased.",
      resolve: ({ body }) => body.command,
    }),
    endReason: t.field({ type: ShellEndReason, description: "Why it ended.", resolve: ({ body }) => body.endReason }),
    exitCode: t.int({
      nullable: true,
      description: "Its exit code; null if a signal ended it, or if nobody knows.",
      resolve: ({ body }) => body.exitCode,
    }),
    signal: t.string({
      nullable: true,
      description: "The signal that ended it; null for none.",
      resolve: ({ body }) => body.signal,
    }),
    durationMs: t.float({ description: "How long it ran, in ms.", resolve: ({ body }) => body.durationMs }),
  }),
});

eventType("TOOL_CUSTOM_EVENT").implement({
  description: "A tool reported something of its own.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ nullable: true, description: "The call.", resolve: ({ body }) => body.callId }),
    tool: t.string({ description: "The tool.", resolve: ({ body }) => body.tool }),
    eventType: t.string({ description: "What it is, in the tool's own words.", resolve: ({ body }) => body.eventType }),
    eventData: t.field({
      type: "JSON",
      nullable: true,
      description: "What belongs to it.",
      resolve: ({ body }) => body.eventData,
    }),
  }),
});
