import type { ServerError } from "./transport.ts";

/**
 * Why a subscription cannot be resumed.
 * CURSOR_EXPIRED, CURSOR_RESTORED, CURSOR_FUTURE, CURSOR_FOREIGN, CURSOR_MALFORMED: the server does not go on from the
 * cursor; query again, and subscribe since the cursor that the query gives.
 * NOT_RESUMABLE: the operation does not select `cursor` or has no variable for `since`; mend the document.
 * DISPOSED: the transport was disposed of.
 * CONNECTION_REFUSED: the server refuses the connection for good (a close code of the protocol), or again and again.
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
