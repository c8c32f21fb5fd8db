import { isJsonObject, mapStrings, nesting, toJson, type Json } from "../../lib/json.ts";
import { byteLength, headBytes, messageOf, storable } from "../../lib/text.ts";
import { DETAILS_BYTES, OUTPUT } from "../tools/limits.ts";
import type { ToolResult } from "../tools/tool.ts";

/** Details that are nested more deeply are left out. */
const DETAILS_NESTING = 100;

/** A result as it is kept: text for the model within its limits, and JSON for programs. */
export type Formatted = { readonly output: string; readonly details: Json };

/**
 * Stage 6: what the tool answered as text and JSON that can be stored. Too long an output is cut, details that are too
 * large or cannot be told in JSON are left out, with a mark that says so. Takes anything, and never throws.
 */
export function format(answer: ToolResult | undefined): Formatted {
  try {
    return formatAny(answer);
  } catch (error) {
    return { output: `(the tool's answer cannot be told: ${messageOf(error)})`, details: null };
  }
}

function formatAny(given: unknown): Formatted {
  if (given === undefined || given === null) return { output: "(the tool answered nothing)", details: null };
  if (!isJsonObject(given)) return { output: cut(asText(given)), details: null };
  const { output, details } = given;
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
  if (details === undefined) return null;
  const json = toJson(details);
  if (json === undefined) return { truncated: true };
  const text = JSON.stringify(json);
  const bytes = byteLength(text);
  return bytes > DETAILS_BYTES || nesting(text) > DETAILS_NESTING ? { truncated: true, bytes } : mapStrings(json, storable);
}
