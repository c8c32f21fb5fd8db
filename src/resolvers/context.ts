import type { Actor } from "../agent/actors/actor.ts";
import type { AgentServices } from "../agent/loop/scope.ts";
import type { PrismaReads } from "../db/database.ts";
import type { ImageOfTenant } from "../agent/conversation/images.ts";
import type { LogHead } from "../events/cursor.ts";
import type { Loaders } from "./loaders.ts";
import type { OperationRoom } from "./rate-limit.ts";
import type { ExpensiveReads } from "./expensive-reads.ts";

export type Context = {
  readonly actor: Actor;
  readonly tenant: string;
  readonly loaders: Loaders;
  readonly prisma: PrismaReads;
  readonly services: AgentServices;
  readonly expensive: ExpensiveReads;
  /** A temporary address of an image for an actor. */
  readonly imageUrl: (actor: Pick<Actor, "id">, image: ImageOfTenant) => string;
  /** The points that the actor has left, and the price of this operation. */
  readonly room: OperationRoom;
  /** Wakes an agent's loop after a commit. */
  readonly wake: (agentId: string) => void;
  /**
   * The head of the tenant's log, read and kept before the operation's rows: a subscription from it misses nothing that
   * the rows lack.
   */
  readonly snapshot: () => Promise<LogHead>;
  /** Begins a new answer, with a later snapshot and empty loaders: a mutation changes rows that were read before it. */
  readonly anew: () => void;
};
