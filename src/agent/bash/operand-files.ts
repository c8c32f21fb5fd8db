import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { errorCode } from "../../lib/text.ts";
import { PathClosed, PathRefused, type Access, type Workspace } from "../workspace/workspace.ts";
import type { FoundFile, FoundSearch, Span, Trouble } from "./command-line.ts";

/** The place of a command: the workspace, and the folder in it; null if only the shell knows which. */
export type Place = {
  readonly workspace: Workspace;
  readonly folder: string | null;
  /** True if other commands of its line may change what lies there. */
  readonly mayHaveChanged: boolean;
  /** Why words of the line must be named, by folder and word: a line may have many that are equal. */
  readonly named: Map<string, string | null>;
  /** The entries of folders that are still looked at for wildcards of the line. */
  readonly left: { entries: number };
};

/** A path of a command: a file of the workspace, none at all, or why it is asked about. `isOutside` if it leads out of the workspace. */
export type Located =
  | { readonly kind: "file"; readonly names: readonly string[] }
  | { readonly kind: "nothing" }
  | { readonly kind: "trouble"; readonly reason: string; readonly isOutside: boolean };

/**
 * Devices that every program may use. `-` is none of them: the shell and most programs take it for a file of that name, so it is
 * judged as one, also where a program reads its input by it.
 */
const DEVICES: ReadonlySet<string> = new Set([
  "/dev/null",
  "/dev/zero",
  "/dev/random",
  "/dev/urandom",
  "/dev/stdin",
  "/dev/stdout",
  "/dev/stderr",
]);

/** Those of them that can be read without end, or wait for what nobody writes. */
const ENDLESS: ReadonlySet<string> = new Set(["/dev/zero", "/dev/random", "/dev/urandom", "/dev/stdout", "/dev/stderr"]);

/** Finds what a path of a command leads to. Throws PathClosed for what is the server's own. */
export function located({ workspace, folder }: Pick<Place, "workspace" | "folder">, path: string): Located {
  if (DEVICES.has(path)) return { kind: "nothing" };
  if (path === "") return { kind: "trouble", reason: "a path is empty", isOutside: false };
  if (folder === null && !isAbsolute(path))
    return { kind: "trouble", reason: `only the shell knows in which folder ${JSON.stringify(path)} lies`, isOutside: false };
  const written = isAbsolute(path) || folder === "." ? path : `${folder ?? "."}/${path}`;
  try {
    if (goesUpFromLink(workspace, written))
      return { kind: "trouble", reason: `${JSON.stringify(path)} goes up from a folder that a link leads to`, isOutside: false };
    return { kind: "file", names: workspace.namesOf(written) };
  } catch (error) {
    if (error instanceof PathRefused && !(error instanceof PathClosed))
      return { kind: "trouble", reason: error.fact, isOutside: true };
    if (!["EACCES", "EPERM", "ELOOP", "ENAMETOOLONG"].includes(errorCode(error) ?? "")) throw error;
    return { kind: "trouble", reason: `${JSON.stringify(path)} cannot be looked at`, isOutside: false };
  }
}

/** A word that is only perhaps a path forbids nothing by what it leads to. */
export function locatedOrClosed(text: string, place: Place): Located {
  try {
    return located(place, text);
  } catch (error) {
    if (!(error instanceof PathClosed)) throw error;
    return { kind: "trouble", reason: error.fact, isOutside: true };
  }
}

/** True if a path has `..` behind a link: programs go up from where the link leads, the workspace from where it lies. */
function goesUpFromLink(workspace: Workspace, path: string): boolean {
  const segments = path.split("/");
  return segments.some((segment, index) => {
    const before = segments.slice(0, index).join("/");
    return segment === ".." && before !== "" && workspace.namesOf(before).length > 1;
  });
}

/** The use of a path. */
type PathUse = {
  readonly isRedirect: boolean;
  /** True if the command reads so many bytes of it and no more. */
  readonly isBounded?: boolean;
  readonly search: Pick<FoundSearch, "tells" | "follows" | "leavesOut" | "history"> | null;
};

/** The files and folders that a command names. */
export class Gathered {
  readonly files: FoundFile[] = [];
  readonly searches: FoundSearch[] = [];
  /** The first path that leads out of the workspace. */
  outside: Trouble | null = null;
  /** All of them, as they were written, and those that are only shown. */
  readonly outsidePaths = new Set<string>();
  place: Place;

  constructor(place: Place) {
    this.place = place;
  }

  /** Takes a path, and gives why it is asked about; null if it is not. */
  add(path: string, access: Access, { start, end }: Span, { isRedirect, search, isBounded = false }: PathUse): string | null {
    if (access === "read" && ENDLESS.has(path) && !isBounded) return `${path} has no end`;
    const found = located(this.place, path);
    if (found.kind === "nothing") return null;
    if (found.kind === "trouble") {
      if (found.isOutside) this.leadsOut(path, { start, end, reason: found.reason });
      return found.reason;
    }
    this.files.push({ start, end, names: found.names, access, isRedirect });
    if (search !== null) this.searches.push({ start, end, names: found.names, access, ...search, content: null });
    return this.place.mayHaveChanged && /(?:^|\/)(?!\.{1,2}\/)[^/]+\/(?:\.\/)*\.\.(?:\/|$)/.test(path)
      ? `${JSON.stringify(path)} goes up from a name to which the line may give something else`
      : null;
  }

  /** Takes a file of a name in a folder as one that is written, and gives why it is asked about. What is a file now may be a folder by then. */
  addInside(folder: string, name: string, { start, end }: Span): string | null {
    const at = located(this.place, folder);
    // The word of the folder itself is asked about.
    if (at.kind === "trouble" && at.isOutside) return null;
    const real = at.kind === "file" ? join(this.place.workspace.root, at.names.at(-1) ?? ".") : null;
    if (at.kind !== "file" || real === null || statSync(real, { throwIfNoEntry: false })?.isFile() !== true)
      return this.add(`${folder}/${name}`, "write", { start, end }, { isRedirect: false, search: null });
    this.files.push({ start, end, names: at.names.map((each) => `${each}/${name}`), access: "write", isRedirect: false });
    return null;
  }

  leadsOut(path: string, trouble: Trouble): void {
    this.outside ??= trouble;
    this.outsidePaths.add(path);
  }

  /** True if a path leads to a folder of the workspace: one that is there, or may be when the command runs. */
  isFolder(path: string): boolean {
    if (this.place.mayHaveChanged) return true;
    const found = located(this.place, path);
    if (found.kind !== "file") return false;
    const real = join(this.place.workspace.root, found.names.at(-1) ?? ".");
    return statSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
  }

  /** Goes into a folder: what is named after it lies there. Gives why that is asked about; null if it is not. */
  enter(path: string, span: Span): string | null {
    const reason = this.add(path, "read", span, { isRedirect: false, search: null });
    this.place = { ...this.place, folder: reason === null ? (this.files.at(-1)?.names.at(-1) ?? null) : null };
    return reason;
  }

  /** Takes the whole workspace as what is searched, since a repository does not end at a folder. */
  addRoot({ start, end }: Span, search: NonNullable<PathUse["search"]>): void {
    // In a repository within node_modules nothing of it is passed over.
    const isWithin = this.place.folder === null || this.place.folder.split("/").includes("node_modules");
    const leavesOut = isWithin ? search.leavesOut.filter((each) => each !== "node_modules") : search.leavesOut;
    this.searches.push({ start, end, names: ["."], access: "read", ...search, leavesOut, content: null });
  }
}
