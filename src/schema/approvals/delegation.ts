import { delegateApprovals, delegationByRow, delegations, revokeDelegation } from "../../resolvers/approval.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf, nodesSelection } from "../builder.ts";
import { payloadType } from "../payload.ts";

export const Delegation = builder.prismaNode("Delegation", {
  id: { field: "id", description: "Relay id of the delegation." },
  description: "Permission of one actor to decide on behalf of another, for a limited time.",
  fields: (t) => ({
    from: t.field({
      type: ActorRef,
      description: "Actor on whose behalf decisions are made.",
      select: { fromId: true, fromKind: true },
      resolve: ({ fromId, fromKind }) => ({ id: fromId, kind: fromKind }),
    }),
    to: t.field({
      type: ActorRef,
      description: "Actor that may decide.",
      select: { toId: true, toKind: true },
      resolve: ({ toId, toKind }) => ({ id: toId, kind: toKind }),
    }),
    note: t.exposeString("note", { nullable: true, description: "Reason given for the delegation." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "Start time." }),
    endsAt: t.expose("endsAt", { type: "DateTime", description: "End time, unless it is revoked earlier." }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "Time of revocation. Null if it was not revoked.",
    }),
    revokedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that revoked it. Null if it was not revoked.",
      select: { revokedBy: true, revokedByKind: true },
      resolve: ({ revokedBy, revokedByKind }) => (revokedBy === null ? null : { id: revokedBy, kind: revokedByKind ?? "USER" }),
    }),
  }),
});

const DelegationFilter = builder.inputType("DelegationFilter", {
  description: "Filter for delegations. All given conditions must match.",
  fields: (t) => ({
    isActive: t.boolean({ description: "True for delegations in effect only, false for ended and revoked ones only." }),
  }),
});

builder.queryField("delegations", (t) =>
  t.connection(
    {
      type: Delegation,
      description: "Delegations, newest first. Viewers who may read the tenant see all, others only their own.",
      args: { filter: t.arg({ type: DelegationFilter, description: "Filter. All delegations if omitted." }) },
      resolve: (_root, args, context, info) => delegations(context, args, nodesSelection(context, info)),
    },
    connectionOf("Delegation", Delegation),
  ),
);

const DelegateApprovalsInput = builder.inputType("DelegateApprovalsInput", {
  description: "Input of `delegateApprovals`.",
  fields: (t) => ({
    toActorId: t.id({
      required: true,
      description: "Actor that may decide, given by `ActorRef.id` or `actorId`. Not checked for existence.",
    }),
    until: t.field({ type: "DateTime", required: true, description: "End time, at most 90 days from now." }),
    note: t.string({ description: "Reason, at most 4,000 characters." }),
    idempotencyKey: t.string({
      description:
        "Key of 1 to 200 characters, kept for 30 days. Repeating the request returns the same delegation. IDEMPOTENCY_KEY_REUSED for another input.",
    }),
  }),
});

const RevokeDelegationInput = builder.inputType("RevokeDelegationInput", {
  description: "Input of `revokeDelegation`.",
  fields: (t) => ({ delegationId: t.id({ required: true, description: "`id` of the delegation." }) }),
});

const delegationPayload = (name: string) =>
  payloadType(name, (t) => ({
    delegation: t.prismaField({
      type: Delegation,
      nullable: true,
      description: "The delegation. Null if the mutation failed.",
      resolve: (query, { rowId }, _args, context) => delegationByRow(context, rowId, query),
    }),
  }));

builder.mutationField("delegateApprovals", (t) =>
  t.field({
    type: delegationPayload("DelegateApprovalsPayload"),
    description:
      "Lets another actor of the tenant decide on your behalf until a given time, for example while you are away. Needs the role approver or admin.",
    args: { input: t.arg({ type: DelegateApprovalsInput, required: true, description: "Delegate and end time." }) },
    resolve: (_root, { input }, context) =>
      delegateApprovals(context, { ...input, note: input.note ?? null, idempotencyKey: input.idempotencyKey ?? null }),
  }),
);

builder.mutationField("revokeDelegation", (t) =>
  t.field({
    type: delegationPayload("RevokeDelegationPayload"),
    description: "Ends one of your delegations immediately. Administrators can end any delegation.",
    args: { input: t.arg({ type: RevokeDelegationInput, required: true, description: "Delegation to end." }) },
    resolve: (_root, { input }, context) => revokeDelegation(context, input.delegationId),
  }),
);
