import { isInputAnswered, type CallView } from "./call.ts";

/** The time until which the answer of a person is kept for a server that is away. */
export function keptUntil({ approval }: CallView, deferredTimeoutMs: number): Date {
  return new Date(new Date(approval?.decidedAt ?? 0).getTime() + deferredTimeoutMs);
}

/** True if a call has an answer for its server, and the time for it is not over. */
export function keepsAnswer(call: CallView, deferredTimeoutMs: number, now: Date): boolean {
  return isInputAnswered(call) && now < keptUntil(call, deferredTimeoutMs);
}
