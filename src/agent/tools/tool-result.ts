import { isJsonObject, toJson, type Json } from "../../lib/json.ts";

/** The answer of a tool: `output` is the text for the model, `details` the JSON for programs. */
export type ToolResult = { readonly output: string; readonly details: Json };

/** JSON as code writes it: a field that is undefined is left out. */
export type Details = string | number | boolean | null | undefined | readonly Details[] | { readonly [field: string]: Details };

/** What a tool's code may answer: the text for the model alone, or with JSON for programs; null if it has none. */
export type ToolAnswer = string | { readonly output: string; readonly details?: Details };

/** The form of a result, for those whose answer has another. */
export const RESULT_FORM = "its result is not { output: string, details: JSON }";

/** A result of the documented form; null for everything else. */
export function readToolResult(value: unknown): ToolResult | null {
  if (!isJsonObject(value) || typeof value["output"] !== "string") return null;
  if (Object.keys(value).some((field) => field !== "output" && field !== "details")) return null;
  const details = toJson(value["details"] ?? null);
  return details === undefined ? null : { output: value["output"], details };
}
