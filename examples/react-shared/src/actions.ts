import type { FormValues } from "@triplane/client/input-form";
import type { Asked, Proposal } from "./asked.ts";
import type { ApprovalDecision } from "./generated/documents.ts";

/** The refusals of an operation; none if it was done. */
export type Refusals = readonly { readonly field?: readonly string[] | null; readonly message: string }[];

/** A person's decision on an approval. What was done has a result: words for the model about what came of the call. */
export type Decision =
  | { readonly decision: Exclude<ApprovalDecision, "DONE"> }
  | { readonly decision: "ALLOW"; readonly raiseTo: { readonly usd: number | null; readonly tokens: number | null } }
  | { readonly decision: "DONE"; readonly result: string };

/** The refusals of an answer. That another tab was faster is none: the conversation shows its answer. */
export function answerRefusals<Refusal extends { readonly code: string }>(userErrors: readonly Refusal[]): readonly Refusal[] {
  return userErrors.filter(({ code }) => code !== "CALL_ENDED");
}

/** The actions of a person. */
export type Actions = {
  /** False if it could not be sent: the text comes back. The key is that of the draft: to send it again after a lost answer does it once, unless more was typed meanwhile. */
  readonly send: (text: string, templateId: string, idempotencyKey: string) => Promise<boolean>;
  /** Reads the question of an approval. Rejects if that cannot be said. */
  readonly look: (approvalId: string) => Promise<Asked>;
  readonly decide: (approvalId: string, decision: Decision, inputHash: string | null) => void;
  /** Gives a tool the values of its form. Returns the errors, which the form shows; none if they were taken. */
  readonly give: (approvalId: string, values: FormValues, inputHash: string | null) => Promise<Refusals>;
  /** The rule that is proposed, or what another one would mean. Rejects if the server does not answer. */
  readonly propose: (approvalId: string, rule: string | null) => Promise<Proposal>;
  /** Stores a rule for all agents of the template, and allows what is asked. */
  readonly allowAlways: (approvalId: string, rule: string, inputHash: string | null) => void;
  /** Gives the result of a call that waits for a client. False if it could not be sent. */
  readonly answer: (callId: string, result: string) => Promise<boolean>;
  readonly interrupt: () => void;
  /** Interrupts the agent with all below it, also those in the background. */
  readonly interruptAll: () => void;
  readonly begin: () => void;
  /** Goes on with an agent of before. */
  readonly open: (agentId: string) => void;
};
