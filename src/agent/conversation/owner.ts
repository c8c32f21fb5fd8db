import type { Breakpoint } from "../../db/generated/enums.ts";
import type { AgentEventBody } from "../../events/event.ts";

export type ConversationOwner = {
  readonly lease: { readonly agentId: string; readonly tenant: string; readonly createdBy: string };
  readonly lost: AbortSignal;
  readonly breakpoint: Breakpoint | null;
  sendMove(breakpoint: Breakpoint): void;
  send(body: AgentEventBody): void;
  room(signal: AbortSignal): Promise<void>;
};
