import type { TimelineEvent } from "./event.ts";

export type AppendOutcome =
  { readonly outcome: "COMMITTED"; readonly events: readonly TimelineEvent[] } | { readonly outcome: "FENCED" };

/** One try's outcome: nothing was written if the agent's row was locked. */
export type TriedAppend = AppendOutcome | { readonly outcome: "LOCKED" };

export type Committed = {
  readonly outcome: "COMMITTED";
  readonly events: readonly TimelineEvent[];
  /** The last position that was written; null for a change without events. */
  readonly position: number | null;
  /** How often the agent had been signalled before it. */
  readonly signal: number;
};

/** KEY_USED: the idempotency key was used before, and nothing was changed. */
export type TenantOutcome =
  { readonly outcome: "COMMITTED"; readonly position: number | null } | Conflict | { readonly outcome: "KEY_USED" };

/** A row was not in the expected state: nothing was changed. */
export type Conflict = { readonly outcome: "CONFLICT"; readonly message: string };

/** FENCED: another server owns the agent, and nothing was changed. */
export type OwnerOutcome = Committed | Conflict | { readonly outcome: "FENCED" };

/** KEY_USED: the idempotency key was used before, and nothing was changed. */
export type OutsideOutcome = Committed | Conflict | { readonly outcome: "KEY_USED" };
