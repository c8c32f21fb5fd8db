import { isJsonObject, toJson, type JsonObject } from "../../lib/json.ts";
import { byteLength } from "../../lib/text.ts";
import { readToolResult, RESULT_FORM, type ToolResult } from "../tools/tool-result.ts";

export type PreToolUseSaid =
  | { readonly kind: "nothing" }
  | { readonly kind: "ask"; readonly reason: string | null; readonly meta: JsonObject | null }
  | { readonly kind: "deny"; readonly reason: string | null; readonly result: ToolResult | null }
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "input"; readonly input: JsonObject }
  | { readonly kind: "unreadable"; readonly problem: string };

/**
 * Reads the answer of a preToolUse hook, which is other people's code. Exactly one of the documented forms is accepted,
 * but a `deny` or an `ask` holds with any other fields.
 */
export function readPreToolUseAnswer(answer: unknown): PreToolUseSaid {
  if (answer === undefined) return { kind: "nothing" };
  if (!isJsonObject(answer)) return unreadable("it answered something else than an object");
  const { decision } = answer;
  const reason = typeof answer["reason"] === "string" ? answer["reason"] : null;
  if (decision === "deny") return { kind: "deny", reason, result: readToolResult(answer["toolResult"]) };
  if (decision === "ask")
    return isRiskOf(answer["meta"]) ? { kind: "ask", reason, meta: metaOf(answer["meta"]) } : unreadable(RISK_FORM);
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

const RISK_FORM = "its meta has a risk that is none of LOW, MEDIUM and HIGH";

/** False if a meta has an unknown risk: people would take the call for a harmless one. */
function isRiskOf(meta: unknown): boolean {
  const risk = isJsonObject(meta) ? meta["risk"] : undefined;
  return risk === undefined || risk === null || (typeof risk === "string" && /^(?:low|medium|high)$/i.test(risk));
}

/** The largest meta of an approval, in bytes of JSON. Its event has room for more. */
const META_BYTES = 8 * 1024;

/** A hook's meta for people who decide; null if it is not a JSON object, or too large. */
function metaOf(value: unknown): JsonObject | null {
  const meta = toJson(value ?? null);
  return isJsonObject(meta) && byteLength(JSON.stringify(meta)) <= META_BYTES ? meta : null;
}

export type PostToolUseSaid =
  | { readonly kind: "nothing" }
  | { readonly kind: "result"; readonly result: ToolResult }
  | { readonly kind: "unreadable"; readonly problem: string };

/** Reads the answer of a postToolUse hook: `{ update }` with some parts of the outcome, or `{ replace }` with all. */
export function readPostToolUseAnswer(answer: unknown, before: ToolResult): PostToolUseSaid {
  if (answer === undefined) return { kind: "nothing" };
  const form = "it answered neither { update: { output?, details? } } nor { replace: { output, details } }";
  if (!isJsonObject(answer)) return { kind: "unreadable", problem: form };
  const [field, ...others] = Object.keys(answer);
  const value: unknown = answer[field ?? ""];
  if (others.length > 0 || (field !== "update" && field !== "replace") || !isJsonObject(value))
    return { kind: "unreadable", problem: form };
  const result = readToolResult(field === "update" ? { ...before, ...value } : value);
  return result === null ? { kind: "unreadable", problem: RESULT_FORM } : { kind: "result", result };
}

function unreadable(problem: string): PreToolUseSaid {
  return { kind: "unreadable", problem };
}
