import { closedEvent } from "../../approvals/closed-event.ts";
import type { CallView } from "../../calls/call.ts";
import { identity, type Commit } from "./commit.ts";

/** A question to a person that is open: by its approval, and the call that it is about; null for one about a host. */
export type OpenQuestion = { readonly id: string; readonly callId: string | null };

/** The open questions about calls. */
export function openQuestions(calls: readonly CallView[]): readonly OpenQuestion[] {
  return calls.flatMap(({ id, approval }) => (approval?.state === "PENDING" ? [{ id: approval.id, callId: id }] : []));
}

/** Questions are closed without an answer. What becomes of their calls is for the commit beside this one. */
export function questionsSealed(questions: readonly OpenQuestion[], note: string, at: Date): Commit {
  return {
    change: { approvalTransitions: questions.map(({ id }) => ({ id, from: "PENDING", to: "SEALED", closedAt: at })) },
    events: questions.map(({ id, callId }) => closedEvent(id, callId, "SEALED", note)),
    after: identity,
  };
}

/** The call with its question closed, as it is read from its rows. */
export function withQuestionSealed(call: CallView): CallView {
  return call.approval?.state === "PENDING" ? { ...call, approval: { ...call.approval, state: "SEALED" } } : call;
}
