import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "../../lib/json.ts";
import { counted, errorCode } from "../../lib/text.ts";
import { isPattern } from "./glob.ts";
import { namedPart, searchMatcher } from "./named-part.ts";
import { FolderChanged, inFolder } from "./pinned-folder.ts";
import { isSecretPath } from "./secret-files.ts";
import { PathRefused, type Workspace } from "./workspace.ts";

const TURN_ENTRIES = 50;

/** Folders that are left out unless the pattern names them. */
const LEFT_OUT = new Set([".git", "node_modules"]);

export type Found = { readonly path: string; readonly kind: "file" | "link to a file" | "link to a folder" };

/**
 * The files under `folder` whose relative path matches the glob, ordered by name. Links are listed and not followed,
 * and closed paths are skipped. Other exclusions are counted in `leftOut`: probable secrets, hidden names unless `dot`,
 * .git and node_modules unless the pattern names them. Linked folders count too, and folders that are unreadable or not
 * UTF-8.
 */
export async function* walk(
  workspace: Workspace,
  folder: string,
  glob: string,
  dot: boolean,
  signal: AbortSignal,
  leftOut: LeftOut,
): AsyncGenerator<Found> {
  if (glob.startsWith("/") || glob.split("/").includes(".."))
    throw new PathRefused("a pattern must stay inside of the workspace: write it relative to the root");
  const name = namedPart(workspace, workspace.show(workspace.resolve(folder)), glob);
  const isMatch = searchMatcher(glob, name, dot);
  const isMatchIfHidden = searchMatcher(glob, name, true);
  const isSearch = isPattern(glob);
  const base = workspace.show(workspace.resolve(folder));
  const named = new Set(glob.split("/"));

  async function* enter(real: string, inside: string): AsyncGenerator<Found> {
    signal.throwIfAborted();
    const entries = await entriesOf(real);
    if (entries === null) leftOut.unreadable += 1;
    for (const [index, entry] of (entries ?? []).entries()) {
      if (index % TURN_ENTRIES === TURN_ENTRIES - 1) {
        await setImmediate();
        signal.throwIfAborted();
      }
      const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
      if (isClosed(workspace, join(real, entry.name), entry)) continue;
      // Named files were asked about before; files found by a search are left out.
      if (isSearch && !isSecretPath(base) && isSecretPath(base === "." ? path : `${base}/${path}`)) {
        leftOut.secrets += 1;
        continue;
      }
      if (entry.isFile() || entry.isSymbolicLink()) {
        const kind = entry.isFile() ? "file" : (await isFolder(join(real, entry.name))) ? "link to a folder" : "link to a file";
        if (kind === "link to a folder" && isSearch) leftOut.links += 1;
        if (isMatch(path)) yield { path, kind };
        else if (!dot && isMatchIfHidden(path)) leftOut.hidden += 1;
      } else if (entry.isDirectory()) {
        const isNamed = named.has(entry.name);
        if (LEFT_OUT.has(entry.name) && !isNamed) leftOut.folders.add(entry.name);
        else if (!dot && entry.name.startsWith(".") && !isNamed) leftOut.hidden += 1;
        else yield* enter(join(real, entry.name), path);
      }
    }
  }

  yield* enter(workspace.resolve(folder), "");
}

function isClosed(workspace: Workspace, path: string, entry: Dirent): boolean {
  if (workspace.isClosed(path)) return true;
  if (!entry.isSymbolicLink()) return false;
  try {
    return workspace.namesOf(path).some((name) => workspace.isClosed(join(workspace.root, name)));
  } catch (error) {
    if (error instanceof PathRefused) return false;
    throw error;
  }
}

async function isFolder(link: string): Promise<boolean> {
  try {
    return (await stat(link)).isDirectory();
  } catch {
    return false;
  }
}

/** False if a name may stand for invalid UTF-8, which Node reads as U+FFFD and does not find again. */
function hasText(name: string): boolean {
  return !name.includes("\uFFFD");
}

async function entriesOf(folder: string): Promise<Dirent[] | null> {
  try {
    const entries = await inFolder(folder, (pinned) => readdir(pinned, { withFileTypes: true }));
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (error instanceof FolderChanged) return [];
    if (errorCode(error) === "ENOENT") return hasText(basename(folder)) ? [] : null;
    if (["EACCES", "EPERM", "ENAMETOOLONG"].includes(errorCode(error) ?? "")) return null;
    throw error;
  }
}

export type LeftOut = {
  secrets: number;
  hidden: number;
  readonly folders: Set<string>;
  large: number;
  binary: number;
  /** Links to folders, which are not followed, and links to files outside of the pattern. */
  links: number;
  unreadable: number;
};

export function nothingLeftOut(): LeftOut {
  return { secrets: 0, hidden: 0, folders: new Set(), large: 0, binary: 0, links: 0, unreadable: 0 };
}

/** The note for the model about the exclusions of a search; empty without any. `hint` says how hidden names are reached. */
export function leftOutNote({ secrets, hidden, folders, large, binary, links, unreadable }: LeftOut, hint: string): string {
  const parts = [
    ...(secrets === 0
      ? []
      : [
          `${secrets} ${secrets === 1 ? "file or folder that mostly holds" : "files or folders that mostly hold"} secrets (name one to read it)`,
        ]),
    ...(hidden === 0 ? [] : [`${hidden} hidden (${hint})`]),
    ...(folders.size === 0 ? [] : [`${[...folders].join(" and ")} (name the folder in the pattern)`]),
    ...(large === 0 ? [] : [`${large} too large`]),
    ...(binary === 0 ? [] : [`${binary} without text`]),
    ...(links === 0 ? [] : [`${counted(links, "link")} (name what a link leads to)`]),
    ...(unreadable === 0 ? [] : [`${unreadable} that cannot be read`]),
  ];
  return parts.length === 0 ? "" : `\n[left out: ${parts.join("; ")}]`;
}

export function leftOutDetails({ folders, ...counts }: LeftOut): JsonObject {
  return { ...counts, folders: [...folders] };
}
