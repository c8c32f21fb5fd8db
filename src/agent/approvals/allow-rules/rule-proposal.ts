import type { RuleExamples } from "./rule-examples.ts";

/** The meaning that a rule would have had for the calls of its template that were recorded lately, or for the hosts that were asked for. */
export type PastCalls = {
  /** Calls of the tool that were looked at, or questions about hosts: the newest first, at most PAST_CALLS of the last PAST_DAYS. */
  readonly examined: number;
  /** Those of them that the rule allows. */
  readonly matched: number;
  /** Those of them that people were asked for, and that they denied. */
  readonly asked: number;
  readonly denied: number;
};

/** A rule that would let a call run without asking from now on, and what it would have meant in the past. */
export type RuleProposal = { readonly rule: string; readonly past: PastCalls } & RuleExamples;
