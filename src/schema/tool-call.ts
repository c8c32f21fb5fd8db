import { inputPreview } from "../agent/calls/events.ts";
import { MOST_BYTES } from "../agent/calls/outputs.ts";
import { isRetryable, recommendationsOf } from "../agent/calls/advice.ts";
import type { OutputPiece as Piece } from "../agent/calls/outputs.ts";
import type { Trail } from "../agent/calls/states.ts";
import type { Passage } from "../agent/calls/stage-clock.ts";
import type { Explanation } from "../agent/policy/permission.ts";
import type { CallApproval, ToolCallError as Failure, ToolCallSnapshot as Snapshot } from "../events/snapshots.ts";
import { globalId } from "../lib/global-id.ts";
import type { Json } from "../lib/json.ts";
import { toolCalls, type ToolCallOrder as Order } from "../resolvers/tool-audit.ts";
import { cachedCall, outputPiece, toolCall } from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf, nodesSelection } from "./connection.ts";
import { described } from "./described.ts";
import {
  ApprovalDecision,
  ApprovalState,
  GateStage,
  OrderDirection,
  PermissionVerdict,
  ToolCallErrorType,
  ToolCallState,
} from "./enums.ts";
import { ToolCallExplanation } from "./explained.ts";
import { TimeRangeInput } from "./inputs/time-range.ts";
import { Tool } from "./template.ts";

export const ToolCallError = builder.objectRef<Failure>("ToolCallError").implement({
  description: "Why a call was refused or failed.",
  fields: (t) => ({
    type: t.expose("type", { type: ToolCallErrorType, description: "What went wrong." }),
    stage: t.expose("stage", { type: GateStage, description: "The stage of the gate in which it did." }),
    message: t.exposeString("message", { nullable: true, description: "The same in words; null where they were erased." }),
    isRetryable: t.boolean({
      description:
        "Whether a call that is made again may go well: later, or once what is wrong was changed, as `recommendations` say.",
      resolve: ({ type }) => isRetryable(type),
    }),
    recommendations: t.stringList({
      description: "What the model, or a person, can do about it.",
      resolve: (error) => [...recommendationsOf(error)],
    }),
  }),
});

const ToolCallApproval = builder.objectRef<CallApproval>("ToolCallApproval").implement({
  description: "What became of the question whether a call may run.",
  fields: (t) => ({
    approvalId: t.id({ description: "The approval.", resolve: ({ approvalId }) => globalId("Approval", approvalId) }),
    state: t.expose("state", { type: ApprovalState, description: "What became of it." }),
    decision: t.expose("decision", {
      type: ApprovalDecision,
      nullable: true,
      description: "The decision that stands; null while it is open.",
    }),
    decidedBy: t.expose("decidedBy", { type: ActorRef, nullable: true, description: "Who made it." }),
    decidedAt: t.expose("decidedAt", { type: "DateTime", nullable: true, description: "When." }),
    note: t.exposeString("note", { nullable: true, description: "What they noted." }),
  }),
});

export const ToolCallSnapshot = builder.objectRef<Snapshot>("ToolCallSnapshot").implement({
  description: "A tool call as it stood when its event was committed. No node: the live call is beside it as `toolCall`.",
  fields: (t) => ({
    callId: t.exposeID("callId", { description: "The call: `toolCall(callId:)` takes it." }),
    name: t.exposeString("name", { description: "The tool." }),
    state: t.expose("state", { type: ToolCallState, description: "How far it had come." }),
    inputPreview: t.exposeString("inputPreview", {
      nullable: true,
      description: "JSON text of the input, cut at 200 characters; null where it was erased.",
    }),
    output: t.exposeString("output", { nullable: true, description: "What the model read, cut at 4 KB." }),
    isError: t.exposeBoolean("isError", { description: "Whether it has no result of its own." }),
    error: t.expose("error", { type: ToolCallError, nullable: true, description: "Why it has none." }),
    approval: t.expose("approval", {
      type: ToolCallApproval,
      nullable: true,
      description: "Its newest approval; null for one that nobody was asked about.",
    }),
    startedAt: t.expose("startedAt", { type: "DateTime", nullable: true, description: "When it began to execute." }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true, description: "When it had its final state." }),
    durationMs: t.exposeFloat("durationMs", { nullable: true, description: "How long it ran, in ms." }),
    cachedFrom: t.id({
      nullable: true,
      description:
        "The call whose result it was given, since its tool is cacheable and nothing had changed; null if it ran itself.",
      resolve: ({ cachedFrom }) => cachedFrom,
    }),
  }),
});

const StagePassage = builder.objectRef<Passage>("StagePassage").implement({
  description: "One passage of a call through a stage of the gate. A stage that was gone through again is there again.",
  fields: (t) => ({
    stage: t.expose("stage", { type: GateStage, description: "The stage." }),
    startedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When it began; null in records of before.",
      resolve: ({ startedAt }) => new Date(startedAt),
    }),
    endedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When it ended; null in records of before.",
      resolve: ({ startedAt, durationMs }) => new Date(startedAt + durationMs),
    }),
    durationMs: t.exposeFloat("durationMs", { description: "How long it took, in ms." }),
  }),
});

type AuditRecord = Trail & { readonly state: (typeof ToolCallState)["$inferType"]; readonly timestamp: string };

const AuditEntry = builder.objectRef<AuditRecord>("AuditEntry").implement({
  description: "One step of a call from state to state.",
  fields: (t) => ({
    state: t.expose("state", { type: ToolCallState, description: "The state that it came into." }),
    timestamp: t.expose("timestamp", { type: "DateTime", description: "When." }),
    note: t.string({ nullable: true, description: "Why.", resolve: (entry) => entry.note ?? null }),
    by: t.field({
      type: ActorRef,
      nullable: true,
      description: "The person who decided or cancelled; null where nobody did, and in records of before.",
      resolve: (entry) => entry.by ?? null,
    }),
  }),
});

const OutputPiece = builder.objectRef<Piece>("OutputPiece").implement({
  description: "A piece of a whole output.",
  fields: (t) => ({
    text: t.exposeString("text", { description: "Its text, of whole characters." }),
    nextOffset: t.exposeInt("nextOffset", { nullable: true, description: "Where the next piece begins; null at the end." }),
  }),
});

const KeptOutput = builder.objectRef<{ readonly callId: string; readonly bytes: number }>("KeptOutput").implement({
  description: "An output of which the model read only a part, in a file of the server that ran the call.",
  fields: (t) => ({
    bytes: t.exposeInt("bytes", { description: "The size of the file." }),
    isWhole: t.boolean({
      description: "Whether the file has all of the output: more than 64 MB of one are not kept.",
      resolve: ({ bytes }) => bytes < MOST_BYTES,
    }),
    piece: t.field({
      type: OutputPiece,
      nullable: true,
      complexity: 10,
      description: "At most 256 KB of it from an offset on; null if another server has the file, or no server has it.",
      args: {
        offset: t.arg.int({ defaultValue: 0, description: "In bytes, from 0." }),
        bytes: t.arg.int({ defaultValue: 65_536, description: "At most so many: 4 to 262,144." }),
      },
      resolve: ({ callId }, { offset, bytes }, context) => outputPiece(context, callId, offset ?? 0, bytes ?? 65_536),
    }),
  }),
});

export const ToolCall = builder.prismaNode("ToolCall", {
  id: { field: "id", description: "The call's id among all objects." },
  description: "A tool call, whatever became of it.",
  fields: (t) => ({
    callId: t.exposeID("id", { description: "The call's own id, as logs and events name it: `toolCall(callId:)` takes it." }),
    name: t.exposeString("name", { description: "The tool." }),
    state: t.expose("state", { type: ToolCallState, description: "How far it has come." }),
    tool: t.field({
      type: Tool,
      nullable: true,
      description: "The tool as it is configured now, with the schema of its input; null if it no longer is.",
      select: { name: true },
      resolve: ({ name }, _args, { services }) => services.tools.get(name) ?? null,
    }),
    turn: t.exposeInt("turn", { description: "The turn in which it was made." }),
    step: t.exposeInt("step", { description: "The step whose answer made it." }),
    attempt: t.exposeInt("attempt", { description: "How often it began to execute." }),
    input: t.field({
      type: "JSON",
      nullable: true,
      description:
        "What was validated, judged and run; what the model asked for if it did not come so far. Null where it was erased.",
      select: { effectiveInput: true, requestedInput: true },
      resolve: (call) => call.effectiveInput ?? call.requestedInput,
    }),
    requestedInput: t.expose("requestedInput", {
      type: "JSON",
      nullable: true,
      description: "What the model asked for; null where it was erased.",
    }),
    inputPreview: t.string({
      nullable: true,
      description: "JSON text of the input, cut at 200 characters; null where it was erased.",
      select: { effectiveInput: true, requestedInput: true, erasedAt: true },
      resolve: ({ effectiveInput, requestedInput, erasedAt }) =>
        erasedAt === null
          ? inputPreview({ effectiveInput: effectiveInput as Json, requestedInput: requestedInput as Json })
          : null,
    }),
    inputHash: t.exposeString("inputHash", {
      nullable: true,
      description: "SHA-256 over the RFC 8785 form of all that decides what ran; null before it was judged.",
    }),
    output: t.exposeString("output", { nullable: true, description: "What the model read." }),
    keptOutput: t.field({
      type: KeptOutput,
      nullable: true,
      description: "The output, where the model read only a part of it.",
      select: { id: true, copiedFrom: true, keptOutputBytes: true },
      resolve: ({ id, copiedFrom, keptOutputBytes }) =>
        keptOutputBytes === null ? null : { callId: copiedFrom ?? id, bytes: keptOutputBytes },
    }),
    details: t.expose("details", {
      type: "JSON",
      nullable: true,
      description: "The tool's documented JSON; of a call that was refused, what a program can learn from the refusal.",
    }),
    error: t.field({
      type: ToolCallError,
      nullable: true,
      description: "Why it has no result of its own.",
      select: { error: true },
      resolve: (call) => call.error as Failure | null,
    }),
    isError: t.exposeBoolean("isError", { description: "Whether it has no result of its own." }),
    stages: t.field({
      type: [StagePassage],
      description: "Its passages through the stages of the gate, in order; at most 60.",
      select: { stages: true },
      resolve: (call) => call.stages as unknown as Passage[],
    }),
    auditTrail: t.field({
      type: [AuditEntry],
      description: "Its steps from state to state, in order; a few.",
      select: { auditTrail: true },
      resolve: (call) => call.auditTrail as unknown as AuditRecord[],
    }),
    verdict: t.field({
      type: PermissionVerdict,
      nullable: true,
      description: "What was said of it when it was last judged; null if it did not come so far.",
      select: { verdict: true },
      resolve: ({ verdict }) => verdict as (typeof PermissionVerdict)["$inferType"] | null,
    }),
    explanation: t.field({
      type: ToolCallExplanation,
      nullable: true,
      description: "Which rule, list, mode, hook or stage allowed, asked or denied it, and why. Null if it did not come so far.",
      select: { explanation: true, verdict: true },
      resolve: ({ explanation, verdict }) => (verdict === null ? null : (explanation as unknown as Explanation | null)),
    }),
    durationMs: t.exposeFloat("durationMs", {
      nullable: true,
      description: "How long it ran, in ms; of one that did not run, how long the gate took.",
    }),
    startedAt: t.expose("startedAt", { type: "DateTime", nullable: true, description: "When it began to execute." }),
    completedAt: t.expose("completedAt", { type: "DateTime", nullable: true, description: "When it had its final state." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the model asked for it." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When its state last changed." }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "When its input and result were erased; null for one that has them.",
    }),
    copyOf: t.id({
      nullable: true,
      description: "Of a fork's copy: the call that was made, by its `id`. Null for a call that was made here.",
      select: { copiedFrom: true },
      resolve: ({ copiedFrom }) => (copiedFrom === null ? null : globalId("ToolCall", copiedFrom)),
    }),
    cachedFrom: t.prismaField({
      type: "ToolCall",
      nullable: true,
      description:
        "The earlier call of the agent whose result it was given in the place of a run, since its tool is cacheable and nothing had changed. Null if its tool ran.",
      select: { agentId: true, cachedFrom: true },
      resolve: (query, call, _args, context) => cachedCall(context, call, query),
    }),
    agent: t.relation("agent", { description: "The agent that made it." }),
  }),
});

export const ToolCallConnection = connectionOf("ToolCall", ToolCall);

export const ToolCallFilter = builder.inputType("ToolCallFilter", {
  description: "All conditions that are given must hold.",
  fields: (t) => ({
    created: t.field({ type: TimeRangeInput, description: "Asked for in this span." }),
    agentIds: t.idList({ description: "Of one of these agents." }),
    templateIds: t.idList({ description: "Of an agent of one of these templates." }),
    tools: t.stringList({ description: "Of one of these tools." }),
    states: t.field({ type: [ToolCallState], description: "In one of these states." }),
    errorTypes: t.field({ type: [ToolCallErrorType], description: "Refused or failed for one of these reasons." }),
    verdicts: t.field({ type: [PermissionVerdict], description: "Judged so." }),
    rules: t.stringList({ description: "Decided by one of these rules, as `explanation.rule` has them." }),
    places: t.stringList({
      description:
        "Decided at one of these places, as `explanation.place` has them: of rules of the configuration (`Template.permission.rules`), and of stored ones (`allowRules.` and the row's id).",
    }),
    createdBy: t.idList({ description: "Of an agent that one of these actors made: ids of ActorRefs, or the actors' own." }),
    decidedBy: t.idList({ description: "On which one of these actors decided." }),
    minDurationMs: t.float({ description: "That took so long, or longer." }),
  }),
});

const ToolCallOrderField = builder.enumType("ToolCallOrderField", {
  description: "By what tool calls are ordered.",
  values: described<Order["field"]>({
    CREATED_AT: "When the model asked for them.",
    DURATION: "How long they took; those that have not ended stand at the end.",
  }),
});

const ToolCallOrder = builder.inputType("ToolCallOrder", {
  description: "An order of tool calls.",
  fields: (t) => ({
    field: t.field({ type: ToolCallOrderField, required: true, description: "By what." }),
    direction: t.field({ type: OrderDirection, required: true, description: "In which direction." }),
  }),
});

builder.queryField("toolCalls", (t) =>
  t.connection(
    {
      type: ToolCall,
      description:
        "The tool audit: every call that was made, whatever became of it. A fork's copies stand on `agent.toolCalls` only.",
      args: {
        filter: t.arg({ type: ToolCallFilter, description: "Which; all if omitted." }),
        orderBy: t.arg({ type: ToolCallOrder, description: "In which order; the newest first if omitted." }),
      },
      resolve: (_root, args, context, info) => toolCalls(context, args, nodesSelection(context, info)),
    },
    ToolCallConnection,
  ),
);

builder.queryField("toolCall", (t) =>
  t.prismaField({
    type: ToolCall,
    nullable: true,
    description: "A tool call by its own id, as logs and events name it; null if it does not exist or may not be seen.",
    args: { callId: t.arg.id({ required: true, description: "The call's `callId`." }) },
    resolve: (query, _root, { callId }, context) => toolCall(context, callId, query),
  }),
);
