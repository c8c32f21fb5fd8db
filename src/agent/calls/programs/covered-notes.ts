import { dirname, relative, resolve } from "node:path";
import { isInside } from "../../../lib/path-inside.ts";
import type { FoundInWorkspace } from "../../workspace/sandbox/covered-paths.ts";
import type { Program } from "../../workspace/sandbox/sandbox.ts";

/** The most files that are named. `CHARACTERS` of the arguments are scanned. */
const MOST_NAMED = 5;
const MOST_CHARACTERS = 32 * 1024;

const BETWEEN = /[\s"'`;|&<>(){}=,:]+/;

/**
 * Notes for the model about covered files in a program's arguments: without a note such a file looks empty. Words are
 * taken literally, without patterns, variables or links.
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

function coveredPlace(places: ReadonlySet<string>, workspace: string, path: string): string | null {
  for (let place = path; place !== workspace && isInside(workspace, place); place = dirname(place))
    if (places.has(place)) return place;
  return null;
}
