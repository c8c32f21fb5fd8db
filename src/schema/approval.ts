import type { ApprovalSnapshot as Snapshot } from "../events/event.ts";
import { approvalByRow, approvals, decideApproval, type ApprovalPayload } from "../resolvers/approval.ts";
import { globalId } from "../resolvers/global-id.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { ApprovalDecision, ApprovalKind, ApprovalState, Risk } from "./enums.ts";
import { ToolCallSnapshot } from "./tool-call.ts";
import { UserError } from "./user-error.ts";

export const ApprovalSnapshot = builder.objectRef<Snapshot>("ApprovalSnapshot").implement({
  description: "An approval as it stood when it was asked for. No node: the live approval is beside it as `approval`.",
  fields: (t) => ({
    approvalId: t.id({ resolve: ({ approvalId }) => globalId("Approval", approvalId) }),
    kind: t.expose("kind", { type: ApprovalKind }),
    call: t.expose("call", { type: ToolCallSnapshot }),
    inputHash: t.exposeString("inputHash", { description: "Give it back with ALLOW: the decision is bound to this input." }),
    reason: t.exposeString("reason"),
    risk: t.field({ type: Risk, resolve: ({ risk }) => risk as (typeof Risk)["$inferType"] }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
  }),
});

const newest = { decisions: { orderBy: { decidedAt: "desc" }, take: 1 } } as const;

export const Approval = builder.prismaNode("Approval", {
  id: { field: "id" },
  description: "A question to a person, and its answer.",
  fields: (t) => ({
    kind: t.expose("kind", { type: ApprovalKind }),
    state: t.expose("state", { type: ApprovalState }),
    toolCall: t.relation("toolCall"),
    agent: t.relation("agent"),
    input: t.expose("input", { type: "JSON", description: "Exactly what will run." }),
    inputHash: t.exposeString("inputHash", { description: "SHA-256 over the RFC 8785 form of all that decides what will run." }),
    reason: t.exposeString("reason", { description: "Why it is asked." }),
    risk: t.field({ type: Risk, select: { risk: true }, resolve: ({ risk }) => risk as (typeof Risk)["$inferType"] }),
    decision: t.field({
      type: ApprovalDecision,
      nullable: true,
      select: newest,
      resolve: ({ decisions: [decision] }) => decision?.decision ?? null,
    }),
    decidedBy: t.field({
      type: ActorRef,
      nullable: true,
      select: newest,
      resolve: ({ decisions: [decision] }) =>
        decision === undefined ? null : { id: decision.actorId, kind: decision.actorKind },
    }),
    decidedAt: t.field({
      type: "DateTime",
      nullable: true,
      select: newest,
      resolve: ({ decisions: [decision] }) => decision?.decidedAt ?? null,
    }),
    note: t.string({ nullable: true, select: newest, resolve: ({ decisions: [decision] }) => decision?.note ?? null }),
    requestedAt: t.expose("requestedAt", { type: "DateTime" }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", nullable: true }),
  }),
});

const ApprovalConnection = connectionOf("Approval", Approval);

builder.queryField("approvals", (t) =>
  t.prismaConnection(
    {
      type: Approval,
      cursor: "id",
      description: "The inbox: what has waited longest is on top.",
      args: { state: t.arg({ type: ApprovalState }) },
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
    inputHash: t.string({ description: "Required for ALLOW: the hash of the input that the person saw." }),
  }),
});

const DecideApprovalPayload = builder.objectRef<ApprovalPayload>("DecideApprovalPayload").implement({
  fields: (t) => ({
    approval: t.prismaField({
      type: Approval,
      nullable: true,
      resolve: (query, payload, _args, context) => approvalByRow(context, payload.approvalId, query),
    }),
    cursor: t.expose("cursor", { type: "Cursor", description: "The log has come this far with it." }),
    userErrors: t.field({ type: [UserError], resolve: (payload) => [...payload.userErrors] }),
  }),
});

builder.mutationField("decideApproval", (t) =>
  t.field({
    type: DecideApprovalPayload,
    description: "Decides an approval, once. The same decision again answers the same; another one is told which stands.",
    args: { input: t.arg({ type: DecideApprovalInput, required: true }) },
    resolve: (_root, { input }, context) =>
      decideApproval(context, { ...input, note: input.note ?? null, inputHash: input.inputHash ?? null }),
  }),
);
