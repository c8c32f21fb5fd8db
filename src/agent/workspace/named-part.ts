import { lstatSync } from "node:fs";
import { join } from "node:path";
import { globMatcher, isPattern } from "./glob.ts";
import type { Workspace } from "./workspace.ts";

const WITHIN = "**/*";

export type SearchPattern = { readonly pattern: string; readonly named: string | null };

/**
 * A search pattern in normal form: without `.` and empty names; a folder's name stands for all its contents. A pattern
 * that leaves the folder is unchanged, and will be refused.
 */
export function searchPattern({ root }: Workspace, folder: string, written: string): SearchPattern {
  const segments = written.split("/");
  const leadsElsewhere = written.startsWith("/") || segments.includes("..") || written.includes("\0");
  const pattern = leadsElsewhere ? written : segments.filter((segment) => segment !== "" && segment !== ".").join("/");
  if (pattern === "") return { pattern: WITHIN, named: null };
  if (!leadsElsewhere && isFolder(join(root, folder, pattern))) return { pattern: `${pattern}/${WITHIN}`, named: pattern };
  return { pattern, named: isPattern(pattern) ? null : pattern };
}

function isFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // A name that is too long, or a file in place of a folder.
    return false;
  }
}

/** The hint after an empty search whose pattern is a missing path; otherwise empty. */
export function absenceHint({ root }: Workspace, folder: string, pattern: string): string {
  return isPattern(pattern) || statOf(join(root, folder, pattern)) !== "nothing" ? "" : `\n${pattern} does not exist.`;
}

export type NamedPart = { readonly path: string; readonly rest: string };

/**
 * The longest literal start of a pattern that exists in a folder: `app/[id]` of `app/[id]/*.tsx`. Null if it has no
 * wildcards, or does not exist. Links are not followed.
 */
export function namedPart({ root }: Workspace, folder: string, pattern: string): NamedPart | null {
  if (!isPattern(pattern)) return null;
  const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
  let named = 0;
  let special = 0;
  for (const [index, segment] of segments.entries()) {
    if (segment === ".." || segment.includes("\0")) break;
    const found = statOf(join(root, folder, ...segments.slice(0, index + 1)));
    if (found === "nothing" || (found === "link" && index < segments.length - 1)) break;
    named = index + 1;
    if (isPattern(segment)) special = named;
  }
  return special === 0 ? null : { path: segments.slice(0, named).join("/"), rest: segments.slice(named).join("/") };
}

function statOf(path: string): "nothing" | "link" | "there" {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found === undefined ? "nothing" : found.isSymbolicLink() ? "link" : "there";
  } catch {
    // A name that is too long, or a file in place of a folder.
    return "nothing";
  }
}

export function searchMatcher(pattern: string, named: NamedPart | null, dot: boolean): (path: string) => boolean {
  const isMatch = globMatcher(pattern, dot);
  if (named === null) return isMatch;
  if (named.rest === "") return (path) => path === named.path || isMatch(path);
  const isRest = globMatcher(named.rest, dot);
  return (path) => (path.startsWith(`${named.path}/`) && isRest(path.slice(named.path.length + 1))) || isMatch(path);
}

/** The hint after an empty search with brackets or braces in its pattern; otherwise empty. */
export function bracketHint(pattern: string): string {
  return /[[{]/.test(pattern)
    ? "\n[brackets and braces stand for others in a pattern, but in the exact name of something that is there: for other names write [[] for [, and ? for { and }]"
    : "";
}
