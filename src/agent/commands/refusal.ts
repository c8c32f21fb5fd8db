/** Why a command was not carried out. The codes are part of the GraphQL contract (UserErrorCode). */
export type CommandRefusalCode =
  | "NOT_FOUND"
  | "FORBIDDEN"
  | "INVALID"
  | "TOO_LARGE"
  | "QUEUE_FULL"
  | "IDEMPOTENCY_KEY_REUSED"
  | "ALREADY_DECIDED"
  | "HASH_MISMATCH"
  | "SEALED"
  | "STALE"
  | "SELF_APPROVAL";

/** A refusal: which part of the input it is about, and what to do. */
export type CommandRefusal = {
  readonly code: CommandRefusalCode;
  readonly field: readonly string[] | null;
  readonly message: string;
};
