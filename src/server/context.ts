import type { Actor } from "../agent/actor.ts";
import type { LogHead } from "../events/cursor.ts";
import type { Context } from "../resolvers/context.ts";

/** What all operations share. */
export type SharedContext = Pick<Context, "prisma" | "parts" | "tails" | "wake">;

/** The context of one operation of this actor. */
export function makeContext(shared: SharedContext, actor: Actor): Context {
  let head: Promise<LogHead> | null = null;
  return {
    ...shared,
    actor,
    snapshot: () => (head ??= shared.parts.log.head(actor.tenant)),
    renew: () => {
      head = null;
    },
  };
}
