import type { BodyOf } from "../../events/event.ts";
import { approvalByRow } from "../../resolvers/approval.ts";
import { globalId } from "../../lib/global-id.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { ActorRef } from "../actor.ts";
import { Approval } from "../approvals/approval.ts";
import { ApprovalSnapshot } from "../approvals/approval-snapshot.ts";
import { builder } from "../builder.ts";
import { ApprovalDecision, ApprovalState } from "../enums.ts";
import { eventType, TimelineEvent } from "./event.ts";

eventType("PERMISSION_REQUIRED").implement({
  description: "A person must decide whether a call may run, what the outcome of a call was, or whether a host may be reached.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    request: t.field({
      type: ApprovalSnapshot,
      description: "The approval at the time of its request.",
      resolve: ({ body }) => body.request,
    }),
    approval: t.prismaField({
      type: Approval,
      nullable: true,
      description: "The approval as it is now.",
      resolve: (query, { body }, _args, context) => approvalByRow(context, body.request.approvalId, query),
    }),
  }),
});

const ApprovalEvent = builder
  .interfaceRef<EventView<BodyOf<"PERMISSION_DECIDED" | "PERMISSION_CLOSED">>>("ApprovalEvent")
  .implement({
    description: "A change of an approval.",
    interfaces: [TimelineEvent],
    fields: (t) => ({
      approvalId: t.id({ description: "Id of the approval.", resolve: ({ body }) => globalId("Approval", body.approvalId) }),
      callId: t.id({
        nullable: true,
        description: "`callId` of the call that it is about. Null for other kinds of subject.",
        resolve: ({ body }) => body.callId,
      }),
      approvalState: t.field({
        type: ApprovalState,
        description: "State of the approval after the event. PENDING if more people must allow it.",
        resolve: ({ body }) => body.approvalState,
      }),
      note: t.string({ nullable: true, description: "Reason given. Null if there is none.", resolve: ({ body }) => body.note }),
      approval: t.prismaField({
        type: Approval,
        nullable: true,
        description: "The approval as it is now.",
        resolve: (query, { body }, _args, context) => approvalByRow(context, body.approvalId, query),
      }),
    }),
  });

eventType("PERMISSION_DECIDED").implement({
  description: "A person decided on an approval.",
  interfaces: [TimelineEvent, ApprovalEvent],
  fields: (t) => ({
    decision: t.field({ type: ApprovalDecision, description: "The decision.", resolve: ({ body }) => body.decision }),
    decidedTool: t.string({
      nullable: true,
      description: "Name of the tool whose call was decided on. Null for other kinds of subject, and in older events.",
      resolve: ({ body }) => body.tool ?? null,
    }),
    decidedBy: t.field({ type: ActorRef, description: "Actor that decided.", resolve: ({ body }) => body.decidedBy }),
    onBehalfOf: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor on whose behalf it was decided. Null if the actor decided in their own name.",
      resolve: ({ body }) => body.onBehalfOf,
    }),
    missingDecisions: t.int({
      description: "Number of people who must still allow it.",
      resolve: ({ body }) => body.missingDecisions,
    }),
    allowedHash: t.string({
      nullable: true,
      description:
        "Hash of the allowed input. Differs from that of the request if the person edited the input. Null if nothing was allowed.",
      resolve: ({ body }) => body.allowedHash,
    }),
    allowRuleId: t.id({
      nullable: true,
      description: "Id of the rule stored by allowing a host. Null if none was stored.",
      resolve: ({ body }) => (body.allowRuleId === null ? null : globalId("AllowRule", body.allowRuleId)),
    }),
  }),
});

eventType("SNOOZE_CHANGED").implement({
  description:
    "The viewer has snoozed an approval, or ended the snooze. Others do not receive it, and miss its `seq`. A decision on the approval also ends its snoozes, with its own event.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    approvalId: t.id({ description: "Id of the approval.", resolve: ({ body }) => globalId("Approval", body.approvalId) }),
    isSnoozed: t.boolean({ description: "False if the snooze was ended.", resolve: ({ body }) => body.isSnoozed }),
    snoozedUntil: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time at which the approval returns. Null if it returns only when it changes, or if the snooze was ended.",
      resolve: ({ body }) => (body.until === null ? null : new Date(body.until)),
    }),
  }),
});

eventType("PERMISSION_CLOSED").implement({
  description:
    "An approval was closed without a final decision: EXPIRED, SEALED because its turn ended, or STALE because a newer approval replaces it.",
  interfaces: [TimelineEvent, ApprovalEvent],
});
