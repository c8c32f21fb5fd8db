/** The parts of a rule that are patterns, and no names of parameters: texts in quotes, and alternatives. */
const PATTERNS = /"(?:[^"\\]|\\.)*"|\{[^{}]*\}/g;

/** The parameters of an input that a rule does not look at: with any value of them, a call passes. */
export function ignoredParameters(rule: string, input: unknown): readonly string[] {
  if (typeof input !== "object" || input === null || !rule.includes("(")) return [];
  const names = new Set(
    [...rule.replace(PATTERNS, "").matchAll(/[(,]\s*([^\s(,:]+)\s*:/g)].map(([, name = ""]) => name.split(/[.[]/, 1)[0] ?? ""),
  );
  return Object.keys(input).filter((name) => !names.has(name));
}
