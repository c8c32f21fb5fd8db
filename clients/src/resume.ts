import { closeCodeOf, FATAL, reasonOf, REFUSED } from "./close-codes.ts";
import { codeOf, isCursorCode, problemOf, ResumeError, type Problem, type ResumeErrorCode } from "./errors.ts";
import {
  AttemptRefused,
  CredentialsRefused,
  TransportDisposed,
  type Request,
  type Result,
  type ServerError,
  type Sink,
  type Transport,
} from "./transport.ts";

/** The server's database does not answer: events wait. */
export type Outage = { readonly since: string; readonly bufferedEvents: number };

/** The state of a subscription. */
export type ResumeStatus =
  /** An attempt is made; `failures` went wrong since a stream last stood for a while. */
  | { readonly kind: "connecting"; readonly failures: number }
  /** Pages come, and what is shown is not yet the present. */
  | { readonly kind: "catching up"; readonly cursor: string }
  /** What is shown is the present. */
  | { readonly kind: "caught up"; readonly cursor: string }
  /** The connection stands, and the server's database is away. */
  | { readonly kind: "outage"; readonly cursor: string; readonly outage: Outage }
  /** The connection was lost; the next attempt is made in `waitMs`. */
  | { readonly kind: "lost"; readonly cursor: string | null; readonly error: Problem; readonly waitMs: number }
  /** It is over: null if the server ended it, else why. */
  | { readonly kind: "ended"; readonly cursor: string | null; readonly error: Problem | null };

/** The options by which subscriptions resume. */
export type ResumeOptions = {
  readonly onStatus?: (status: ResumeStatus) => void;
  /**
   * The wait after so many failures in a row, in ms. By default 0.25 s, doubled up to 10 s, at random less. A stream that is cut
   * before it has stood for 10 s is a failure, too, though pages came: something on the way may cut each.
   */
  readonly waitMs?: (failures: number) => number;
  /** The variable that the operation passes as `since`. By default `since`. */
  readonly sinceVariable?: string;
};

/** As ResumeOptions, if one link or exchange serves many operations: the status says whose it is. */
export type ManyResumeOptions<Operation> = Omit<ResumeOptions, "onStatus"> & {
  readonly onStatus?: (status: ResumeStatus, operation: Operation) => void;
};

/** The part of an operation's context that is told the state of this one subscription. */
export type StatusContext = { readonly onResumeStatus?: (status: ResumeStatus) => void };

/** The options for one operation of many. */
export function optionsFor<Operation>(
  { onStatus, ...options }: ManyResumeOptions<Operation>,
  operation: Operation,
  { onResumeStatus }: StatusContext,
): ResumeOptions {
  return {
    ...options,
    onStatus: (status) => {
      onStatus?.(status, operation);
      onResumeStatus?.(status);
    },
  };
}

/** A stream that has stood for so long, in ms, ends a row of failures. */
const STEADY_MS = 10_000;
/** After so many answers in a row that are the server's fault, not the network's, it is given up. */
const SERVER_FAILURES = 8;
/** A token that was refused is asked for so often again, in some seconds, before the subscription ends. */
const SAME_TOKENS = 4;
/** Answers that would be the same the next time. One that the client does not know may come from a newer server, and is tried again. */
const FINAL_CODES: ReadonlySet<unknown> = new Set([
  undefined,
  "FORBIDDEN",
  "NOT_FOUND",
  "BAD_USER_INPUT",
  "BAD_REQUEST",
  "DOCUMENT_TOO_LARGE",
  "UNKNOWN_DOCUMENT",
  "UNTRUSTED_DOCUMENT",
  "ANSWER_TOO_LARGE",
  "GRAPHQL_PARSE_FAILED",
  "GRAPHQL_VALIDATION_FAILED",
  "OPERATION_RESOLUTION_FAILURE",
  "REQUEST_ENTITY_TOO_LARGE",
]);
/** Answers that pass, however long that takes: a database that is away comes back, and so does the room of an actor. */
const PASSING_CODES: ReadonlySet<unknown> = new Set(["STORAGE_UNAVAILABLE", "RATE_LIMITED"]);

/**
 * Subscribes, and stays subscribed: after each loss of the connection it subscribes again `since` the last page's
 * `cursor`, so that every event comes once and in order, whatever happens in between. Ends with `complete` if the
 * server ends the stream (`until`), with a `ResumeError` if it cannot go on, and, if the server refuses the
 * operation with its errors as a result. Returns the end of the subscription.
 */
export function resume<Data>(
  transport: Transport,
  request: Request,
  sink: Sink<Result<Data>>,
  options: ResumeOptions = {},
): () => void {
  const subscription = new Subscription(transport, request, sink, options);
  subscription.begin();
  return () => subscription.end();
}

class Subscription<Data> {
  readonly #transport: Transport;
  readonly #request: Request;
  readonly #sink: Sink<Result<Data>>;
  readonly #onStatus: (status: ResumeStatus) => void;
  readonly #waitMs: (failures: number) => number;
  readonly #sinceVariable: string;
  #cursor: string | null;
  #failures = 0;
  #serverFailures = 0;
  #sameTokens = 0;
  /** The time of the attempt's first page; null before it. */
  #stoodSince: number | null = null;
  /** Ends the attempt that is under way, or the wait for the next one. */
  #endAttempt = (): void => {};
  #isOver = false;

  constructor(
    transport: Transport,
    request: Request,
    sink: Sink<Result<Data>>,
    { onStatus = () => {}, waitMs = growingWait, sinceVariable = "since" }: ResumeOptions,
  ) {
    this.#transport = transport;
    this.#request = request;
    this.#sink = sink;
    this.#onStatus = onStatus;
    this.#waitMs = waitMs;
    this.#sinceVariable = sinceVariable;
    this.#cursor = startOf(request, sinceVariable);
  }

  begin(): void {
    if (mayResume(this.#request, this.#sinceVariable)) return this.#attempt();
    this.#fail("NOT_RESUMABLE", `the subscription must have a variable $${this.#sinceVariable}: Cursor, and pass it as since`);
  }

  end(): void {
    this.#isOver = true;
    this.#endAttempt();
  }

  #attempt(): void {
    this.#tell({ kind: "connecting", failures: this.#failures });
    if (this.#isOver) return;
    this.#stoodSince = null;
    // What an attempt says after it has ended counts for nothing.
    let isPast = false;
    const last = (say: () => void): void => {
      if (isPast || this.#isOver) return;
      isPast = true;
      say();
    };
    let stop = (): void => {};
    this.#endAttempt = () => stop();
    stop = this.#transport.subscribe(since(this.#request, this.#sinceVariable, this.#cursor), {
      next: (result) => {
        if (isPast || this.#isOver) return;
        if (result.data !== null && result.data !== undefined) return this.#take(result as Result<Data>);
        last(() => {
          stop();
          this.#refused(result.errors ?? []);
        });
      },
      error: (error) => last(() => this.#broken(error)),
      complete: () => last(() => this.#completed()),
    });
    if (isPast || this.#isOver) stop();
  }

  #take(result: Result<Data>): void {
    const page = pageOf(result.data);
    if (page === null) return this.#fail("NOT_RESUMABLE", "the subscription must select `cursor` and `caughtUp` of its page");
    const { cursor, caughtUp, outage } = page;
    this.#stoodSince ??= performance.now();
    this.#serverFailures = 0;
    this.#sameTokens = 0;
    this.#cursor = cursor;
    guarded(() => this.#sink.next(result));
    if (this.#isOver) return;
    this.#tell(outage === null ? { kind: caughtUp ? "caught up" : "catching up", cursor } : { kind: "outage", cursor, outage });
  }

  /** The server answers the operation with errors. */
  #refused(errors: readonly ServerError[]): void {
    const code = codeOf(errors);
    const message = errors[0]?.message ?? "";
    if (isCursorCode(code)) return this.#fail(code, message, errors);
    if (!PASSING_CODES.has(code)) this.#serverFailures += 1;
    if (!FINAL_CODES.has(code) && this.#serverFailures <= SERVER_FAILURES) return this.#again(errors, retryAfterMsOf(errors));
    if (code === "UNAUTHENTICATED") return this.#fail("CONNECTION_REFUSED", message, errors);
    this.end();
    this.#tell({ kind: "ended", cursor: this.#cursor, error: problemOf(errors) });
    guarded(() => this.#sink.next({ errors }));
    this.#sink.complete();
  }

  /** The connection is lost, or there is none. */
  #broken(error: unknown): void {
    if (Array.isArray(error)) return this.#refused(error as readonly ServerError[]);
    if (error instanceof TransportDisposed) return this.#fail("DISPOSED", error.message, error);
    if (error instanceof CredentialsRefused) return this.#refusedAgain(error);
    if (isRefusal(error)) this.#serverFailures += 1;
    if (isFatal(error) || this.#serverFailures > SERVER_FAILURES)
      return this.#fail("CONNECTION_REFUSED", `the server refuses the connection: ${reasonOf(error)}`, error);
    this.#again(error);
  }

  /** The token that was refused is given again: it may be renewed in a moment, and is not sent meanwhile. */
  #refusedAgain(error: CredentialsRefused): void {
    this.#sameTokens += 1;
    if (this.#sameTokens >= SAME_TOKENS) return this.#fail("CONNECTION_REFUSED", error.message, error);
    this.#again([{ message: error.message, extensions: { code: "UNAUTHENTICATED" } }]);
  }

  #completed(): void {
    this.#isOver = true;
    this.#tell({ kind: "ended", cursor: this.#cursor, error: null });
    this.#sink.complete();
  }

  #again(error: unknown, atLeastMs = 0): void {
    const isSteady = this.#stoodSince !== null && performance.now() - this.#stoodSince >= STEADY_MS;
    this.#failures = isSteady ? 1 : this.#failures + 1;
    const waitMs = Math.max(atLeastMs, this.#waitMs(this.#failures));
    this.#tell({ kind: "lost", cursor: this.#cursor, error: problemOf(error), waitMs });
    if (this.#isOver) return;
    const timer = setTimeout(() => this.#attempt(), waitMs);
    this.#endAttempt = () => clearTimeout(timer);
  }

  #fail(code: ResumeErrorCode, message: string, cause?: unknown): void {
    const error = new ResumeError(code, message, this.#cursor, cause);
    this.end();
    this.#tell({ kind: "ended", cursor: this.#cursor, error });
    this.#sink.error(error);
  }

  #tell(status: ResumeStatus): void {
    guarded(() => this.#onStatus(status));
  }
}

/** What the consumer throws is the consumer's: it must not end the socket that others share. */
function guarded(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function startOf({ variables }: Request, name: string): string | null {
  const given = variables?.[name];
  return typeof given === "string" ? given : null;
}

function since(request: Request, name: string, cursor: string | null): Request {
  return cursor === null ? request : { ...request, variables: { ...request.variables, [name]: cursor } };
}

/** False if the document says itself that it cannot go on from a cursor. One that is sent by an id, or a hash, says nothing. */
function mayResume(request: Request, name: string): boolean {
  return !("query" in request) || request.query === "" || new RegExp(`\\$${name}\\b`).test(request.query);
}

/** The cursor of a page; null if the data is no page. */
export function cursorOf(data: unknown): string | null {
  return pageOf(data)?.cursor ?? null;
}

/** The time after which the server takes the operation again, in ms; 0 if it does not say. */
function retryAfterMsOf(errors: readonly ServerError[]): number {
  const asked = errors[0]?.extensions?.["retryAfterMs"];
  return typeof asked === "number" ? asked : 0;
}

type Page = { readonly cursor: string; readonly caughtUp: boolean; readonly outage: Outage | null };

/** The page of a subscription's one root field. */
function pageOf(data: unknown): Page | null {
  const [root] = typeof data === "object" && data !== null ? (Object.values(data) as unknown[]) : [];
  if (typeof root !== "object" || root === null || !("cursor" in root) || typeof root.cursor !== "string") return null;
  if (!("caughtUp" in root) || typeof root.caughtUp !== "boolean") return null;
  const outage = "outage" in root ? (root.outage as Outage | null) : null;
  return { cursor: root.cursor, caughtUp: root.caughtUp, outage };
}

/** Half of it at random, so that the clients of a server that went away do not come back as one. */
function growingWait(failures: number): number {
  return Math.min(10_000, 250 * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}

function isFatal(error: unknown): boolean {
  return FATAL.has(closeCodeOf(error) ?? 0);
}

/** Not admitted (a new token may help), an HTTP status that refuses, or an error of the server's own. */
function isRefusal(error: unknown): boolean {
  return error instanceof AttemptRefused || REFUSED.has(closeCodeOf(error) ?? 0);
}
