import { delegateApprovals, delegationByRow, delegations, revokeDelegation } from "../../resolvers/delegation.ts";
import { ActorRef } from "../actor.ts";
import { builder } from "../builder.ts";
import { connectionOf, nodesSelection } from "../connection.ts";
import { payloadType } from "../payload.ts";

export const Delegation = builder.prismaNode("Delegation", {
  id: { field: "id", description: "The delegation's id." },
  description: "One actor decides in the name of another for a time.",
  fields: (t) => ({
    from: t.field({
      type: ActorRef,
      description: "In whose name.",
      select: { fromId: true, fromKind: true },
      resolve: ({ fromId, fromKind }) => ({ id: fromId, kind: fromKind }),
    }),
    to: t.field({
      type: ActorRef,
      description: "Who decides.",
      select: { toId: true, toKind: true },
      resolve: ({ toId, toKind }) => ({ id: toId, kind: toKind }),
    }),
    note: t.exposeString("note", { nullable: true, description: "Why." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "From when on." }),
    endsAt: t.expose("endsAt", { type: "DateTime", description: "Until when, if it is not revoked." }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was revoked; null if nobody did.",
    }),
    revokedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Who revoked it.",
      select: { revokedBy: true, revokedByKind: true },
      resolve: ({ revokedBy, revokedByKind }) => (revokedBy === null ? null : { id: revokedBy, kind: revokedByKind ?? "USER" }),
    }),
  }),
});

const DelegationFilter = builder.inputType("DelegationFilter", {
  description: "All conditions that are given must hold.",
  fields: (t) => ({ isActive: t.boolean({ description: "Those that hold now only, or those that do not." }) }),
});

builder.queryField("delegations", (t) =>
  t.connection(
    {
      type: Delegation,
      description: "Who decides in whose name, newest first: all for those who read the tenant, one's own for others.",
      args: { filter: t.arg({ type: DelegationFilter, description: "Which; all if omitted." }) },
      resolve: (_root, args, context, info) => delegations(context, args, nodesSelection(context, info)),
    },
    connectionOf("Delegation", Delegation),
  ),
);

const DelegateApprovalsInput = builder.inputType("DelegateApprovalsInput", {
  description: "Who shall decide in your name, and until when.",
  fields: (t) => ({
    toActorId: t.id({ required: true, description: "Who: the id of an ActorRef, or the actor's own." }),
    until: t.field({ type: "DateTime", required: true, description: "At most 90 days from now." }),
    note: t.string({ description: "Why. At most 4,000 characters." }),
    idempotencyKey: t.string({ description: "The same key with the same input delegates once and answers the same delegation." }),
  }),
});

const RevokeDelegationInput = builder.inputType("RevokeDelegationInput", {
  description: "Which delegation to end.",
  fields: (t) => ({ delegationId: t.id({ required: true, description: "The delegation." }) }),
});

const delegationPayload = (name: string) =>
  payloadType(name, (t) => ({
    delegation: t.prismaField({
      type: Delegation,
      nullable: true,
      description: "The delegation, if the mutation was carried out.",
      resolve: (query, { rowId }, _args, context) => delegationByRow(context, rowId, query),
    }),
  }));

builder.mutationField("delegateApprovals", (t) =>
  t.field({
    type: delegationPayload("DelegateApprovalsPayload"),
    description: "Lets another actor of the tenant decide in your name until a time: while you are away, for example.",
    args: { input: t.arg({ type: DelegateApprovalsInput, required: true, description: "Who, and until when." }) },
    resolve: (_root, { input }, context) =>
      delegateApprovals(context, { ...input, note: input.note ?? null, idempotencyKey: input.idempotencyKey ?? null }),
  }),
);

builder.mutationField("revokeDelegation", (t) =>
  t.field({
    type: delegationPayload("RevokeDelegationPayload"),
    description: "Ends a delegation of yours at once; an administrator ends anybody's.",
    args: { input: t.arg({ type: RevokeDelegationInput, required: true, description: "Which." }) },
    resolve: (_root, { input }, context) => revokeDelegation(context, input.delegationId),
  }),
);
