import type { ActorRef } from "../events/actor-ref.ts";
import { actorOfGlobalId } from "../lib/global-id.ts";
import { namesIn } from "./names.ts";

/** An actor as inputs name them: the Relay id of an ActorRef, or the actor's own id. */
export type ActorNameOrId = string;

/** The own ids of actors. */
export function actorIds(actors: readonly ActorNameOrId[]): string[] {
  return namesIn(actors.map((actor) => actorOfGlobalId(actor)?.id ?? actor));
}

/** The actor that an input names. One that is named by their own id is taken for a person. */
export function actorNamed(actor: ActorNameOrId): ActorRef {
  return actorOfGlobalId(actor) ?? { kind: "USER", id: actor };
}
