import type { Actor } from "../agent/actors/actor.ts";
import type { AgentServices, ServerServices } from "../agent/loop/services.ts";
import { makeLoaders } from "../resolvers/loaders.ts";
import type { LogHead } from "../events/cursor.ts";
import type { Context } from "../resolvers/context.ts";
import type { RateLimits } from "./rate-limits.ts";

/** The part of the context that all operations share. */
export type SharedContext = Pick<Context, "admittedMs" | "prisma" | "tails" | "wake" | "expensive" | "imageUrl"> & {
  readonly services: ServerServices;
  readonly rateLimits: Pick<RateLimits, "roomOf">;
};

/** The time for which an admission counts without being asked again, in ms: of a stream, at most twice as long. */
export const ADMITTED_MS = 2_500;

/** Asks authentication anew who asks. */
export type Admission = () => Promise<Actor | null>;

/** The context of one operation of this actor, who was admitted just now. */
export function makeContext(shared: SharedContext, actor: Actor, admission: Admission): Context {
  const services = shared.services.of(actor.tenant);
  const now = (): number => services.clock.now().getTime();
  let askedAt = now();
  return {
    ...shared,
    services,
    ...oneAnswer(services, actor.tenant),
    actor,
    room: shared.rateLimits.roomOf(actor),
    tenant: actor.tenant,
    isStillAdmitted: async () => {
      if (now() - askedAt < shared.admittedMs) return true;
      const present = await admission();
      askedAt = now();
      return (
        present?.id === actor.id &&
        present.tenant === actor.tenant &&
        String(present.roles) === String(actor.roles) &&
        String(present.delegators.map(({ id }) => id)) === String(actor.delegators.map(({ id }) => id))
      );
    },
  };
}

/** The part of the context that each answer has anew: its snapshot, and what is read once for it. */
function oneAnswer(services: Pick<AgentServices, "log" | "reads">, tenant: string): Pick<Context, "snapshot" | "loaders"> {
  let head: Promise<LogHead> | null = null;
  const snapshot = (): Promise<LogHead> => (head ??= services.log.head(tenant));
  return { snapshot, loaders: makeLoaders(services.reads, tenant, snapshot) };
}

/** The context in which a page of a subscription is answered for the one who asks: it has a snapshot of its own. */
export function ownPageContext(context: Context): Context {
  return { ...context, ...oneAnswer(context.services, context.tenant) };
}

/**
 * The context in which a page is answered for all who may see the same. Nobody asks: what depended on who does would be
 * shown to others, so that asking is an error.
 */
export function sharedPageContext(context: Context): Context {
  return {
    ...ownPageContext(context),
    get actor(): never {
      throw new Error("a page of a subscription is answered for many: what it shows must not depend on who asks");
    },
  };
}
