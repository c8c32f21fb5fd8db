import { closeCodeOf, NOT_ADMITTED, reasonOf } from "./close-codes.ts";
import type { ServerError } from "./transport.ts";

/**
 * Why a subscription cannot be resumed.
 * CURSOR_EXPIRED, CURSOR_RESTORED, CURSOR_FUTURE, CURSOR_FOREIGN, CURSOR_MALFORMED: the server does not go on from the
 * cursor; query again, and subscribe since the cursor that the query gives.
 * NOT_RESUMABLE: the operation does not select `cursor` or has no variable for `since`; mend the document.
 * DISPOSED: the transport was disposed of.
 * CONNECTION_REFUSED: the server refuses the connection for good (a close code of the protocol, the same token again and again), or again
 * and again.
 */
export type ResumeErrorCode =
  | "CURSOR_EXPIRED"
  | "CURSOR_RESTORED"
  | "CURSOR_FUTURE"
  | "CURSOR_FOREIGN"
  | "CURSOR_MALFORMED"
  | "NOT_RESUMABLE"
  | "CONNECTION_REFUSED"
  | "DISPOSED";

/** The subscription has ended and will not resume by itself. `cursor` is the last place that was reached, or null. */
export class ResumeError extends Error {
  override readonly name = "ResumeError";
  readonly code: ResumeErrorCode;
  readonly cursor: string | null;

  constructor(code: ResumeErrorCode, message: string, cursor: string | null, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.cursor = cursor;
  }
}

/**
 * Why a connection was lost, or a subscription has ended. `code` is that of the server's error (UNAUTHENTICATED, STORAGE_UNAVAILABLE,
 * RATE_LIMITED …), of a ResumeError, or CONNECTION_LOST; `message` says it in words.
 */
export type Problem = { readonly code: string; readonly message: string; readonly cause?: unknown };

/** An error of a transport, the server's errors, or the close event of a socket, in one form. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ResumeError) return error;
  if (Array.isArray(error)) {
    const errors = error as readonly ServerError[];
    const code = codeOf(errors);
    return { code: typeof code === "string" ? code : "REFUSED", message: errors[0]?.message ?? "refused", cause: error };
  }
  return { code: CODE_BY_CLOSE.get(closeCodeOf(error)) ?? "CONNECTION_LOST", message: reasonOf(error), cause: error };
}

const CODE_BY_CLOSE: ReadonlyMap<number | null, string> = new Map([
  [NOT_ADMITTED, "UNAUTHENTICATED"],
  [4500, "INTERNAL_SERVER_ERROR"],
]);

const CURSOR_CODES: ReadonlySet<unknown> = new Set([
  "CURSOR_EXPIRED",
  "CURSOR_RESTORED",
  "CURSOR_FUTURE",
  "CURSOR_FOREIGN",
  "CURSOR_MALFORMED",
] satisfies ResumeErrorCode[]);

/** True if the code says that the server does not go on from the cursor. */
export function isCursorCode(code: unknown): code is ResumeErrorCode {
  return CURSOR_CODES.has(code);
}

/** The code of the first error that has one. */
export function codeOf(errors: readonly ServerError[]): unknown {
  return errors.map((error) => error.extensions?.["code"]).find((code) => code !== undefined);
}
