import type { BodyOf } from "../../events/event.ts";
import { approvalByRow } from "../../resolvers/approval.ts";
import { globalId } from "../../lib/global-id.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { ActorRef } from "../actor.ts";
import { Approval, ApprovalSnapshot } from "../approvals/approval.ts";
import { builder } from "../builder.ts";
import { ApprovalDecision, ApprovalState } from "../enums.ts";
import { eventType, TimelineEvent } from "./event.ts";

eventType("PERMISSION_REQUIRED").implement({
  description: "A person must decide whether a call may run, or whether a host may be reached.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    request: t.field({ type: ApprovalSnapshot, description: "What is asked.", resolve: ({ body }) => body.request }),
    approval: t.prismaField({
      type: Approval,
      nullable: true,
      description: "The approval as it stands now.",
      resolve: (query, { body }, _args, context) => approvalByRow(context, body.request.approvalId, query),
    }),
  }),
});

const ApprovalEvent = builder
  .interfaceRef<EventView<BodyOf<"PERMISSION_DECIDED" | "PERMISSION_CLOSED">>>("ApprovalEvent")
  .implement({
    description: "What became of an approval.",
    interfaces: [TimelineEvent],
    fields: (t) => ({
      approvalId: t.id({ description: "The approval.", resolve: ({ body }) => globalId("Approval", body.approvalId) }),
      callId: t.id({
        nullable: true,
        description: "The call that it is about; null where it is about something else.",
        resolve: ({ body }) => body.callId,
      }),
      approvalState: t.field({
        type: ApprovalState,
        description: "PENDING where more people must allow it.",
        resolve: ({ body }) => body.approvalState,
      }),
      note: t.string({ nullable: true, description: "Why.", resolve: ({ body }) => body.note }),
      approval: t.prismaField({
        type: Approval,
        nullable: true,
        description: "The approval as it stands now.",
        resolve: (query, { body }, _args, context) => approvalByRow(context, body.approvalId, query),
      }),
    }),
  });

eventType("PERMISSION_DECIDED").implement({
  description: "A person decided.",
  interfaces: [TimelineEvent, ApprovalEvent],
  fields: (t) => ({
    decision: t.field({ type: ApprovalDecision, description: "What they said.", resolve: ({ body }) => body.decision }),
    decidedBy: t.field({ type: ActorRef, description: "Who decided.", resolve: ({ body }) => body.decidedBy }),
    onBehalfOf: t.field({
      type: ActorRef,
      nullable: true,
      description: "The actor in whose name it was decided; null for their own.",
      resolve: ({ body }) => body.onBehalfOf,
    }),
    missingDecisions: t.int({
      description: "How many people must still allow it.",
      resolve: ({ body }) => body.missingDecisions,
    }),
    allowedHash: t.string({
      nullable: true,
      description: "The hash of the input that was allowed; not the request's if the person changed it.",
      resolve: ({ body }) => body.allowedHash,
    }),
    allowRuleId: t.id({
      nullable: true,
      description: "The rule that a yes to a host keeps for the agent; null where none is kept.",
      resolve: ({ body }) => (body.allowRuleId === null ? null : globalId("AllowRule", body.allowRuleId)),
    }),
  }),
});

eventType("PERMISSION_CLOSED").implement({
  description: "Nothing is left to decide: EXPIRED, SEALED with its turn, or STALE because something else would run now.",
  interfaces: [TimelineEvent, ApprovalEvent],
});
