import type { AnsweringFolders } from "../answering-folders.ts";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { randomUUID } from "node:crypto";
import { DAY_MS } from "../../../lib/time.ts";
import { errorCode, messageOf } from "../../../lib/text.ts";
import { folderBytes } from "../folder-bytes.ts";
import { inFolder } from "../pinned-folder.ts";

/** How long removed files are kept, in ms, and the most of them, in bytes. */
const KEPT_MS = 30 * DAY_MS;
const MOST_BYTES = 4 * 1024 ** 3;

type Watch = { readonly workspace: string; readonly absent: readonly string[] };

/**
 * Removes files that programs make at protected paths: moves them into a server's folder, since a person may have made
 * them. Each program is recorded before its start: after a crash, the server's next start removes its files.
 */
export class TakenAway {
  readonly #running: string;
  readonly #kept: string;

  constructor(folder: string) {
    this.#running = join(folder, "running");
    this.#kept = join(folder, "taken-away");
    mkdirSync(this.#running, { recursive: true });
  }

  /**
   * Records the start of a program. The result, called after the program's end, removes its files and returns notes for
   * the model.
   */
  watch(watch: Watch): () => Promise<readonly string[]> {
    const id = randomUUID();
    const file = join(this.#running, `${id}.json`);
    writeFileSync(file, JSON.stringify(watch), { mode: 0o600 });
    return async () => {
      const notes = await this.#takeAll(watch, id);
      // A failed removal is repeated at the server's next start.
      if (notes.every(({ isDone }) => isDone)) unlink(file);
      return notes.map(({ text }) => text);
    };
  }

  /** Removes the files of programs of a stopped server. Returns notes for the operator. */
  async recover(folders: AnsweringFolders): Promise<readonly string[]> {
    const said: string[] = [];
    for (const name of readdirSync(this.#running)) {
      const file = join(this.#running, name);
      const watch = watchIn(file);
      if (watch !== null && !(await folders.answers(watch.workspace))) {
        said.push(
          `the file system of ${watch.workspace} does not answer: what a program left there is looked for at the next start`,
        );
        continue;
      }
      const notes = watch === null ? [] : await this.#takeAll(watch, basename(name, ".json"));
      said.push(...notes.map(({ text }) => text));
      if (notes.every(({ isDone }) => isDone)) unlink(file);
    }
    return said;
  }

  async sweep(now: Date, most: number = MOST_BYTES): Promise<void> {
    const names = await readdir(this.#kept).catch((error: unknown) => {
      if (errorCode(error) === "ENOENT") return [];
      throw error;
    });
    const kept = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(this.#kept, name))).mtimeMs })));
    let left = most;
    for (const { name, at } of kept.toSorted((one, other) => other.at - one.at)) {
      const place = join(this.#kept, name);
      left -= await folderBytes(place, Math.max(left, 0));
      if (left < 0 || now.getTime() - at > KEPT_MS) await rm(place, { recursive: true, force: true });
    }
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
        const place = join(workspace, found);
        const beside = `${place}.taken-away-${id}`;
        const isMoved = await inFolder(dirname(place), async (folder) => moved(folder, basename(place), to, basename(beside)));
        const kept = isMoved ? to : beside;
        notes.push({ text: `${found} was taken away: programs of a box may not make it. It is kept in ${kept}`, isDone: true });
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

function watchIn(file: string): Watch | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Watch;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

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

function unlink(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The server's folder is gone or full.
  }
}

/**
 * Moves an entry of a folder to `to`, or, if that fails, to the name `beside` in the same folder. True if it was moved
 * to `to`. Links are moved as links. Nothing is copied, since a program may make files of any size and depth.
 */
function moved(folder: string, name: string, to: string, beside: string): boolean {
  try {
    renameSync(join(folder, name), to);
    return true;
  } catch (error) {
    // Another disk, or a folder without write permission.
    if (!["EXDEV", "EACCES", "EPERM"].includes(errorCode(error) ?? "")) throw error;
  }
  chmodSync(folder, (statSync(folder).mode & 0o7777) | 0o700);
  renameSync(join(folder, name), join(folder, beside));
  return false;
}
