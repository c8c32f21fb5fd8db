import type { ActorRef as Actor } from "../events/snapshots.ts";
import { actorOfGlobalId } from "../lib/global-id.ts";
import { builder } from "./builder.ts";
import { ActorKind } from "./enums.ts";

export const ActorRef = builder.objectRef<Actor>("ActorRef");

builder.node(ActorRef, {
  description: "A person, a program or the server itself.",
  id: {
    description: "Relay id of the actor, the same everywhere. Inputs that name an actor accept it.",
    resolve: ({ kind, id }) => `${kind}:${id}`,
  },
  loadOne: (id) => actorOfGlobalId(Buffer.from(`ActorRef:${id}`).toString("base64")),
  fields: (t) => ({
    kind: t.expose("kind", { type: ActorKind, description: "Kind of actor." }),
    actorId: t.exposeString("id", {
      description:
        "Id of the actor in the configuration or in the operator's `authenticate`. Inputs that name an actor accept it too.",
    }),
    name: t.string({
      nullable: true,
      description: "Display name. Null if unknown or erased.",
      resolve: (actor, _args, { loaders }) => loaders.actorNames.load(actor),
    }),
  }),
});
