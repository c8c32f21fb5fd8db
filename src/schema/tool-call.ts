import { inputPreview } from "../agent/calls/events.ts";
import type { CallApproval, ToolCallError as Failure, ToolCallSnapshot as Snapshot } from "../events/event.ts";
import type { Json } from "../lib/json.ts";
import { globalId } from "../lib/global-id.ts";
import type { OutputPiece as Piece } from "../agent/calls/outputs.ts";
import {
  outputPiece,
  slowestCalls,
  toolCalls,
  toolStats,
  type ToolCallFilter as Filter,
  type ToolStats,
} from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { ApprovalDecision, ApprovalState, ToolCallState } from "./enums.ts";

export const ToolCallError = builder.objectRef<Failure>("ToolCallError").implement({
  description: "Why a call was refused or failed.",
  fields: (t) => ({
    type: t.exposeString("type", {
      description:
        "not_found, disabled, invalid_params, permission_denied, user_rejected, approval_expired, tool_busy, execution_failed, timeout or aborted.",
    }),
    stage: t.exposeString("stage", {
      description: "The stage of the gate: discovery, validation, permission, confirmation, execution or formatting.",
    }),
    message: t.exposeString("message"),
  }),
});

export const ToolCallApproval = builder.objectRef<CallApproval>("ToolCallApproval").implement({
  description: "What became of the question whether a call may run.",
  fields: (t) => ({
    approvalId: t.id({ resolve: ({ approvalId }) => globalId("Approval", approvalId) }),
    state: t.expose("state", { type: ApprovalState }),
    decision: t.expose("decision", { type: ApprovalDecision, nullable: true }),
    decidedBy: t.expose("decidedBy", { type: ActorRef, nullable: true }),
    decidedAt: t.expose("decidedAt", { type: "DateTime", nullable: true }),
    note: t.exposeString("note", { nullable: true }),
  }),
});

export const ToolCallSnapshot = builder.objectRef<Snapshot>("ToolCallSnapshot").implement({
  description: "A tool call as it stood when its event was committed. No node: the live call is beside it as `toolCall`.",
  fields: (t) => ({
    callId: t.exposeID("callId"),
    name: t.exposeString("name"),
    state: t.expose("state", { type: ToolCallState }),
    inputPreview: t.exposeString("inputPreview", { description: "JSON text of the input, cut at 200 characters." }),
    output: t.exposeString("output", { nullable: true, description: "What the model read, cut at 4 KB." }),
    isError: t.exposeBoolean("isError"),
    error: t.expose("error", { type: ToolCallError, nullable: true }),
    approval: t.expose("approval", { type: ToolCallApproval, nullable: true }),
    startedAt: t.expose("startedAt", { type: "DateTime", nullable: true }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true }),
    durationMs: t.exposeFloat("durationMs", { nullable: true }),
  }),
});

const StageDuration = builder.objectRef<{ stage: string; durationMs: number }>("StageDuration").implement({
  description: "How long a call was in one stage of the gate.",
  fields: (t) => ({ stage: t.exposeString("stage"), durationMs: t.exposeFloat("durationMs") }),
});

type AuditRecord = { readonly state: (typeof ToolCallState)["$inferType"]; readonly timestamp: string; readonly note?: string };

const AuditEntry = builder.objectRef<AuditRecord>("AuditEntry").implement({
  description: "One step of a call from state to state.",
  fields: (t) => ({
    state: t.expose("state", { type: ToolCallState }),
    timestamp: t.expose("timestamp", { type: "DateTime" }),
    note: t.string({ nullable: true, resolve: (entry) => entry.note ?? null }),
  }),
});

const OutputPiece = builder.objectRef<Piece>("OutputPiece").implement({
  fields: (t) => ({
    text: t.exposeString("text"),
    nextOffset: t.exposeInt("nextOffset", { nullable: true, description: "Where the next piece begins; null at the end." }),
  }),
});

const KeptOutput = builder.objectRef<{ readonly callId: string; readonly bytes: number }>("KeptOutput").implement({
  description: "A whole output, in a file of the server that ran the call.",
  fields: (t) => ({
    bytes: t.exposeInt("bytes"),
    piece: t.field({
      type: OutputPiece,
      nullable: true,
      description: "At most 256 KB of it from an offset on; null if another server has the file, or no server has it.",
      args: { offset: t.arg.int({ defaultValue: 0 }), bytes: t.arg.int({ defaultValue: 65_536 }) },
      resolve: ({ callId }, { offset, bytes }, context) => outputPiece(context, callId, offset ?? 0, bytes ?? 65_536),
    }),
  }),
});

export const ToolCall = builder.prismaNode("ToolCall", {
  id: { field: "id" },
  description: "A tool call, whatever became of it.",
  fields: (t) => ({
    callId: t.exposeID("id"),
    name: t.exposeString("name"),
    state: t.expose("state", { type: ToolCallState }),
    turn: t.exposeInt("turn"),
    step: t.exposeInt("step"),
    attempt: t.exposeInt("attempt", { description: "How often it began to execute." }),
    input: t.field({
      type: "JSON",
      description: "What was validated, judged and run; what the model asked for if it did not come so far.",
      select: { effectiveInput: true, requestedInput: true },
      resolve: (call) => call.effectiveInput ?? call.requestedInput,
    }),
    requestedInput: t.expose("requestedInput", { type: "JSON", description: "What the model asked for." }),
    inputPreview: t.string({
      select: { effectiveInput: true, requestedInput: true },
      resolve: (call) =>
        inputPreview({ effectiveInput: call.effectiveInput as Json, requestedInput: call.requestedInput as Json }),
    }),
    output: t.exposeString("output", { nullable: true, description: "What the model read." }),
    keptOutput: t.field({
      type: KeptOutput,
      nullable: true,
      description: "The whole output, where `output` is only a part of it.",
      select: { id: true, keptOutputBytes: true },
      resolve: ({ id, keptOutputBytes }) => (keptOutputBytes === null ? null : { callId: id, bytes: keptOutputBytes }),
    }),
    details: t.expose("details", { type: "JSON", nullable: true, description: "The tool's documented JSON." }),
    error: t.field({
      type: ToolCallError,
      nullable: true,
      select: { error: true },
      resolve: (call) => call.error as Failure | null,
    }),
    isError: t.exposeBoolean("isError"),
    stages: t.field({
      type: [StageDuration],
      select: { stages: true },
      resolve: (call) =>
        Object.entries(call.stages as Record<string, number>).map(([stage, durationMs]) => ({ stage, durationMs })),
    }),
    auditTrail: t.field({
      type: [AuditEntry],
      select: { auditTrail: true },
      resolve: (call) => call.auditTrail as unknown as AuditRecord[],
    }),
    explanation: t.expose("explanation", {
      type: "JSON",
      nullable: true,
      description:
        "Which rule, list, mode, hook or stage allowed, asked or denied, where it stands, and what was considered. Null until it was judged.",
    }),
    durationMs: t.exposeFloat("durationMs", { nullable: true }),
    startedAt: t.expose("startedAt", { type: "DateTime", nullable: true }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true }),
    createdAt: t.expose("createdAt", { type: "DateTime" }),
    agent: t.relation("agent"),
    approvals: t.relation("approvals", { query: { orderBy: { requestedAt: "asc" } } }),
  }),
});

export const ToolCallConnection = connectionOf("ToolCall", ToolCall);

export const ToolCallFilter = builder.inputType("ToolCallFilter", {
  description: "All conditions that are given must hold.",
  fields: (t) => ({
    agentId: t.id(),
    names: t.stringList(),
    states: t.field({ type: [ToolCallState] }),
    createdAfter: t.field({ type: "DateTime" }),
    createdBefore: t.field({ type: "DateTime" }),
  }),
});

builder.queryField("toolCalls", (t) =>
  t.prismaConnection(
    {
      type: ToolCall,
      cursor: "id",
      description: "The tool audit, newest first.",
      args: { filter: t.arg({ type: ToolCallFilter }) },
      resolve: (query, _root, args, context) => toolCalls(context, args, query),
    },
    ToolCallConnection,
  ),
);

const ToolStateCount = builder.objectRef<ToolStats["states"][number]>("ToolStateCount").implement({
  fields: (t) => ({ state: t.expose("state", { type: ToolCallState }), calls: t.exposeInt("calls") }),
});

const ToolStatistics = builder.objectRef<ToolStats>("ToolStatistics").implement({
  description: "The calls of one tool. Durations are those of calls that ran, in ms.",
  fields: (t) => ({
    name: t.exposeString("name"),
    calls: t.exposeInt("calls"),
    states: t.field({ type: [ToolStateCount], resolve: ({ states }) => [...states] }),
    executed: t.exposeInt("executed", { description: "Calls that began to execute." }),
    meanMs: t.exposeFloat("meanMs", { nullable: true }),
    slowestMs: t.exposeFloat("slowestMs", { nullable: true }),
  }),
});

const ToolCallStats = builder.objectRef<{ readonly filter: Filter }>("ToolCallStats").implement({
  description: "What the tool audit amounts to.",
  fields: (t) => ({
    tools: t.field({
      type: [ToolStatistics],
      description: "By tool, the most used first.",
      resolve: async ({ filter }, _args, context) => [...(await toolStats(context, filter))],
    }),
    slowest: t.prismaField({
      type: [ToolCall],
      description: "The calls that took longest.",
      args: { first: t.arg.int({ defaultValue: 10 }) },
      resolve: (query, { filter }, { first }, context) => slowestCalls(context, filter, first ?? 10, query),
    }),
  }),
});

builder.queryField("toolCallStats", (t) =>
  t.field({
    type: ToolCallStats,
    args: { filter: t.arg({ type: ToolCallFilter }) },
    resolve: (_root, { filter }) => ({ filter: filter ?? {} }),
  }),
);
