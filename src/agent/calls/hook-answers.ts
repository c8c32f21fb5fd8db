import { isJsonObject, toJson, type JsonObject } from "../../lib/json.ts";
import { readToolResult, RESULT_FORM, type ToolResult } from "../tools/tool-result.ts";

/** A preToolUse hook's answer, once it was read. */
export type PreToolUseSaid =
  | { readonly kind: "nothing" }
  | { readonly kind: "deny" | "ask"; readonly reason: string | null }
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "input"; readonly input: JsonObject }
  | { readonly kind: "unreadable"; readonly problem: string };

/**
 * Reads what a preToolUse hook answered. Hooks are other people's code: exactly one of the documented forms counts, and
 * everything else is unreadable; but a `deny` or an `ask` holds whatever stands beside it.
 */
export function readPreToolUseAnswer(answer: unknown): PreToolUseSaid {
  if (answer === undefined) return { kind: "nothing" };
  if (!isJsonObject(answer)) return unreadable("it answered something else than an object");
  const { decision, reason } = answer;
  if (decision === "deny" || decision === "ask") return { kind: decision, reason: typeof reason === "string" ? reason : null };
  const [field, ...others] = Object.keys(answer);
  if (field === "result" && others.length === 0) {
    const result = readToolResult(answer["result"]);
    return result === null ? unreadable(RESULT_FORM) : { kind: "result", result };
  }
  if (field === "input" && others.length === 0) {
    const input = toJson(answer["input"]);
    return input !== undefined && isJsonObject(input) ? { kind: "input", input } : unreadable("its input is no JSON object");
  }
  return unreadable("it answered neither a decision (ask or deny), nor only a result, nor only an input");
}

function unreadable(problem: string): PreToolUseSaid {
  return { kind: "unreadable", problem };
}
