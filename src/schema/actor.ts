import type { ActorRef as Actor } from "../events/event.ts";
import { builder } from "./builder.ts";
import { ActorKind } from "./enums.ts";

export const ActorRef = builder.objectRef<Actor>("ActorRef").implement({
  description: "Who did something.",
  fields: (t) => ({
    id: t.exposeID("id"),
    kind: t.expose("kind", { type: ActorKind }),
  }),
});
