import { delegateApprovals, delegationByRow, delegations, revokeDelegation } from "../resolvers/delegation.ts";
import { ActorRef } from "./actor.ts";
import { builder } from "./builder.ts";
import { connectionOf } from "./connection.ts";
import { payloadType } from "./payload.ts";

const Delegation = builder.prismaNode("Delegation", {
  id: { field: "id" },
  description: "One actor decides in the name of another for a time.",
  fields: (t) => ({
    from: t.field({
      type: ActorRef,
      select: { fromId: true, fromKind: true },
      resolve: ({ fromId, fromKind }) => ({ id: fromId, kind: fromKind }),
    }),
    toActorId: t.exposeID("toId"),
    note: t.exposeString("note", { nullable: true }),
    startsAt: t.expose("startsAt", { type: "DateTime" }),
    endsAt: t.expose("endsAt", { type: "DateTime" }),
    revokedAt: t.expose("revokedAt", { type: "DateTime", nullable: true }),
    revokedBy: t.exposeString("revokedBy", { nullable: true }),
  }),
});

builder.queryField("delegations", (t) =>
  t.prismaConnection(
    {
      type: Delegation,
      cursor: "id",
      description: "Who decides in whose name, newest first.",
      args: { active: t.arg.boolean({ description: "Only those that hold now." }) },
      resolve: (query, _root, args, context) => delegations(context, args, query),
    },
    connectionOf("Delegation", Delegation),
  ),
);

const DelegateApprovalsInput = builder.inputType("DelegateApprovalsInput", {
  fields: (t) => ({
    toActorId: t.id({ required: true, description: "Who shall decide in your name." }),
    until: t.field({ type: "DateTime", required: true, description: "At most 90 days from now." }),
    note: t.string(),
  }),
});

const RevokeDelegationInput = builder.inputType("RevokeDelegationInput", {
  fields: (t) => ({ delegationId: t.id({ required: true }) }),
});

const delegationPayload = (name: string) =>
  payloadType(name, (t) => ({
    delegation: t.prismaField({
      type: Delegation,
      nullable: true,
      resolve: (query, { rowId }, _args, context) => delegationByRow(context, rowId, query),
    }),
  }));

builder.mutationField("delegateApprovals", (t) =>
  t.field({
    type: delegationPayload("DelegateApprovalsPayload"),
    description: "Lets another actor of the tenant decide in your name until a time: while you are away, for example.",
    args: { input: t.arg({ type: DelegateApprovalsInput, required: true }) },
    resolve: (_root, { input }, context) => delegateApprovals(context, { ...input, note: input.note ?? null }),
  }),
);

builder.mutationField("revokeDelegation", (t) =>
  t.field({
    type: delegationPayload("RevokeDelegationPayload"),
    description: "Ends a delegation of yours at once; an administrator ends anybody's.",
    args: { input: t.arg({ type: RevokeDelegationInput, required: true }) },
    resolve: (_root, { input }, context) => revokeDelegation(context, input.delegationId),
  }),
);
