import { FATAL, REFUSED } from "./close-codes.ts";
import { codeOf, isCursorCode, ResumeError } from "./errors.ts";
import {
  AttemptRefused,
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
  | { readonly kind: "lost"; readonly cursor: string | null; readonly error: unknown; readonly waitMs: number }
  /** It is over: null if the server ended it, else why. */
  | { readonly kind: "ended"; readonly cursor: string | null; readonly error: unknown };

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
  { onStatus, waitMs = growingWait, sinceVariable = "since" }: ResumeOptions = {},
): () => void {
  let cursor = startOf(request, sinceVariable);
  let failures = 0;
  let serverFailures = 0;
  /** The time of the attempt's first page; null before it. */
  let stoodSince: number | null = null;
  let endAttempt = (): void => {};
  let isOver = false;

  const tell = (status: ResumeStatus): void => guarded(() => onStatus?.(status));
  const end = (): void => {
    isOver = true;
    endAttempt();
  };
  const fail = (error: ResumeError): void => {
    end();
    tell({ kind: "ended", cursor, error });
    sink.error(error);
  };
  const again = (error: unknown, atLeastMs = 0): void => {
    const isSteady = stoodSince !== null && performance.now() - stoodSince >= STEADY_MS;
    failures = isSteady ? 1 : failures + 1;
    const wait = Math.max(atLeastMs, waitMs(failures));
    tell({ kind: "lost", cursor, error, waitMs: wait });
    if (isOver) return;
    const timer = setTimeout(attempt, wait);
    endAttempt = () => clearTimeout(timer);
  };
  const refused = (errors: readonly ServerError[]): void => {
    const code = codeOf(errors);
    if (isCursorCode(code)) return fail(new ResumeError(code, errors[0]?.message ?? code, cursor, errors));
    if (!PASSING_CODES.has(code)) serverFailures += 1;
    if (!FINAL_CODES.has(code) && serverFailures <= SERVER_FAILURES) return again(errors, retryAfterMsOf(errors));
    end();
    tell({ kind: "ended", cursor, error: errors });
    guarded(() => sink.next({ errors }));
    sink.complete();
  };
  const take = (result: Result<Data>): void => {
    const page = pageOf(result.data);
    if (page === null)
      return fail(new ResumeError("NOT_RESUMABLE", "the subscription must select `cursor` and `caughtUp` of its page", cursor));
    stoodSince ??= performance.now();
    serverFailures = 0;
    ({ cursor } = page);
    guarded(() => sink.next(result));
    if (isOver) return;
    tell(
      page.outage === null
        ? { kind: page.caughtUp ? "caught up" : "catching up", cursor }
        : { kind: "outage", cursor, outage: page.outage },
    );
  };

  function attempt(): void {
    tell({ kind: "connecting", failures });
    if (isOver) return;
    stoodSince = null;
    // What an attempt says after it has ended counts for nothing.
    let isPast = false;
    const last = (say: () => void): void => {
      if (isPast || isOver) return;
      isPast = true;
      say();
    };
    let stop = (): void => {};
    endAttempt = () => stop();
    stop = transport.subscribe(since(request, sinceVariable, cursor), {
      next(result) {
        if (isPast || isOver) return;
        if (result.data !== null && result.data !== undefined) return take(result as Result<Data>);
        last(() => {
          stop();
          refused(result.errors ?? []);
        });
      },
      error: (error) =>
        last(() => {
          if (Array.isArray(error)) return refused(error as readonly ServerError[]);
          if (error instanceof TransportDisposed) return fail(new ResumeError("DISPOSED", error.message, cursor, error));
          if (isRefusal(error)) serverFailures += 1;
          if (isFatal(error) || serverFailures > SERVER_FAILURES)
            return fail(
              new ResumeError("CONNECTION_REFUSED", `the server refuses the connection: ${reasonOf(error)}`, cursor, error),
            );
          again(error);
        }),
      complete: () =>
        last(() => {
          isOver = true;
          tell({ kind: "ended", cursor, error: null });
          sink.complete();
        }),
    });
    if (isPast || isOver) stop();
  }

  if (mayResume(request, sinceVariable)) attempt();
  else
    fail(
      new ResumeError(
        "NOT_RESUMABLE",
        `the subscription must have a variable $${sinceVariable}: Cursor, and pass it as since`,
        cursor,
      ),
    );
  return end;
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

function closeCodeOf(error: unknown): number | null {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "number" ? error.code : null;
}

function isFatal(error: unknown): boolean {
  return FATAL.has(closeCodeOf(error) ?? 0);
}

/** Not admitted (a new token may help), an HTTP status that refuses, or an error of the server's own. */
function isRefusal(error: unknown): boolean {
  return error instanceof AttemptRefused || REFUSED.has(closeCodeOf(error) ?? 0);
}

function reasonOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  const reason = typeof error === "object" && error !== null && "reason" in error ? String(error.reason) : "";
  return `${closeCodeOf(error) ?? "?"} ${reason}`.trim();
}
