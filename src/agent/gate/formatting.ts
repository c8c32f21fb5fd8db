import { isJsonObject, mapStrings, toJson, type Json } from "../../lib/json.ts";
import { byteLength, headBytes, storable } from "../../lib/text.ts";
import { DETAILS_BYTES, OUTPUT } from "../tools/limits.ts";
import type { ToolResult } from "../tools/tool.ts";

/** A result as it is kept: text for the model within its limits, and JSON for programs. */
export type Formatted = { readonly output: string; readonly details: Json };

/**
 * Stage 6: what the tool answered as text and JSON that can be stored. Too long an output is cut, details that are too
 * large are left out, both with a mark that says so. A tool that answers nothing has an empty result.
 */
export function format(answer: ToolResult | undefined): Formatted {
  const given: unknown = answer;
  if (given === undefined || given === null) return { output: "(the tool answered nothing)", details: null };
  if (!isJsonObject(given)) return { output: cut(asText(given)), details: null };
  const { output, details } = given as { output?: unknown; details?: unknown };
  return { output: cut(asText(output ?? details ?? given)), details: bounded(details) };
}

function asText(value: unknown): string {
  return storable(typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)));
}

function cut(text: string): string {
  const lines = text.split("\n", OUTPUT.lines + 1);
  const head = headBytes(lines.length > OUTPUT.lines ? lines.slice(0, OUTPUT.lines).join("\n") : text, OUTPUT.bytes);
  return head.length === text.length ? text : `${head}\n[truncated: ${byteLength(head)} of ${byteLength(text)} bytes]`;
}

function bounded(details: unknown): Json {
  const json = toJson(details) ?? null;
  const bytes = byteLength(JSON.stringify(json));
  return bytes > DETAILS_BYTES ? { truncated: true, bytes } : mapStrings(json, storable);
}
