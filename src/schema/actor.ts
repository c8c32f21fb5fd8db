import type { ActorRef as Actor } from "../events/actor-ref.ts";
import { actorOfGlobalId } from "../lib/global-id.ts";
import { builder } from "./builder.ts";
import { ActorKind } from "./enums.ts";

export const ActorRef = builder.objectRef<Actor>("ActorRef");

builder.node(ActorRef, {
  description: "A person, a program or the server itself, wherever one stands.",
  id: {
    description: "The same wherever this actor stands. Inputs that name an actor take it.",
    resolve: ({ kind, id }) => `${kind}:${id}`,
  },
  loadOne: (id) => actorOfGlobalId(Buffer.from(`ActorRef:${id}`).toString("base64")),
  fields: (t) => ({
    kind: t.expose("kind", { type: ActorKind, description: "What the actor is." }),
    actorId: t.exposeString("id", {
      description: "The id under which the configuration, or the operator's own sign-in, knows the actor. Inputs take it, too.",
    }),
    name: t.string({
      nullable: true,
      description: "What the actor is called; null if nobody said so, or where it was erased.",
      resolve: (actor, _args, { loaders }) => loaders.actorNames.load(actor),
    }),
  }),
});
