import type { Actor } from "../agent/actor.ts";
import type { LogHead } from "../events/cursor.ts";
import type { Context } from "../resolvers/context.ts";

/** What all operations share. */
export type SharedContext = Pick<Context, "prisma" | "parts" | "tails" | "wake">;

/** How long an admission counts without being asked again, in ms. */
const ADMITTED_MS = 5_000;

/** Who asks, as authentication says now. */
export type Admission = () => Promise<Actor | null>;

/** The context of one operation of this actor, who was admitted just now. */
export function makeContext(shared: SharedContext, actor: Actor, admission: Admission): Context {
  let askedAt = performance.now();
  let head: Promise<LogHead> | null = null;
  return {
    ...shared,
    actor,
    snapshot: () => (head ??= shared.parts.log.head(actor.tenant)),
    isStillAdmitted: async () => {
      if (performance.now() - askedAt < ADMITTED_MS) return true;
      askedAt = performance.now();
      const now = await admission();
      return now?.id === actor.id && now.tenant === actor.tenant && String(now.roles) === String(actor.roles);
    },
    renew: () => {
      head = null;
    },
  };
}
