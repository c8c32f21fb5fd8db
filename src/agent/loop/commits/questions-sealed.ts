import { closedEvent } from "../../approvals/closed-event.ts";
import type { CallView } from "../../calls/call.ts";
import { identity, type Commit } from "./commit.ts";

/** An open approval. `callId` is null for a question about a host. */
export type OpenQuestion = { readonly id: string; readonly callId: string | null };

export function openQuestions(calls: readonly CallView[]): readonly OpenQuestion[] {
  return calls.flatMap(({ id, approval }) => (approval?.state === "PENDING" ? [{ id: approval.id, callId: id }] : []));
}

/** Closes questions without an answer. Another part of the same commit ends their calls. */
export function questionsSealed(questions: readonly OpenQuestion[], note: string, at: Date): Commit {
  return {
    change: { approvalTransitions: questions.map(({ id }) => ({ id, from: "PENDING", to: "SEALED", closedAt: at })) },
    events: questions.map(({ id, callId }) => closedEvent(id, callId, "SEALED", note)),
    after: identity,
  };
}

export function withQuestionSealed(call: CallView): CallView {
  return call.approval?.state === "PENDING" ? { ...call, approval: { ...call.approval, state: "SEALED" } } : call;
}
