import { approvalByRow } from "../../resolvers/approval.ts";
import { approvals, presentSnoozes, snoozeApproval, wakeApproval, type ApprovalOrder as Sorted } from "../../resolvers/inbox.ts";
import { builder, connectionOf, described, nodesSelection } from "../builder.ts";
import { ApprovalKind, ApprovalState, Risk } from "../enums.ts";
import { TimeRangeInput } from "../inputs/tool-calls.ts";
import { payloadType, type PayloadFields } from "../payload.ts";
import { Approval } from "./approval.ts";

export const ApprovalFilter = builder.inputType("ApprovalFilter", {
  description: "Filter for approvals. All given conditions must match.",
  fields: (t) => ({
    states: t.field({ type: [ApprovalState], description: "Approvals in one of these states." }),
    kinds: t.field({ type: [ApprovalKind], description: "Approvals of one of these kinds." }),
    risks: t.field({ type: [Risk], description: "Approvals with one of these risks." }),
    agentIds: t.idList({ description: "Approvals of one of these agents." }),
    templateIds: t.idList({ description: "Approvals of agents of one of these templates, given by `templateId`." }),
    tools: t.stringList({ description: "Approvals of calls of one of these tools." }),
    createdBy: t.idList({
      description: "Approvals of agents created by one of these actors, given by `ActorRef.id` or `actorId`.",
    }),
    requestedBy: t.idList({
      description:
        "Approvals that one of these actors asked for, given by `ActorRef.id` or `actorId`: the `requestedBy` of the time while it was open.",
    }),
    requested: t.field({ type: TimeRangeInput, description: "Approvals requested in this time range." }),
    decided: t.field({ type: TimeRangeInput, description: "Approvals with a decision made in this time range." }),
    decidedBy: t.idList({
      description: "Approvals with a decision by one of these actors, given by `ActorRef.id` or `actorId`.",
    }),
    viewerSnoozed: t.boolean({
      description: "True for approvals that the viewer has snoozed only, false for all others.",
    }),
  }),
});

const ApprovalOrder = builder.enumType("ApprovalOrder", {
  description: "Sort order for approvals.",
  values: described<Sorted>({
    OLDEST_FIRST: "By time of the request.",
    MOST_URGENT_FIRST:
      "By risk, highest first; then by expiry, soonest first, and those that never expire last; then by time of the request.",
    LAST_CLOSED_FIRST: "By time of closing, newest first. Pending approvals are left out.",
  }),
});

builder.queryField("approvals", (t) =>
  t.connection(
    {
      type: Approval,
      description: "The approval inbox, oldest request first.",
      args: {
        filter: t.arg({ type: ApprovalFilter, description: "Filter. All approvals if omitted." }),
        orderBy: t.arg({ type: ApprovalOrder, description: "Sort order. OLDEST_FIRST if omitted." }),
      },
      resolve: (_root, args, context, info) => approvals(context, args, nodesSelection(context, info)),
    },
    connectionOf("Approval", Approval),
  ),
);

const ApprovalSnooze = builder.prismaObject("ApprovalSnooze", {
  description: "A pending approval that a person has put off. Others still see it in their inbox.",
  fields: (t) => ({
    until: t.expose("until", {
      type: "DateTime",
      nullable: true,
      description: "Time at which it returns. Null if it returns only when the approval changes.",
    }),
    snoozedAt: t.expose("snoozedAt", { type: "DateTime", description: "Time at which it was snoozed." }),
  }),
});

builder.prismaObjectField(Approval, "viewerSnooze", (t) =>
  t.field({
    type: ApprovalSnooze,
    nullable: true,
    description: "Snooze of the approval by the viewer. Null if the viewer has not snoozed it, or if its time has come.",
    select: (_args, context, nestedSelection) => ({ snoozes: nestedSelection({ where: presentSnoozes(context), take: 1 }) }),
    resolve: ({ snoozes: [snooze] }) => snooze ?? null,
  }),
);

const approvalField = (t: PayloadFields) =>
  t.prismaField({
    type: Approval,
    nullable: true,
    description: "The approval. Null if the mutation failed.",
    resolve: (query, { rowId }, _args, context) => approvalByRow(context, rowId, query),
  });

const SnoozeApprovalInput = builder.inputType("SnoozeApprovalInput", {
  description: "Input of `snoozeApproval`.",
  fields: (t) => ({
    approvalId: t.id({ required: true, description: "`id` of the approval." }),
    until: t.field({
      type: "DateTime",
      description: "Time at which it returns, at most 90 days from now. If omitted, it returns when the approval changes.",
    }),
  }),
});

builder.mutationField("snoozeApproval", (t) =>
  t.field({
    type: payloadType("SnoozeApprovalPayload", (fields) => ({ approval: approvalField(fields) })),
    description:
      "Puts a pending approval off for the viewer alone, until a time, and at most until another person decides on it or it is closed. This is no decision: the agent waits, and the approval expires as before. A new snooze replaces the former one.",
    args: { input: t.arg({ type: SnoozeApprovalInput, required: true, description: "Approval and time." }) },
    resolve: (_root, { input }, context) => snoozeApproval(context, input.approvalId, input.until ?? null),
  }),
);

const WakeApprovalInput = builder.inputType("WakeApprovalInput", {
  description: "Input of `wakeApproval`.",
  fields: (t) => ({ approvalId: t.id({ required: true, description: "`id` of the approval." }) }),
});

builder.mutationField("wakeApproval", (t) =>
  t.field({
    type: payloadType("WakeApprovalPayload", (fields) => ({ approval: approvalField(fields) })),
    description: "Ends the viewer's snooze of an approval. An approval without one is returned as it is.",
    args: { input: t.arg({ type: WakeApprovalInput, required: true, description: "Approval." }) },
    resolve: (_root, { input }, context) => wakeApproval(context, input.approvalId),
  }),
);
