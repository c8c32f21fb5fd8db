import { isJsonObject, toJson, type Json } from "../../lib/json.ts";

/** `output` is the text for the model, `details` the JSON for programs. */
export type ToolResult = { readonly output: string; readonly details: Json };

/** JSON as code writes it: undefined fields are omitted. */
export type Details = string | number | boolean | null | undefined | readonly Details[] | { readonly [field: string]: Details };

/** The answer of a tool's code: a text for the model, or a text with JSON for programs; null details if omitted. */
export type ToolAnswer = string | { readonly output: string; readonly details?: Details };

export const RESULT_FORM = "its result is not { output: string, details: JSON }";

/** Null for answers of another form. */
export function readToolResult(value: unknown): ToolResult | null {
  if (!isJsonObject(value) || typeof value["output"] !== "string") return null;
  if (Object.keys(value).some((field) => field !== "output" && field !== "details")) return null;
  const details = toJson(value["details"] ?? null);
  return details === undefined ? null : { output: value["output"], details };
}
