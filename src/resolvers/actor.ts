import type { ActorRef } from "../events/snapshots.ts";
import { actorOfGlobalId } from "../lib/global-id.ts";

/** The Relay id of an ActorRef, or the actor's own id. */
export type ActorNameOrId = string;

export function actorIds(actors: readonly ActorNameOrId[]): string[] {
  return namesIn(actors.map((actor) => actorOfGlobalId(actor)?.id ?? actor));
}

/** An actor's own id stands for a person. */
export function actorNamed(actor: ActorNameOrId): ActorRef {
  return actorOfGlobalId(actor) ?? { kind: "USER", id: actor };
}

/** Storable names: the database rejects queries for others. */
export function namesIn(names: readonly string[]): string[] {
  return names.filter((name) => !name.includes("\0"));
}
