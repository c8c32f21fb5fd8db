import type { ActorKind } from "../db/generated/enums.ts";

/** The actor of a change: a person, a service, an agent or the server. */
export type ActorRef = { readonly id: string; readonly kind: ActorKind };

export const SERVER: ActorRef = { id: "triplane", kind: "SYSTEM" };
