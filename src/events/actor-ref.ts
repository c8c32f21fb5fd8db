import type { ActorKind } from "../db/generated/enums.ts";

/** The actor of a change: a person, a service, an agent or the server. */
export type ActorRef = { readonly id: string; readonly kind: ActorKind };

/** The actor of what the server does by itself: the end of a delegation whose time is up, a configuration with which it was started. */
export const SERVER: ActorRef = { id: "triplane", kind: "SYSTEM" };
