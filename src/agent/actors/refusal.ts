/** The codes are part of the GraphQL contract (UserErrorCode). */
export const COMMAND_REFUSAL_CODES = [
  "NOT_FOUND",
  "FORBIDDEN",
  "INVALID",
  "TOO_LARGE",
  "QUEUE_FULL",
  "ARCHIVED",
  "ALREADY_JOINED",
  "ALREADY_ENDED",
  "NOTHING_TO_RETRY",
  "IDEMPOTENCY_KEY_REUSED",
  "ALREADY_DECIDED",
  "HASH_MISMATCH",
  "SEALED",
  "STALE",
  "EXPIRED",
  "DENIED_BY_POLICY",
  "UNAVAILABLE",
  "SELF_APPROVAL",
] as const;
export type CommandRefusalCode = (typeof COMMAND_REFUSAL_CODES)[number];

/** The refused part of the input, and advice. */
export type CommandRefusal = {
  readonly code: CommandRefusalCode;
  readonly field: readonly string[] | null;
  readonly message: string;
};

const NOTE_CHARACTERS = 4_000;

export function noteProblem(note: string | null): CommandRefusal | null {
  if (note === null || note.length <= NOTE_CHARACTERS) return null;
  return { code: "TOO_LARGE", field: ["note"], message: `a note has at most ${NOTE_CHARACTERS} characters` };
}

/**
 * The result of a command: the id of its row, and the position that it reached; null without an event. A repeated key
 * returns the position of its first use.
 */
export type Outcome = { readonly id: string; readonly position: number | null };
