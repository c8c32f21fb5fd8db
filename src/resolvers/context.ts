import type { Actor } from "../agent/actors/actor.ts";
import type { AgentServices } from "../agent/loop/services.ts";
import type { PrismaReads } from "../db/database.ts";
import type { ImageOfTenant } from "../agent/conversation/images.ts";
import type { LogHead } from "../events/cursor.ts";
import type { Loaders } from "./loaders.ts";
import type { OperationRoom } from "./rate-limit.ts";
import type { ExpensiveReads } from "./expensive-reads.ts";

/** The context of one operation. */
export type Context = {
  readonly actor: Actor;
  /** The tenant whose rows are read. */
  readonly tenant: string;
  readonly loaders: Loaders;
  readonly prisma: PrismaReads;
  /** The services of the tenant. */
  readonly services: AgentServices;
  readonly expensive: ExpensiveReads;
  /** The address at which an actor finds an image of their tenant for some minutes. */
  readonly imageUrl: (actor: Pick<Actor, "id">, image: ImageOfTenant) => string;
  /** The room that the actor has for operations, and the price of this one. */
  readonly room: OperationRoom;
  /** Lets an agent go on after something was committed for it. */
  readonly wake: (agentId: string) => void;
  /**
   * The head of the tenant's log, read before the operation's rows and kept: whoever subscribes since it misses
   * nothing that the rows do not show.
   */
  readonly snapshot: () => Promise<LogHead>;
  /** Begins an answer anew, with a later snapshot and loaders that know nothing: a mutation changes what was read before it. */
  readonly anew: () => void;
};
