import type { OwnerChange } from "../../db/commit/change.ts";
import type { ProgramLease } from "../workspace/program-lease.ts";
import type { AgentEventBody } from "../../events/event.ts";

/** The owner of an agent, as its calls know it: they say by it what happens. */
export type CallOwner = {
  /** The lease under which its calls run. */
  readonly lease: { readonly programs: ProgramLease };
  /** Aborts when the lease is lost: nothing of a call has an effect from then on. */
  readonly lost: AbortSignal;
  /** True if the agent has used up its share of the room for what is not committed yet. */
  readonly isFull: boolean;
  /** Sends an event that changes no row. */
  send(body: AgentEventBody): void;
  /** Resolves as soon as the agent has room for more, or when `signal` aborts. */
  room(signal: AbortSignal): Promise<void>;
  /** Commits what was deferred. False if something else was stored in its place. */
  flush(): Promise<boolean>;
  /** Commits that a background shell starts. False if it may not, or if the lease is lost. */
  commitShell(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Promise<boolean>;
  /** Replaces the agent's todo list as a call wishes. False if the lease is lost. */
  commitTodos(callId: string, todos: NonNullable<OwnerChange["todos"]>, event: AgentEventBody): Promise<boolean>;
};
