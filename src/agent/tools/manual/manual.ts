import { createHash } from "node:crypto";
import type { ToolDescription } from "../../models/model.ts";
import type { Tool } from "../tool.ts";

/** The section of a tool in the manual. `digest` is the beginning of its text's SHA-256, in hex. */
export type Section = { readonly tool: string; readonly text: string; readonly digest: string };

/**
 * A manual as a system prompt ends with it, which is empty without sections, and the list of tools if it is fixed. `digest` is
 * the SHA-256 of both, in hex.
 */
export type Manual = { readonly digest: string; readonly text: string; readonly tools: readonly ToolDescription[] | null };

const SECTION_DIGEST_CHARACTERS = 32;

const known = new WeakMap<Tool, Section>();
const definitions = new WeakMap<Tool, string>();

/** The sections of those tools that have one, by their names. */
export function sectionsOf(tools: Iterable<Tool>): readonly Section[] {
  return [...tools].flatMap((tool) => sectionOf(tool) ?? []).toSorted((one, other) => (one.tool < other.tool ? -1 : 1));
}

function sectionOf(tool: Tool): Section | null {
  if (tool.prompt === null) return null;
  const section = known.get(tool) ?? { tool: tool.name, text: tool.prompt, digest: sectionDigest(tool.prompt) };
  known.set(tool, section);
  return section;
}

/** The beginning of the SHA-256 of all that a model is told of a tool, in hex. */
export function definitionDigest(tool: Tool): string {
  const digest = definitions.get(tool) ?? sectionDigest(JSON.stringify([tool.description, tool.inputSchema, tool.prompt]));
  definitions.set(tool, digest);
  return digest;
}

/** The manual with these sections, which fixes these tools; null for neither. */
export function manualOf(sections: readonly Section[], tools: readonly ToolDescription[] | null): Manual | null {
  if (sections.length === 0 && tools === null) return null;
  const text = sections.length === 0 ? "" : ["### Tools Manual", ...sections.map(sectionText)].join("\n\n");
  return { digest: sha256(tools === null ? text : `${text}\0${JSON.stringify(tools)}`), text, tools };
}

export function sectionText({ tool, text }: Pick<Section, "tool" | "text">): string {
  return `#### ${tool}\n\n${text}`;
}

function sectionDigest(text: string): string {
  return sha256(text).slice(0, SECTION_DIGEST_CHARACTERS);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
