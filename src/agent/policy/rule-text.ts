/** True if what stands in the brackets of a rule takes in everything: `*` or `**`. */
export function takesEverything(inner: string): boolean {
  return /^\s*\*{1,2}\s*$/.test(inner);
}

/** The pattern that a rule means by a text, which may be quoted as a JSON string; null for a quoted text that is none. */
export function patternOf(text: string): string | null {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The problem with a rule whose quoted pattern is none. */
export const NOT_QUOTED = "a quoted pattern is a JSON string";

/** The problem with a rule whose brackets are open. */
export const NOT_CLOSED = 'expected ")" at the end';

/** The problem with a rule, and at which of its characters, from 1. */
export type RuleProblem = { readonly character: number; readonly message: string };

/** The agents that a rule binds: its own agents alone, or also those that they start, and so on. */
export type RuleScope = "own" | "tree";
