import { isInputAnswered, type CallView } from "./call.ts";

/** The time of a person's answer to the tool of a call; the epoch for none. */
export function answeredAt({ approval }: CallView): Date {
  return new Date(approval?.decidedAt ?? 0);
}

/** The time until which the answer of a person is kept for a server that is away. */
export function keptUntil(call: CallView, deferredTimeoutMs: number): Date {
  return new Date(answeredAt(call).getTime() + deferredTimeoutMs);
}

/** True if a call has an answer for its server, and the time for it is not over. */
export function keepsAnswer(call: CallView, deferredTimeoutMs: number, now: Date): boolean {
  return isInputAnswered(call) && now < keptUntil(call, deferredTimeoutMs);
}
