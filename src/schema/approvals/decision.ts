import { builder } from "../builder.ts";
import { ActorRef } from "../actor.ts";
import { ApprovalDecision } from "../enums.ts";

builder.prismaObject("Decision", {
  name: "Decision",
  description: "Decision of one person on an approval.",
  fields: (t) => ({
    decision: t.expose("decision", { type: ApprovalDecision, description: "The decision." }),
    decidedBy: t.field({
      type: ActorRef,
      description: "Actor that decided.",
      select: { actorId: true, actorKind: true },
      resolve: ({ actorId, actorKind }) => ({ id: actorId, kind: actorKind }),
    }),
    onBehalfOf: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor on whose behalf it was decided. Null if the actor decided in their own name.",
      select: { onBehalfOf: true, onBehalfOfKind: true },
      resolve: ({ onBehalfOf, onBehalfOfKind }) =>
        onBehalfOf === null ? null : { id: onBehalfOf, kind: onBehalfOfKind ?? "USER" },
    }),
    note: t.exposeString("note", { nullable: true, description: "Note given with the decision." }),
    input: t.expose("input", {
      type: "JSON",
      nullable: true,
      description: "Input that was allowed instead of the requested one. Null if the decision did not change it.",
    }),
    decidedAt: t.expose("decidedAt", { type: "DateTime", description: "Time of the decision." }),
    erasedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time at which note and input were erased, together with those of the approval. Null if they were not erased.",
      select: { approval: { select: { erasedAt: true } } },
      resolve: ({ approval }) => approval.erasedAt,
    }),
  }),
});
