import { dirname, relative, resolve } from "node:path";
import { isInside } from "../../../lib/path-inside.ts";
import type { FoundInWorkspace } from "../../workspace/sandbox/covered-paths.ts";
import type { Program } from "../../workspace/sandbox/sandbox.ts";

/** The most files that are named, and the most of the arguments that is looked at, in characters. */
const MOST_NAMED = 5;
const MOST_CHARACTERS = 32 * 1024;

/** The characters of a command line at which a path ends. */
const BETWEEN = /[\s"'`;|&<>(){}=,:]+/;

/**
 * Notes for the model about covered files that a program's arguments name: without them an empty file looks as if it were
 * so. The words are taken as they are written: a pattern, a variable or a link names nothing here.
 */
export function coveredNotes({
  argv,
  workspace,
  folder,
  covered,
}: Pick<Program, "argv" | "workspace" | "folder"> & Pick<FoundInWorkspace, "covered">): readonly string[] {
  if (covered.length === 0) return [];
  const places = new Set(covered);
  const named = new Set<string>();
  let from = folder;
  let before = "";
  for (const word of argv.join(" ").slice(0, MOST_CHARACTERS).split(BETWEEN)) {
    const path = resolve(from, word);
    const place = coveredPlace(places, workspace, path);
    if (place !== null) named.add(place);
    if (before === "cd") from = path;
    before = word;
  }
  const notes = [...named].map((place) => `${relative(workspace, place)} is covered in the box: programs see it empty`);
  const more = notes.length - MOST_NAMED;
  if (more <= 0) return notes;
  return [...notes.slice(0, MOST_NAMED), `${more} more files that the command names are covered in the box`];
}

/** The covered file or folder that a path names, or in which it lies; null if there is none. */
function coveredPlace(places: ReadonlySet<string>, workspace: string, path: string): string | null {
  for (let place = path; place !== workspace && isInside(workspace, place); place = dirname(place))
    if (places.has(place)) return place;
  return null;
}
