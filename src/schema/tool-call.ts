import { isRetryable, recommendationsOf } from "../agent/calls/refusals/refusal-details.ts";
import type { Trail } from "../agent/calls/call.ts";
import type { Passage } from "../agent/calls/stage-clock.ts";
import type { Explanation } from "../agent/policy/permission.ts";
import type { CallApproval, KeptError as Failure, ToolCallSnapshot as Snapshot } from "../events/snapshots.ts";
import { globalId } from "../lib/global-id.ts";
import type { Json } from "../lib/json.ts";
import { contextAtStep } from "../resolvers/step-context.ts";
import { toolCalls } from "../resolvers/tool-audit.ts";
import { cachedCall, dueOfCall, imagesOfCall, OWN_WAIT, previewOf, toolCall, waitOfCall } from "../resolvers/tool-call.ts";
import { ActorRef } from "./actor.ts";
import { builder, connectionOf, nodesSelection } from "./builder.ts";
import {
  ApprovalDecision,
  ApprovalState,
  CallWait,
  GateStage,
  PermissionVerdict,
  ToolCallErrorType,
  ToolCallState,
} from "./enums.ts";
import { ToolCallExplanation } from "./explained.ts";
import { ToolCallFilter, ToolCallOrder } from "./inputs/tool-calls.ts";
import { ImageBlock, KeptOutput } from "./output.ts";
import { StepContext } from "./step-context.ts";
import { Tool } from "./templates/template.ts";

export const ToolCallError = builder.objectRef<Failure>("ToolCallError").implement({
  description: "Error of a call that was refused or failed.",
  fields: (t) => ({
    type: t.expose("type", { type: ToolCallErrorType, description: "Kind of error." }),
    stage: t.expose("stage", { type: GateStage, description: "Stage of the gate in which it occurred." }),
    message: t.exposeString("message", { nullable: true, description: "Error message. Null if it was erased." }),
    isRetryable: t.boolean({
      description: "Whether a repeated call may succeed, later or after the changes in `recommendations`.",
      resolve: ({ type }) => isRetryable(type),
    }),
    recommendations: t.stringList({
      description: "Advice for the model or a person.",
      resolve: (error) => [...recommendationsOf(error)],
    }),
  }),
});

const ToolCallApproval = builder.objectRef<CallApproval>("ToolCallApproval").implement({
  description: "The approval of a call, with its decision.",
  fields: (t) => ({
    approvalId: t.id({ description: "Id of the approval.", resolve: ({ approvalId }) => globalId("Approval", approvalId) }),
    state: t.expose("state", { type: ApprovalState, description: "State of the approval." }),
    decision: t.expose("decision", {
      type: ApprovalDecision,
      nullable: true,
      description: "The decision. Null if there is none yet.",
    }),
    decidedBy: t.expose("decidedBy", {
      type: ActorRef,
      nullable: true,
      description: "Actor that decided. Null if there is no decision yet.",
    }),
    decidedAt: t.expose("decidedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of the decision. Null if there is no decision yet.",
    }),
    note: t.exposeString("note", { nullable: true, description: "Note given with the decision. Null if there is none." }),
  }),
});

export const ToolCallSnapshot = builder.objectRef<Snapshot>("ToolCallSnapshot").implement({
  description: "A tool call at the time of its event. It is not a node: the current call is available as `toolCall` next to it.",
  fields: (t) => ({
    callId: t.exposeID("callId", { description: "`callId` of the call, for `toolCall(callId:)`." }),
    name: t.exposeString("name", { description: "Name of the tool." }),
    state: t.expose("state", { type: ToolCallState, description: "State of the call." }),
    inputPreview: t.exposeString("inputPreview", {
      nullable: true,
      description: "The input as JSON text, cut at 200 characters. Null if it was erased.",
    }),
    output: t.exposeString("output", {
      nullable: true,
      description: "Result as the model reads it, cut at 4 KB. Null before there is a result, or if it was erased.",
    }),
    isError: t.exposeBoolean("isError", { description: "True if the call ended with an error." }),
    error: t.expose("error", { type: ToolCallError, nullable: true, description: "The error. Null if there is none." }),
    approval: t.expose("approval", {
      type: ToolCallApproval,
      nullable: true,
      description: "Latest approval of the call. Null if no approval was requested.",
    }),
    startedAt: t.expose("startedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it first started to run. Null if it has not run.",
    }),
    completedAt: t.expose("completedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it reached its final state. Null before that.",
    }),
    durationMs: t.exposeFloat("durationMs", {
      nullable: true,
      description:
        "Run time in ms. For a call that did not run, the time in the gate without waiting for people. Null if not measured, for example while the call is open or if it was sealed.",
    }),
    cachedFrom: t.id({
      nullable: true,
      description:
        "`callId` of the earlier call whose result was reused, because the tool is cacheable and nothing had changed. Null if the result was not reused.",
      resolve: ({ cachedFrom }) => cachedFrom,
    }),
  }),
});

const StagePassage = builder.objectRef<Passage>("StagePassage").implement({
  description: "One pass of a call through a stage of the gate. A stage that was repeated has several entries.",
  fields: (t) => ({
    stage: t.expose("stage", { type: GateStage, description: "Stage of the gate." }),
    startedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Start time.",
      resolve: ({ startedAt }) => new Date(startedAt),
    }),
    endedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "End time.",
      resolve: ({ startedAt, durationMs }) => new Date(startedAt + durationMs),
    }),
    durationMs: t.exposeFloat("durationMs", { description: "Duration in ms." }),
  }),
});

type AuditRecord = Trail & { readonly state: (typeof ToolCallState)["$inferType"]; readonly timestamp: string };

const AuditEntry = builder.objectRef<AuditRecord>("AuditEntry").implement({
  description: "A state transition of a call.",
  fields: (t) => ({
    state: t.expose("state", { type: ToolCallState, description: "The new state." }),
    timestamp: t.expose("timestamp", { type: "DateTime", description: "Time of the transition." }),
    note: t.string({ nullable: true, description: "Reason. Null if there is none.", resolve: (entry) => entry.note ?? null }),
    by: t.field({
      type: ActorRef,
      nullable: true,
      description: "Person or program that decided or cancelled. Null if nobody did.",
      resolve: (entry) => entry.by ?? null,
    }),
  }),
});

export const ToolCall = builder.prismaNode("ToolCall", {
  id: { field: "id", description: "Relay id of the call." },
  description: "A tool call, whatever its state.",
  fields: (t) => ({
    callId: t.exposeID("id", { description: "Id of the call in logs and events, for `toolCall(callId:)`." }),
    name: t.exposeString("name", { description: "Name of the tool." }),
    state: t.expose("state", { type: ToolCallState, description: "State of the call." }),
    tool: t.field({
      type: Tool,
      nullable: true,
      description: "The tool as configured now. Null if it is not configured any more.",
      select: { name: true },
      resolve: ({ name }, _args, { services }) => services.tools.get(name) ?? null,
    }),
    turn: t.exposeInt("turn", { description: "Turn in which the call was made." }),
    step: t.exposeInt("step", { description: "Step whose answer made the call." }),
    context: t.field({
      type: StepContext,
      nullable: true,
      complexity: 20,
      description: "Request to which the model answered with the call, for readers of the tenant.",
      select: { agentId: true, step: true },
      resolve: ({ agentId, step }, _args, context) => contextAtStep(context, agentId, step),
    }),
    attempt: t.exposeInt("attempt", { description: "Number of times that it started to run." }),
    input: t.field({
      type: "JSON",
      nullable: true,
      description:
        "Input that was validated, evaluated and run, with defaults applied. Before validation, the input given by the model. Null if it was erased.",
      select: { effectiveInput: true, requestedInput: true },
      resolve: (call) => call.effectiveInput ?? call.requestedInput,
    }),
    requestedInput: t.expose("requestedInput", {
      type: "JSON",
      nullable: true,
      description: "Input given by the model. Null if it was erased.",
    }),
    inputPreview: t.string({
      nullable: true,
      complexity: ({ length }) => ({ field: 1 + Math.floor((length ?? 0) / 1_000) }),
      description: "The input as JSON text, cut at 200 characters, or at `length`. Null if it was erased.",
      args: { length: t.arg.int({ defaultValue: 200, description: "Maximum number of characters, 1 to 4,000." }) },
      select: { effectiveInput: true, requestedInput: true, erasedAt: true },
      resolve: ({ effectiveInput, requestedInput, erasedAt }, { length }) =>
        erasedAt === null
          ? previewOf({ effectiveInput: effectiveInput as Json, requestedInput: requestedInput as Json }, length ?? 200)
          : null,
    }),
    inputHash: t.exposeString("inputHash", {
      nullable: true,
      description: "SHA-256 over the RFC 8785 form of everything that determines what runs. Null before the call was evaluated.",
    }),
    output: t.exposeString("output", {
      nullable: true,
      description: "Result as the model reads it. Null before there is a result, or if it was erased.",
    }),
    keptOutput: t.field({
      type: KeptOutput,
      nullable: true,
      description: "The complete output, if the model read only a part of it. Null otherwise.",
      select: { id: true, copiedFrom: true, keptOutputBytes: true },
      resolve: ({ id, copiedFrom, keptOutputBytes }) =>
        keptOutputBytes === null ? null : { callId: copiedFrom ?? id, bytes: keptOutputBytes },
    }),
    images: t.field({
      type: [ImageBlock],
      description: "Images of the result, which the model reads after its text, at most 20. Empty if they were erased.",
      select: { tenant: true, images: true, erasedAt: true },
      resolve: imagesOfCall,
    }),
    details: t.expose("details", {
      type: "JSON",
      nullable: true,
      description:
        "Result as JSON, in the documented form of the tool. For a refused call, the details of the refusal. Null if there are none, or if they were erased.",
    }),
    error: t.field({
      type: ToolCallError,
      nullable: true,
      description: "The error. Null if there is none.",
      select: { error: true },
      resolve: (call) => call.error as Failure | null,
    }),
    isError: t.exposeBoolean("isError", { description: "True if the call ended with an error." }),
    stages: t.field({
      type: [StagePassage],
      description: "Passes through the stages of the gate, in order, at most 60.",
      select: { stages: true },
      resolve: (call) => call.stages as unknown as Passage[],
    }),
    dueAt: t.field({
      type: "DateTime",
      nullable: true,
      description:
        "The time at which a call in state WAITING fails if it has no result. Null in every other state, and while another agent works for it.",
      select: { waits: OWN_WAIT },
      resolve: dueOfCall,
    }),
    waitsFor: t.field({
      type: CallWait,
      nullable: true,
      description: "Where the result of a call in state WAITING comes from. Null in every other state.",
      select: { waits: OWN_WAIT, state: true },
      resolve: waitOfCall,
    }),
    auditTrail: t.field({
      type: [AuditEntry],
      description: "State transitions in order, usually a few.",
      select: { auditTrail: true },
      resolve: (call) => call.auditTrail as unknown as AuditRecord[],
    }),
    verdict: t.field({
      type: PermissionVerdict,
      nullable: true,
      description: "Verdict of the latest evaluation. Null if the call was not evaluated.",
      select: { verdict: true },
      resolve: ({ verdict }) => verdict as (typeof PermissionVerdict)["$inferType"] | null,
    }),
    explanation: t.field({
      type: ToolCallExplanation,
      nullable: true,
      description:
        "Explanation of `verdict`: the rule, list, mode, hook or stage that decided, and why. Null if the call was not evaluated.",
      select: { explanation: true, verdict: true },
      resolve: ({ explanation, verdict }) => (verdict === null ? null : (explanation as unknown as Explanation | null)),
    }),
    durationMs: t.exposeFloat("durationMs", {
      nullable: true,
      description:
        "Run time in ms. For a call that did not run, the time in the gate without waiting for people. Null if not measured, for example while the call is open or if it was sealed.",
    }),
    startedAt: t.expose("startedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it first started to run. Null if it has not run.",
    }),
    completedAt: t.expose("completedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it reached its final state. Null before that.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time at which the model requested it." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "Time of the latest change of state." }),
    erasedAt: t.expose("erasedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time at which input and result were erased. Null if they were not erased.",
    }),
    copyOf: t.id({
      nullable: true,
      description: "`id` of the original call, if a fork copied this one. Null otherwise.",
      select: { copiedFrom: true },
      resolve: ({ copiedFrom }) => (copiedFrom === null ? null : globalId("ToolCall", copiedFrom)),
    }),
    cachedFrom: t.prismaField({
      type: "ToolCall",
      nullable: true,
      description:
        "Earlier call of the agent whose result was reused, because the tool is cacheable and nothing had changed. Null if the result was not reused.",
      select: { agentId: true, cachedFrom: true },
      resolve: (query, call, _args, context) => cachedCall(context, call, query),
    }),
    agent: t.relation("agent", { description: "Agent that made the call." }),
  }),
});

export const ToolCallConnection = connectionOf("ToolCall", ToolCall);

builder.queryField("toolCalls", (t) =>
  t.connection(
    {
      type: ToolCall,
      description:
        "The tool audit: all calls that the viewer may see, in any state. Calls copied by forks are left out; `Agent.toolCalls` has them.",
      args: {
        filter: t.arg({ type: ToolCallFilter, description: "Filter. All calls if omitted." }),
        orderBy: t.arg({ type: ToolCallOrder, description: "Sort order. Newest first if omitted." }),
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
    description: "Tool call by `callId`. Null if it does not exist or the viewer may not see it.",
    args: { callId: t.arg.id({ required: true, description: "`callId` of the call." }) },
    resolve: (query, _root, { callId }, context) => toolCall(context, callId, query),
  }),
);
