import { isJsonObject, mapStrings, nesting, toJson, type Json } from "../../../lib/json.ts";
import { byteLength, headBytes, messageOf, storable, tailBytes } from "../../../lib/text.ts";
import { NO_IMAGES, readImages, type GivenImage } from "../../tools/images.ts";
import { DETAILS_BYTES, OUTPUT } from "../../tools/limits.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolResult } from "../../tools/tool-result.ts";

/** Details that are nested more deeply are left out. */
const DETAILS_NESTING = 100;

/** The longest problem text in place of details, in bytes. */
const PROBLEM_BYTES = 500;

/** A result as it is kept: text for the model within its limits, the whole text if that is longer, JSON for programs, and images. */
export type Formatted = {
  readonly output: string;
  readonly whole: string | null;
  readonly details: Json;
  readonly images: readonly GivenImage[];
};

type Keeps = Tool["keeps"];

/**
 * Stage 6: the tool's answer as text and JSON that can be stored. Long outputs are cut; details that are too large or
 * not JSON are left out, with a mark. Accepts any value, and never throws.
 */
export function format(answer: ToolResult | undefined, keeps: Keeps = "head"): Formatted {
  try {
    return formatAny(answer, keeps);
  } catch (error) {
    return { ...NOTHING, output: `(the tool's answer cannot be told: ${messageOf(error)})` };
  }
}

const NOTHING: Formatted = { output: "(the tool answered nothing)", whole: null, details: null, images: [] };

function formatAny(given: unknown, keeps: Keeps): Formatted {
  if (given === undefined || given === null) return NOTHING;
  if (!isJsonObject(given)) return { ...cut(asText(given), keeps), details: null, images: [] };
  const { output, details, images: givenImages } = given;
  const { images, leftOut } = givenImages === undefined ? NO_IMAGES : readImages(givenImages);
  const { output: text, whole } = cut(asText(output ?? details ?? (givenImages === undefined ? given : "(no text)")), keeps);
  return { output: [text, ...leftOut].join("\n"), whole, details: bounded(details), images };
}

function asText(value: unknown): string {
  return storable(typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)));
}

function cut(text: string, keeps: Keeps): { output: string; whole: string | null } {
  const shown = keeps === "head" ? headOf(text) : tailOf(text);
  if (shown.length === text.length) return { output: text, whole: null };
  const mark = `[truncated: the ${keeps === "head" ? "first" : "last"} ${byteLength(shown)} of ${byteLength(text)} bytes]`;
  return { output: keeps === "head" ? `${shown}\n${mark}` : `${mark}\n${shown}`, whole: text };
}

function headOf(text: string): string {
  const lines = text.split("\n", OUTPUT.lines + 1);
  return headBytes(lines.length > OUTPUT.lines ? lines.slice(0, OUTPUT.lines).join("\n") : text, OUTPUT.bytes);
}

function tailOf(text: string): string {
  let start = text.length;
  for (let lines = 0; lines < OUTPUT.lines && start > 0; lines += 1) start = text.lastIndexOf("\n", start - 1);
  return tailBytes(start > 0 ? text.slice(start + 1) : text, OUTPUT.bytes);
}

/** At most DETAILS_BYTES of JSON, or a mark in their place. */
export function bounded(details: unknown): Json {
  if (details === undefined) return null;
  const json = toJson(details);
  if (json === undefined) return { truncated: true, problem: `the details are no JSON: ${whyNoJson(details)}` };
  const text = JSON.stringify(json);
  const bytes = byteLength(text);
  return bytes > DETAILS_BYTES || nesting(text) > DETAILS_NESTING ? { truncated: true, bytes } : mapStrings(json, storable);
}

function whyNoJson(value: unknown): string {
  try {
    JSON.stringify(value);
    return `a ${typeof value} has no form in it`;
  } catch (error) {
    return headBytes(messageOf(error).split("\n", 1)[0] ?? "", PROBLEM_BYTES);
  }
}
