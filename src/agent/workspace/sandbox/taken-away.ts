import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { randomUUID } from "node:crypto";
import { errorCode } from "../../../lib/error-code.ts";
import { messageOf } from "../../../lib/text.ts";
import { inFolder } from "../pinned-folder.ts";

/** Paths of a workspace that were not there when a program started, and that the program must not leave behind. */
type Watch = { readonly workspace: string; readonly absent: readonly string[] };

/**
 * Takes away what programs make at protected paths. What is taken away is moved into a folder of the server's own, since a
 * person may have made it meanwhile. That a program runs is written down before it starts: after the death of a server its
 * next start takes away what was left.
 */
export class TakenAway {
  readonly #running: string;
  readonly #kept: string;

  /** `folder` is the server's own. */
  constructor(folder: string) {
    this.#running = join(folder, "running");
    this.#kept = join(folder, "taken-away");
    mkdirSync(this.#running, { recursive: true });
  }

  /** Remembers that a program starts. The result, called once nothing of the program runs, takes away and says what, in words for the model. */
  watch(watch: Watch): () => Promise<readonly string[]> {
    const id = randomUUID();
    const file = join(this.#running, `${id}.json`);
    writeFileSync(file, JSON.stringify(watch), { mode: 0o600 });
    return async () => {
      const notes = await this.#takeAll(watch, id);
      // What could not be taken away is tried again at the next start of the server.
      if (notes.every(({ isDone }) => isDone)) unlink(file);
      return notes.map(({ text }) => text);
    };
  }

  /** Takes away what programs of a server left that died. Says what, in words for the operator. */
  async recover(): Promise<readonly string[]> {
    const said: string[] = [];
    for (const name of readdirSync(this.#running)) {
      const file = join(this.#running, name);
      const watch = readWatch(file);
      if (watch === null) {
        said.push(`${file} was broken off while it was written, before its program started: it is removed`);
        unlink(file);
        continue;
      }
      const notes = await this.#takeAll(watch, basename(name, ".json"));
      said.push(...notes.map(({ text }) => text));
      if (notes.every(({ isDone }) => isDone)) unlink(file);
    }
    return said;
  }

  async #takeAll({ workspace, absent }: Watch, id: string): Promise<{ readonly text: string; readonly isDone: boolean }[]> {
    const notes: { text: string; isDone: boolean }[] = [];
    const seen = new Set<string>();
    for (const path of absent) {
      try {
        const found = made(workspace, path);
        if (found === null || seen.has(found)) continue;
        seen.add(found);
        const to = join(this.#kept, id, found);
        mkdirSync(dirname(to), { recursive: true });
        await inFolder(dirname(join(workspace, found)), async (folder) => move(join(folder, basename(found)), to));
        notes.push({ text: `${found} was taken away: programs of a box may not make it. It is kept in ${to}`, isDone: true });
      } catch (error) {
        notes.push({
          text: `${path} must not be made by programs of a box, and could not be taken away (${messageOf(error)})`,
          isDone: false,
        });
      }
    }
    return notes;
  }
}

/** What was written down of a program; null if the disk was full, or the server died, before all of it was. */
function readWatch(file: string): Watch | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Watch;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The part of a path, from the workspace's root, that now stands there, or a link or file on the way to it; null if nothing does. */
function made(workspace: string, path: string): string | null {
  const names = path.split("/");
  for (const [index] of names.entries()) {
    const part = names.slice(0, index + 1).join("/");
    const found = lstatSync(join(workspace, part), { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (!found.isDirectory()) return part;
  }
  return path;
}

/** Removes the note of a program that has ended. One that stays is looked at again at the next start, and finds nothing. */
function unlink(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The server's folder is gone or full.
  }
}

/** Moves a file or folder, also to another disk. Links are moved as links. */
function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== "EXDEV") throw error;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    rmSync(from, { recursive: true });
  }
}
