import { readdir } from "node:fs/promises";
import { join } from "node:path";
import picomatch from "picomatch";
import { PathRefused, type Workspace } from "./workspace.ts";

/** Folders that are left out unless the pattern names them. */
const LEFT_OUT = new Set([".git", "node_modules"]);

/**
 * The files under `folder` whose path, relative to it, matches the glob, in order of their names. Links are listed but
 * not entered.
 */
export async function* walk(workspace: Workspace, folder: string, glob: string, dot: boolean, signal: AbortSignal): AsyncGenerator<string> {
  if (glob.startsWith("/") || glob.split("/").includes("..")) throw new PathRefused("a pattern must stay inside of the workspace: write it relative to the root");
  const isMatch = picomatch(glob, { dot });
  const named = new Set(glob.split("/"));

  async function* enter(real: string, inside: string): AsyncGenerator<string> {
    signal.throwIfAborted();
    const entries = await readdir(real, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
      if (!entry.isDirectory()) {
        if (isMatch(path)) yield path;
      } else if ((!LEFT_OUT.has(entry.name) || named.has(entry.name)) && (dot || !entry.name.startsWith(".") || named.has(entry.name))) {
        yield* enter(join(real, entry.name), path);
      }
    }
  }

  yield* enter(await workspace.resolve(folder), "");
}
