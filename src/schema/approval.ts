import type { ApprovalSnapshot as Snapshot } from "../events/event.ts";
import { reachedPaths, type ReachedPath as Reached } from "../agent/policy/rule-values.ts";
import { approvalByRow, approvals, decideApproval, decideApprovals, type DecideRequest } from "../resolvers/approval.ts";
import type { Json } from "../lib/json.ts";
import { visibleJson } from "../lib/escape-hidden.ts";
import { globalId } from "../lib/global-id.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { ApprovalDecision, ApprovalKind, ApprovalState, Risk } from "./enums.ts";
import { ToolCallSnapshot } from "./tool-call.ts";
import { payloadType } from "./payload.ts";

export const ApprovalSnapshot = builder.objectRef<Snapshot>("ApprovalSnapshot").implement({
  description: "An approval as it stood when it was asked for. No node: the live approval is beside it as `approval`.",
  fields: (t) => ({
    approvalId: t.id({ resolve: ({ approvalId }) => globalId("Approval", approvalId) }),
    kind: t.expose("kind", { type: ApprovalKind }),
    call: t.expose("call", { type: ToolCallSnapshot }),
    inputHash: t.exposeString("inputHash", { description: "Give it back with ALLOW: the decision is bound to this input." }),
    reason: t.exposeString("reason"),
    risk: t.field({ type: Risk, resolve: ({ risk }) => risk as (typeof Risk)["$inferType"] }),
    quorum: t.exposeInt("quorum", { description: "How many people must allow it." }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
  }),
});

const finalFields = { state: true, decisions: { orderBy: { decidedAt: "desc" }, take: 1 } } as const;

/** The decision that stands; null while the approval is open, whoever has spoken. */
function finalDecision<Row>({
  state,
  decisions: [decision],
}: {
  readonly state: string;
  readonly decisions: readonly Row[];
}): Row | null {
  return state === "PENDING" ? null : (decision ?? null);
}

const ReachedPath = builder.objectRef<Reached>("ReachedPath").implement({
  description: "A file that a call reaches, or the folders in which it searches.",
  fields: (t) => ({
    parameter: t.exposeString("parameter"),
    names: t.stringList({
      description: "All names that it has in the workspace: as it is written, and with links resolved.",
      resolve: ({ names }) => [...names],
    }),
  }),
});

builder.prismaObject("Decision", {
  name: "Decision",
  description: "What one person said about an approval.",
  fields: (t) => ({
    decision: t.expose("decision", { type: ApprovalDecision }),
    decidedBy: t.field({
      type: ActorRef,
      select: { actorId: true, actorKind: true },
      resolve: ({ actorId, actorKind }) => ({ id: actorId, kind: actorKind }),
    }),
    onBehalfOf: t.exposeString("onBehalfOf", { nullable: true, description: "The actor in whose name; null for their own." }),
    note: t.exposeString("note", { nullable: true }),
    input: t.expose("input", {
      type: "JSON",
      nullable: true,
      description: "The input that they gave in the place of the one they saw.",
    }),
    decidedAt: t.expose("decidedAt", { type: "DateTime" }),
  }),
});

export const Approval = builder.prismaNode("Approval", {
  id: { field: "id" },
  description: "A question to a person, and its answer.",
  fields: (t) => ({
    kind: t.expose("kind", { type: ApprovalKind }),
    state: t.expose("state", { type: ApprovalState }),
    toolCall: t.relation("toolCall"),
    agent: t.relation("agent"),
    input: t.expose("input", {
      type: "JSON",
      description: "What was asked for: exactly what will run, unless a decision says otherwise.",
    }),
    inputText: t.string({
      description:
        "The whole input for people to read: JSON in which nothing hides. Control characters, bidirectional overrides and long runs of spaces stand as escapes.",
      select: { input: true },
      resolve: ({ input }) => visibleJson(input as Json),
    }),
    inputHash: t.exposeString("inputHash", { description: "SHA-256 over the RFC 8785 form of all that decides what will run." }),
    reason: t.exposeString("reason", { description: "Why it is asked." }),
    risk: t.field({ type: Risk, select: { risk: true }, resolve: ({ risk }) => risk as (typeof Risk)["$inferType"] }),
    quorum: t.int({
      description: "How many people must allow it. One is enough to deny it.",
      select: { quorum: true },
      resolve: ({ quorum }) => quorum ?? 1,
    }),
    decisions: t.relation("decisions", { query: { orderBy: { decidedAt: "asc" } }, description: "All that was said, in order." }),
    paths: t.field({
      type: [ReachedPath],
      description: "The files that the call's paths lead to, links resolved, as they were when it was asked or decided.",
      select: { toolCall: { select: { ruleValues: true } } },
      resolve: ({ toolCall }) => reachedPaths(toolCall.ruleValues),
    }),
    decision: t.field({
      type: ApprovalDecision,
      nullable: true,
      description: "The decision that stands; null while it is open.",
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.decision ?? null,
    }),
    decidedBy: t.field({
      type: ActorRef,
      nullable: true,
      select: finalFields,
      resolve: (approval) => {
        const decision = finalDecision(approval);
        return decision === null ? null : { id: decision.actorId, kind: decision.actorKind };
      },
    }),
    decidedAt: t.field({
      type: "DateTime",
      nullable: true,
      select: finalFields,
      resolve: (approval) => finalDecision(approval)?.decidedAt ?? null,
    }),
    note: t.string({ nullable: true, select: finalFields, resolve: (approval) => finalDecision(approval)?.note ?? null }),
    requestedAt: t.expose("requestedAt", { type: "DateTime" }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
    closedAt: t.expose("closedAt", { type: "DateTime", nullable: true }),
  }),
});

const ApprovalFilter = builder.inputType("ApprovalFilter", {
  description: "All conditions that are given must hold.",
  fields: (t) => ({
    states: t.field({ type: [ApprovalState] }),
    agentId: t.id(),
    templateIds: t.idList(),
    tools: t.stringList(),
    requestedAfter: t.field({ type: "DateTime" }),
    requestedBefore: t.field({ type: "DateTime" }),
  }),
});

const ApprovalConnection = connectionOf("Approval", Approval);

builder.queryField("approvals", (t) =>
  t.prismaConnection(
    {
      type: Approval,
      cursor: "id",
      description: "The inbox: what has waited longest is on top.",
      args: { state: t.arg({ type: ApprovalState }), filter: t.arg({ type: ApprovalFilter }) },
      resolve: (query, _root, args, context) => approvals(context, args, query),
    },
    ApprovalConnection,
  ),
);

const DecideApprovalInput = builder.inputType("DecideApprovalInput", {
  fields: (t) => ({
    approvalId: t.id({ required: true }),
    decision: t.field({ type: ApprovalDecision, required: true }),
    note: t.string(),
    inputHash: t.string({ description: "Required for ALLOW and RETRY: the hash of the input that the person saw." }),
    result: t.string({
      description: "With DONE, for an outcome that is unknown: what came of the call, as the model shall read it.",
    }),
    input: t.field({
      type: "JSON",
      description: "With ALLOW: what shall run instead. It is validated and judged, and both inputs are kept.",
    }),
  }),
});

const DecideApprovalPayload = payloadType("DecideApprovalPayload", (t) => ({
  approval: t.prismaField({
    type: Approval,
    nullable: true,
    resolve: (query, { rowId }, _args, context) => approvalByRow(context, rowId, query),
  }),
}));

builder.mutationField("decideApproval", (t) =>
  t.field({
    type: DecideApprovalPayload,
    description: "Decides an approval, once. The same decision again answers the same; another one is told which stands.",
    args: { input: t.arg({ type: DecideApprovalInput, required: true }) },
    resolve: (_root, { input }, context) => decideApproval(context, requestOf(input)),
  }),
);

builder.mutationField("decideApprovals", (t) =>
  t.field({
    type: [DecideApprovalPayload],
    description: "Decides up to 100 approvals, each by itself and with its own outcome, in the order given.",
    args: { input: t.arg({ type: [DecideApprovalInput], required: true }) },
    resolve: async (_root, { input }, context) => [...(await decideApprovals(context, input.map(requestOf)))],
  }),
);

function requestOf(given: (typeof DecideApprovalInput)["$inferInput"]): DecideRequest {
  const { approvalId, decision, note, inputHash, input, result } = given;
  return { approvalId, decision, note: note ?? null, inputHash: inputHash ?? null, input: input ?? null, result: result ?? null };
}
