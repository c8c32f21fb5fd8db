import { createHash } from "node:crypto";
import type { Tool } from "./tool.ts";

/** The section of a tool in the manual. `digest` is the beginning of its text's SHA-256, in hex. */
export type Section = { readonly tool: string; readonly text: string; readonly digest: string };

/** A manual as a system prompt ends with it. `digest` is the SHA-256 of its text, in hex. */
export type Manual = { readonly digest: string; readonly text: string };

const SECTION_DIGEST_CHARACTERS = 32;

const known = new WeakMap<Tool, Section>();

/** The sections of those tools that have one, by their names. */
export function sectionsOf(tools: Iterable<Tool>): readonly Section[] {
  return [...tools].flatMap((tool) => sectionOf(tool) ?? []).toSorted((one, other) => (one.tool < other.tool ? -1 : 1));
}

function sectionOf(tool: Tool): Section | null {
  if (tool.prompt === null) return null;
  const section = known.get(tool) ?? {
    tool: tool.name,
    text: tool.prompt,
    digest: sha256(tool.prompt).slice(0, SECTION_DIGEST_CHARACTERS),
  };
  known.set(tool, section);
  return section;
}

/** The manual with these sections; null for none. */
export function manualOf(sections: readonly Section[]): Manual | null {
  if (sections.length === 0) return null;
  const text = ["### Tools Manual", ...sections.map(sectionText)].join("\n\n");
  return { digest: sha256(text), text };
}

export function sectionText({ tool, text }: Pick<Section, "tool" | "text">): string {
  return `#### ${tool}\n\n${text}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
