import type { OwnerChange } from "../../db/commit/change.ts";
import type { ProgramLease } from "../workspace/program-lease.ts";
import type { AgentEventBody } from "../../events/event.ts";

export type CallOwner = {
  readonly lease: { readonly programs: ProgramLease };
  /** Aborts when the lease is lost: from then on a call has no effects. */
  readonly lost: AbortSignal;
  readonly isFull: boolean;
  send(body: AgentEventBody): void;
  room(signal: AbortSignal): Promise<void>;
  /** Stores deferred commits. False if a replacement was stored. */
  flush(): Promise<boolean>;
  /** Stores the start of a background shell. False if it is refused, or if the lease is lost. */
  commitShell(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Promise<boolean>;
  /** Replaces the agent's todo list. False if the lease is lost. */
  commitTodos(callId: string, todos: NonNullable<OwnerChange["todos"]>, event: AgentEventBody): Promise<boolean>;
};
