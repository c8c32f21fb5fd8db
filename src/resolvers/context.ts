import { GraphQLError } from "graphql";
import type { SignIn } from "../agent/actors/access-token.ts";
import { eachProblem, type Actor, type CommandRefusal, readsTenant, type Outcome } from "../agent/actors/actor.ts";
import type { ImageOfTenant } from "../agent/conversation/images.ts";
import type { AgentServices } from "../agent/loop/scope.ts";
import type { PrismaReads } from "../db/database.ts";
import type { ConfiguredConsumer } from "../deliveries/consumers.ts";
import type { Prisma } from "../db/generated/client.ts";
import { type LogHead, type CursorRefusal, formatCursor } from "../events/cursor.ts";
import type { RetentionPolicy } from "../events/retention.ts";
import { KeyedSemaphore } from "../lib/keyed-semaphore.ts";
import type { Result } from "../lib/result.ts";
import type { Loaders } from "./loaders.ts";

export type Context = {
  readonly actor: Actor;
  /** How the actor signed in for this operation. */
  readonly signIn: SignIn;
  readonly tenant: string;
  readonly loaders: Loaders;
  readonly prisma: PrismaReads;
  readonly services: AgentServices;
  readonly expensive: ExpensiveReads;
  /** A temporary address of an image for an actor. */
  readonly imageUrl: (actor: Pick<Actor, "id">, image: ImageOfTenant) => string;
  /** A temporary address of an export's file for an actor, by the sign-in of this operation. */
  readonly exportUrl: (
    holder: { readonly actor: Pick<Actor, "id" | "kind" | "tenant">; readonly signIn: SignIn },
    exportId: string,
  ) => string;
  /** The points that the actor has left, and the price of this operation. */
  readonly room: OperationRoom;
  /** Facts of this server for administrators. */
  readonly operator: OperatorFacts;
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

export type OperatorFacts = {
  /** Of `performance.now()`. */
  readonly startedAt: number;
  readonly retention: RetentionPolicy;
  readonly consumersOf: (tenant: string) => readonly ConfiguredConsumer[];
};

export type RateLimit = {
  readonly limit: number;
  readonly cost: number;
  readonly remaining: number;
  /** The time at which all points are available again without further requests. */
  readonly resetAt: Date;
};

export type OperationRoom = {
  /** Takes the price from the actor's points. Throws a typed error if there are too few. */
  charge(price: number): void;
  /** Counts a subscription until the returned function is called. Throws a typed error at the actor's limit. */
  open(): () => void;
  state(): RateLimit;
};

/** The limits of expensive reads: concurrent ones a tenant, and waiting ones an actor and a tenant. One read keeps a database core busy. */
const MOST = { reading: 1, waiting: 20 };

/**
 * The queue of reads over many rows, such as statistics. One runs a tenant at a time, so that no tenant occupies all
 * connections of readers (invariant 13). An actor has one place in the queue of the tenant: the actor's reads wait for each other.
 */
export class ExpensiveReads {
  readonly #turns = new KeyedSemaphore(MOST.reading);
  readonly #places = new KeyedSemaphore(MOST.reading);
  readonly #many = new KeyedSemaphore(MOST.reading);

  /** Throws TOO_BUSY if too many wait already. */
  async run<Result>({ tenant, kind, id }: Pick<Actor, "tenant" | "kind" | "id">, read: () => Promise<Result>): Promise<Result> {
    const own = JSON.stringify([tenant, kind, id]);
    if (this.#places.waiting(own) >= MOST.waiting)
      throw clientError("TOO_BUSY", `${MOST.waiting} expensive reads of yours are already waiting: try again later`);
    return this.#places.run(own, () => {
      if (this.#turns.waiting(tenant) >= MOST.waiting)
        throw clientError("TOO_BUSY", `${MOST.waiting} expensive reads of this tenant are already waiting: try again later`);
      return this.#turns.run(tenant, read);
    });
  }

  /** The same for many reads of one operation: they wait for each other, and none is refused. */
  async inTurn<Result>(tenant: string, read: () => Promise<Result>): Promise<Result> {
    return this.#many.run(tenant, read);
  }
}

export type ErrorCode =
  | CursorRefusal["code"]
  | "BAD_USER_INPUT"
  | "NOT_FOUND"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "TOO_MANY_OPERATIONS"
  | "DOCUMENT_TOO_LARGE"
  | "UNKNOWN_DOCUMENT"
  | "UNTRUSTED_DOCUMENT"
  | "OPERATION_RESOLUTION_FAILURE"
  | "TOO_BUSY"
  | "TOO_SLOW"
  | "ANSWER_TOO_LARGE";

/** An error that is shown to the client unchanged. */
export function clientError(code: ErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, {
    extensions: { code, http: { status: code === "UNAUTHENTICATED" ? 401 : code === "FORBIDDEN" ? 403 : 200 } },
  });
}

export type UserError = CommandRefusal;

/** The condition for agents that the actor may see. Every read of rows has it (invariant 12). */
export function visibleAgents(actor: Actor): Prisma.AgentWhereInput {
  if (readsTenant(actor)) return { tenant: actor.tenant };
  return { tenant: actor.tenant, createdBy: actor.roles.includes("user") ? actor.id : { in: [] } };
}

/** The creator whose agents' events the actor may see: null for all of the tenant. */
export function visibleCreator(actor: Actor): string | null {
  return readsTenant(actor) ? null : actor.id;
}

/** The number of these agents that the actor may see, so that hidden and missing ones are alike. */
export async function countVisible({ prisma, actor }: Context, agentIds: readonly string[]): Promise<number> {
  return prisma.agent.count({ where: { AND: [visibleAgents(actor), { id: { in: [...agentIds] } }] } });
}

export type Payload = {
  readonly rowId: string | null;
  readonly cursor: string;
  readonly userErrors: readonly UserError[];
};

/**
 * The payload of a mutation. Its cursor is that of its newest event, or the head of the log without one; never an
 * expired one. Its rows are read again: earlier mutations of the document may have cached them.
 */
export async function payloadOf(context: Context, result: Result<Outcome, UserError>): Promise<Payload> {
  context.anew();
  const head = await context.snapshot();
  if (!result.ok) return { rowId: null, cursor: formatCursor(head, head.position), userErrors: eachProblem(result.refusal) };
  const { id, position } = result.value;
  return { rowId: id, cursor: formatCursor(head, Math.max(position ?? head.position, head.floor)), userErrors: [] };
}
