import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type pg from "pg";
import { KeyedSemaphore } from "../../lib/keyed-semaphore.ts";
import { sizeOf } from "../../lib/size.ts";
import { messageOf } from "../../lib/text.ts";
import type { Statement } from "../sql.ts";
import { leavesConnection } from "../storage-error.ts";
import { ANSWER_MS, queryPrepared } from "./prepared-query.ts";

/**
 * The tenant of a reading operation, and the signal of its end; null for an operation that continues after its caller
 * has left.
 */
export type CurrentReader = { readonly tenant: string; readonly signal: AbortSignal | null };

/** The most bytes that one operation may read, as characters of its rows, far above any client's needs. */
export const READ_BYTES = 32 * 1024 * 1024;

/** A secret mark: Prisma's messages contain clients' texts, which must not be mistaken for these. */
const MARK = randomUUID();

const ENDED = { left: `who asked has left (${MARK})`, tooMuch: `the operation reads too much (${MARK})` } as const;

export function endOfReads(error: unknown): keyof typeof ENDED | null {
  if (!(error instanceof Error)) return null;
  if (error.message.includes(ENDED.tooMuch)) return "tooMuch";
  return error.message.includes(ENDED.left) ? "left" : null;
}

type End = { readonly full: AbortController; readonly signal: AbortSignal };

function endFor(reader: AbortSignal | null): End {
  const full = new AbortController();
  return { full, signal: reader === null ? full.signal : AbortSignal.any([reader, full.signal]) };
}

class Operation {
  readonly tenant: string;
  /** Null for an operation without a reader until it reads: most pages of subscriptions come from memory. */
  #end: End | null;
  #left = READ_BYTES;

  constructor({ tenant, signal }: CurrentReader) {
    this.tenant = tenant;
    this.#end = signal === null ? null : endFor(signal);
  }

  get signal(): AbortSignal {
    return this.#ending().signal;
  }

  check(): void {
    const { full, signal } = this.#ending();
    if (full.signal.aborted) throw new Error(ENDED.tooMuch);
    if (signal.aborted) throw new Error(ENDED.left);
  }

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

/** True if reads ended for another operation: Prisma merges concurrent reads by id, across operations. */
export function isEndOfOthers(error: unknown): boolean {
  return endOfReads(error) !== null && current.getStore()?.signal.aborted !== true;
}

function readingTenant(): string | null {
  return current.getStore()?.tenant ?? null;
}

/** Runs `work` for a reader: its statements end when the reader leaves, and are bounded together. */
export function withReader<Result>(reader: CurrentReader, work: () => Result): Result {
  return current.run(new Operation(reader), work);
}

/** Runs `work` as a piece of an operation with its own read bound, for an operation that drops each piece before the next. */
export function readPiece<Result>(work: () => Result): Result {
  const operation = current.getStore();
  return operation === undefined ? work() : withReader(operation, work);
}

export function detached<Result>(work: () => Result): Result {
  return current.exit(work);
}

const CANCEL: Statement = { name: "cancel_backend", text: "SELECT pg_cancel_backend($1)" };

type Query = { readonly text: string; readonly name?: string };
type Ask = (asked: Query | string, values?: unknown[]) => Promise<Pick<pg.QueryResult, "rows">>;

function askBy(client: pg.PoolClient, answerMs: number): Ask {
  const query = client.query.bind(client);
  return async (asked, values) => {
    const { name, ...config } = typeof asked === "string" ? { text: asked } : asked;
    if (name !== undefined) return { rows: await queryPrepared({ query }, { name, text: config.text }, values ?? [], answerMs) };
    const timed = { ...config, query_timeout: answerMs };
    return query(timed, values);
  };
}

type ReadersBounds = {
  readonly pool: pg.Pool;
  readonly turns: KeyedSemaphore;
  readonly cancelling: pg.Pool;
  readonly tell: (message: string) => void;
};

/**
 * Bounds the use of a readers' pool: one tenant leaves connections to others. Statements are cancelled in the database
 * when their reader has left, or has read too much. Cancelling uses another pool, since this one may have no free
 * connection. `tell` is called if it fails: the statement then ends by its own time limit. Prisma takes a connection
 * for transactions over several ids, and otherwise queries the pool: both are bounded.
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
  // The driver's overloads describe one function each; only the form with a promise is used here.
  pool.connect = connect as pg.Pool["connect"];
  pool.query = query as pg.Pool["query"];
}

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
      // The end of a transaction always runs.
      const text = typeof asked === "string" ? asked : asked.text;
      if (text === "COMMIT" || text === "ROLLBACK") return await ask(asked, values);
      const result = await cancellable(asked, values);
      operation.count(result.rows);
      return result;
    } catch (error) {
      // The reason rather than the cancellation: a late one may hit the end of the transaction.
      operation.check();
      throw error;
    }
  };
  return lent(client, query, (error) => {
    end();
    // A late cancellation must not hit the next statement of the connection.
    return error ?? signal.aborted;
  });
}

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
 * Runs a statement on a connection of a pool whose connections have an error listener. After a failure the connection
 * is kept if PostgreSQL answered about the statement: a new one, with its prepared statements, takes longer than a
 * commit.
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

const currentTenant = new AsyncLocalStorage<string>();

export function forTenant<Result>(tenant: string, work: () => Result): Result {
  return currentTenant.run(tenant, work);
}

export function tenantTurns(connections: number): KeyedSemaphore {
  return new KeyedSemaphore(Math.max(1, Math.floor((connections * 2) / 3)));
}

/**
 * Runs a statement in its tenant's turn: the other connections are for other tenants (invariant 13). Statements without
 * a tenant do not wait.
 */
export function inTurn<Result>(turns: KeyedSemaphore, ask: () => Promise<Result>): Promise<Result> {
  const tenant = currentTenant.getStore() ?? readingTenant();
  return tenant === null ? ask() : turns.run(tenant, ask);
}
