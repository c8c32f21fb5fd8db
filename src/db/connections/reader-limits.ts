import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { sizeOf } from "../../lib/size.ts";
import { messageOf } from "../../lib/text.ts";
import type { Turns } from "../../lib/turns.ts";
import { leavesConnection } from "../error-class.ts";
import { ANSWER_MS, queryPrepared } from "./prepared-query.ts";
import type { Statement } from "../sql.ts";

/** Whose operation reads now, and whether they still want to know; null for an operation that goes on when who asked has left. */
export type CurrentReader = { readonly tenant: string; readonly signal: AbortSignal | null };

/** The most bytes that one operation may read, as characters of its rows: no client asks for as much at once. */
export const READ_BYTES = 32 * 1024 * 1024;

/** Nobody else can know it: Prisma's messages hold texts of clients, which must not be taken for these. */
const MARK = randomUUID();

/** Why an operation reads no further, as the message of the error by which its statements end: Prisma passes on no more. */
const ENDED = { left: `who asked has left (${MARK})`, tooMuch: `the operation reads too much (${MARK})` } as const;

/** Why the reads of an operation ended; null for an error that is about something else. */
export function endOfReads(error: unknown): keyof typeof ENDED | null {
  if (!(error instanceof Error)) return null;
  if (error.message.includes(ENDED.tooMuch)) return "tooMuch";
  return error.message.includes(ENDED.left) ? "left" : null;
}

/** The end of an operation: too much was read, or the reader has left. Yoga's own signals tell of that by their event alone. */
type End = { readonly full: AbortController; readonly signal: AbortSignal };

function endFor(reader: AbortSignal | null): End {
  const full = new AbortController();
  return { full, signal: reader === null ? full.signal : AbortSignal.any([reader, full.signal]) };
}

/** An operation, with what it may still read. */
class Operation {
  readonly tenant: string;
  /** Null for an operation that nobody leaves until it reads: most pages of subscriptions come from memory. */
  #end: End | null;
  #left = READ_BYTES;

  constructor({ tenant, signal }: CurrentReader) {
    this.tenant = tenant;
    this.#end = signal === null ? null : endFor(signal);
  }

  /** Aborts when the reader leaves, or when too much was read: what the operation reads besides is of no use. */
  get signal(): AbortSignal {
    return this.#ending().signal;
  }

  /** Throws if nothing more is to be read. */
  check(): void {
    const { full, signal } = this.#ending();
    if (full.signal.aborted) throw new Error(ENDED.tooMuch);
    if (signal.aborted) throw new Error(ENDED.left);
  }

  /** Counts rows that were read. Throws if they are too many for one operation. */
  count(rows: readonly unknown[]): void {
    this.#left -= sizeOf(rows);
    if (this.#left < 0) this.#ending().full.abort();
    this.check();
  }

  #ending(): End {
    return (this.#end ??= endFor(null));
  }
}

const current = new AsyncLocalStorage<Operation>();

/**
 * True if reads ended for another operation than the present one: Prisma makes reads of rows by their ids together that
 * were asked for at the same time, whoever asked.
 */
export function isEndOfOthers(error: unknown): boolean {
  return endOfReads(error) !== null && current.getStore()?.signal.aborted !== true;
}

/** The tenant whose operation reads now; null if none does. */
export function readingTenant(): string | null {
  return current.getStore()?.tenant ?? null;
}

/** Does `work` for a reader: statements that it begins end when the reader leaves, and all of them together are bounded. */
export function readFor<Result>(reader: CurrentReader, work: () => Result): Result {
  return current.run(new Operation(reader), work);
}

/**
 * Does `work`, one of the pieces of an operation that forgets each before the next: what it reads is bounded for itself. All
 * else is as for the operation.
 */
export function readPiece<Result>(work: () => Result): Result {
  const operation = current.getStore();
  return operation === undefined ? work() : readFor(operation, work);
}

/** Does `work` for no reader: what it begins outlives the operation in which it is begun. */
export function forNobody<Result>(work: () => Result): Result {
  return current.exit(work);
}

/** PostgreSQL ends a statement of this connection, if it still runs. */
const CANCEL: Statement = { name: "cancel_backend", text: "SELECT pg_cancel_backend($1)" };

/** A statement of ours, which has a name, or one of Prisma's. */
type Query = { readonly text: string; readonly name?: string };
type Ask = (asked: Query | string, values?: unknown[]) => Promise<Pick<pg.QueryResult, "rows">>;

/** Asks by a connection, which keeps our own statements prepared, and is not to be used again if no answer comes in time. */
function askBy(client: pg.PoolClient, answerMs: number): Ask {
  const query = client.query.bind(client);
  return async (asked, values) => {
    const { name, ...config } = typeof asked === "string" ? { text: asked } : asked;
    if (name !== undefined) return { rows: await queryPrepared({ query }, { name, text: config.text }, values ?? [], answerMs) };
    const timed = { ...config, query_timeout: answerMs };
    return query(timed, values);
  };
}

/** A pool of readers, the turns of their tenants, the pool by which statements are cancelled, and who hears when that fails. */
type ReadersBounds = {
  readonly pool: pg.Pool;
  readonly turns: Turns;
  readonly cancelling: pg.Pool;
  readonly tell: (message: string) => void;
};

/**
 * Bounds what readers may use of a pool: one tenant's leave connections to others, and statements are cancelled in the
 * database when the reader that they are for has left, or has read too much. The cancelling goes through another pool,
 * since this one may have no connection to spare; `tell` hears when it fails: that statement ends by its own time limit.
 * Prisma takes a connection if it reads several rows by their ids in a transaction, and asks the pool otherwise: both
 * are bounded.
 */
export function boundReaders({ pool, turns, cancelling, tell }: ReadersBounds, answerMs = ANSWER_MS): void {
  const take = pool.connect.bind(pool);
  const cancel = (process: number): void => {
    onConnection(
      () => cancelling.connect(),
      (client) => queryPrepared(client, CANCEL, [process]),
    ).catch((error: unknown) => tell(`a statement that no reader waits for could not be cancelled (${messageOf(error)})`));
  };
  const connect = async (): Promise<pg.PoolClient> => {
    const operation = current.getStore();
    if (operation === undefined) {
      const client = await take();
      return lent(client, askBy(client, answerMs), (error) => error);
    }
    operation.check();
    const end = await turns.take(operation.tenant);
    try {
      operation.check();
      const client = await take();
      return bounded(client, askBy(client, answerMs), operation, cancel, end);
    } catch (error) {
      end();
      throw error;
    }
  };
  const query: Ask = (asked, values) =>
    onConnection(connect, (client) => client.query(typeof asked === "string" ? { text: asked } : asked, values));
  // The overloads of the driver's functions describe one function each; only the form with a promise is used here.
  pool.connect = connect as pg.Pool["connect"];
  pool.query = query as pg.Pool["query"];
}

/** The connection, until it is released, for one operation. */
function bounded(
  client: pg.PoolClient,
  ask: Ask,
  operation: Operation,
  cancelProcess: (process: number) => void,
  end: () => void,
): pg.PoolClient {
  const { signal } = operation;
  const cancel = (): void => {
    if ("processID" in client && typeof client.processID === "number") cancelProcess(client.processID);
  };
  /** Asks; the statement is cancelled if the operation ends while the statement runs. */
  const cancellable: Ask = async (asked, values) => {
    operation.check();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await ask(asked, values);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
  const query: Ask = async (asked, values) => {
    try {
      // What ends a transaction is always done.
      const text = typeof asked === "string" ? asked : asked.text;
      if (text === "COMMIT" || text === "ROLLBACK") return await ask(asked, values);
      const result = await cancellable(asked, values);
      operation.count(result.rows);
      return result;
    } catch (error) {
      // Why it was cancelled, instead of that it was: a cancelling that comes late may meet the end of the transaction.
      operation.check();
      throw error;
    }
  };
  return lent(client, query, (error) => {
    end();
    // The cancelling may still be under way: it must not meet the next statement of the connection.
    return error ?? signal.aborted;
  });
}

/** The connection, which asks by `ask` until it is released. */
function lent(
  client: pg.PoolClient,
  ask: Ask,
  onRelease: (error: Error | boolean | undefined) => Error | boolean | undefined,
): pg.PoolClient {
  const give = client.release.bind(client);
  const release: pg.PoolClient["release"] = (error) => {
    Reflect.deleteProperty(client, "query");
    give(onRelease(error));
  };
  client.query = ask as pg.PoolClient["query"];
  client.release = release;
  return client;
}

/**
 * Does `work`, a statement, by a connection of a pool whose connections have a listener of errors. A connection on which it fails is
 * kept if PostgreSQL has answered about the statement: to make one, and to prepare its statements, takes longer than a commit.
 */
export async function onConnection<Result>(
  connect: () => Promise<pg.PoolClient>,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    if (leavesConnection(error)) client.release();
    else client.release(error instanceof Error ? error : true);
    throw error;
  }
}
