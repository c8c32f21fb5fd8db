import { GraphQLError } from "graphql";
import type { CommandRefusal } from "../agent/actors/refusal.ts";
import type { CursorRefusal } from "../events/cursor.ts";

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
