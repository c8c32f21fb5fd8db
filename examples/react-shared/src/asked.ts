import type { AskedQuery, ProposalQuery } from "./generated/documents.ts";

/** Shows the question of an approval, as people should see it before they decide. */
export type Asked = Extract<NonNullable<AskedQuery["node"]>, { readonly commandParts: unknown }>;

/** A rule by which what is asked would run without asking, or why there is none. */
export type Proposal = ProposalQuery["allowRuleProposal"];

/** The approval in the answer. Throws if there is none. */
export function askedIn(answer: AskedQuery | null | undefined): Asked {
  const node = answer?.node;
  if (node === null || node === undefined || !("commandParts" in node)) throw new Error("the approval cannot be seen");
  return node;
}
