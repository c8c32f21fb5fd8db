import type { RuleExamples } from "./rule-examples.ts";

export type PastCalls = {
  /** The examined calls of the tool, or host questions: the newest, at most PAST_CALLS of the last PAST_DAYS. */
  readonly examined: number;
  readonly matched: number;
  /** Those of them that people were asked about, and that they denied. */
  readonly asked: number;
  readonly denied: number;
};

export type RuleProposal = { readonly rule: string; readonly past: PastCalls } & RuleExamples;
