import type { BodyOf, EventKind as Kind } from "../events/event.ts";
import type { EventView } from "../resolvers/timeline.ts";
import { toolCallByRow } from "../resolvers/tool-call.ts";
import { builder } from "./builder.ts";
import { eventType, TimelineEvent } from "./event.ts";
import { ToolCall, ToolCallSnapshot } from "./tool-call.ts";

const ToolEvent = builder
  .interfaceRef<EventView<BodyOf<"TOOL_START" | "TOOL_END" | "TOOL_ERROR" | "TOOL_EXECUTED">>>("ToolEvent")
  .implement({
    description: "Something that happened to a tool call.",
    interfaces: [TimelineEvent],
    fields: (t) => ({
      call: t.field({ type: ToolCallSnapshot, resolve: ({ body }) => body.call }),
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
  fields: (t) => ({ error: t.string({ resolve: ({ body }) => body.error }) }),
});

eventType("TOOL_EXECUTED").implement({
  description: "The audit of a tool call in its final state.",
  interfaces: [TimelineEvent, ToolEvent],
});

const ExecutionEvent = builder.interfaceRef<EventView<BodyOf<Extract<Kind, `EXECUTION_${string}`>>>>("ExecutionEvent").implement({
  description: "A step of the pipeline of a call, for templates that trace.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ resolve: ({ body }) => body.callId }),
    toolName: t.string({ resolve: ({ body }) => body.toolName }),
  }),
});

eventType("EXECUTION_STARTED").implement({
  description: "A call enters the gate.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({ inputPreview: t.string({ resolve: ({ body }) => body.inputPreview }) }),
});

eventType("STAGE_STARTED").implement({
  description: "A call enters a stage of the gate.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ resolve: ({ body }) => body.callId }),
    stage: t.string({ resolve: ({ body }) => body.stage }),
  }),
});

eventType("STAGE_COMPLETED").implement({
  description: "A call has gone through a stage of the gate.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ resolve: ({ body }) => body.callId }),
    stage: t.string({ resolve: ({ body }) => body.stage }),
    durationMs: t.float({ resolve: ({ body }) => body.durationMs }),
  }),
});

eventType("EXECUTION_COMPLETED").implement({
  description: "A call has its result.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({ durationMs: t.float({ resolve: ({ body }) => body.durationMs }) }),
});

eventType("EXECUTION_FAILED").implement({
  description: "A call was refused or failed.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    durationMs: t.float({ resolve: ({ body }) => body.durationMs }),
    failure: t.string({ description: "The type of the refusal.", resolve: ({ body }) => body.failure }),
  }),
});

eventType("EXECUTION_ABORTED").implement({
  description: "A call was interrupted, or sealed without a result of its own.",
  interfaces: [TimelineEvent, ExecutionEvent],
  fields: (t) => ({
    durationMs: t.float({ resolve: ({ body }) => body.durationMs }),
    failure: t.string({ description: "The type of the refusal.", resolve: ({ body }) => body.failure }),
  }),
});

eventType("TOOL_CUSTOM_EVENT").implement({
  description: "A tool reported something of its own.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    callId: t.id({ resolve: ({ body }) => body.callId }),
    toolName: t.string({ resolve: ({ body }) => body.toolName }),
    eventType: t.string({ resolve: ({ body }) => body.eventType }),
    eventData: t.field({ type: "JSON", nullable: true, resolve: ({ body }) => body.eventData }),
  }),
});
