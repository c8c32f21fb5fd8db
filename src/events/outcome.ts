import type { TimelineEvent } from "./event.ts";

/** The outcome of one agent's part of an append. */
export type AppendOutcome =
  { readonly outcome: "COMMITTED"; readonly events: readonly TimelineEvent[] } | { readonly outcome: "FENCED" };

/** The same of one try: of an agent whose row somebody else holds nothing was written. */
export type TriedAppend = AppendOutcome | { readonly outcome: "LOCKED" };

/** A change that was committed, with the events that report it. */
export type Committed = {
  readonly outcome: "COMMITTED";
  readonly events: readonly TimelineEvent[];
  /** The position that the log has reached with it; null for a change without events. */
  readonly position: number | null;
  /** The number of times that the agent had been signalled before it. */
  readonly signal: number;
};

/** The outcome of a change of a tenant. KEY_USED says that the idempotency key was used before: nothing was changed. */
export type TenantOutcome =
  { readonly outcome: "COMMITTED"; readonly position: number | null } | Conflict | { readonly outcome: "KEY_USED" };

/** A row was not in the state that the change starts from: nothing was changed. */
export type Conflict = { readonly outcome: "CONFLICT"; readonly message: string };

/** The outcome of a change of an agent's owner. FENCED says that another server holds the agent: nothing was changed. */
export type OwnerOutcome = Committed | Conflict | { readonly outcome: "FENCED" };

/** The outcome of a change of others. KEY_USED says that the idempotency key was used before: nothing was changed. */
export type OutsideOutcome = Committed | Conflict | { readonly outcome: "KEY_USED" };
