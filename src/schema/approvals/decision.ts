import { builder } from "../builder.ts";
import { ActorRef } from "../actor.ts";
import { ApprovalDecision } from "../enums.ts";

builder.prismaObject("Decision", {
  name: "Decision",
  description: "What one person said about an approval.",
  fields: (t) => ({
    decision: t.expose("decision", { type: ApprovalDecision, description: "What they said." }),
    decidedBy: t.field({
      type: ActorRef,
      description: "Who said it.",
      select: { actorId: true, actorKind: true },
      resolve: ({ actorId, actorKind }) => ({ id: actorId, kind: actorKind }),
    }),
    onBehalfOf: t.field({
      type: ActorRef,
      nullable: true,
      description: "The actor in whose name; null for their own.",
      select: { onBehalfOf: true, onBehalfOfKind: true },
      resolve: ({ onBehalfOf, onBehalfOfKind }) =>
        onBehalfOf === null ? null : { id: onBehalfOf, kind: onBehalfOfKind ?? "USER" },
    }),
    note: t.exposeString("note", { nullable: true, description: "What they noted." }),
    input: t.expose("input", {
      type: "JSON",
      nullable: true,
      description: "The input that they gave in the place of the one they saw.",
    }),
    decidedAt: t.expose("decidedAt", { type: "DateTime", description: "When." }),
    erasedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "When its note and its input were erased, with those of the approval; null for one that has them.",
      select: { approval: { select: { erasedAt: true } } },
      resolve: ({ approval }) => approval.erasedAt,
    }),
  }),
});
