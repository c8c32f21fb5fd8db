import type { Breakpoint } from "../../db/generated/enums.ts";
import type { AgentEventBody } from "../../events/event.ts";

/** The owner of an agent, as its conversation knows it: by it a model speaks. */
export type ConversationOwner = {
  readonly lease: { readonly agentId: string; readonly tenant: string; readonly createdBy: string };
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /** The breakpoint of the agent now; null before its rows were read. */
  readonly breakpoint: Breakpoint | null;
  /** Moves to a breakpoint with what is written next. */
  sendMove(breakpoint: Breakpoint): void;
  /** Sends an event that changes no row. */
  send(body: AgentEventBody): void;
  /** Resolves as soon as the agent has room for more, or when `signal` aborts. */
  room(signal: AbortSignal): Promise<void>;
};
