import type { ApprovalDecision, ApprovalState } from "./generated/conversation.ts";

/** How a question ended. A question that the end of its turn closed is SEALED. */
export type ApprovalEnd =
  | { readonly kind: "decided"; readonly decision: ApprovalDecision; readonly by: string; readonly note: string | null }
  | { readonly kind: "closed"; readonly state: ApprovalState };

const DECIDED: Readonly<Record<string, string>> = {
  ALLOW: "Allowed",
  DENY: "Denied",
  DONE: "Reported as done",
  RETRY: "Run again",
  FAIL: "Reported as failed",
};
const CLOSED: Readonly<Record<string, string>> = {
  EXPIRED: "Expired",
  SEALED: "Closed with the turn",
  STALE: "Replaced by a newer question",
};

/** The end of a question in words. A name that only a newer server knows stays as it is. */
export function approvalEndText(end: ApprovalEnd): string {
  if (end.kind === "closed") return CLOSED[end.state] ?? end.state;
  return `${DECIDED[end.decision] ?? end.decision} by ${end.by}${end.note === null ? "" : `: ${end.note}`}`;
}
