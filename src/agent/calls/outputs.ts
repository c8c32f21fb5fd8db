import { mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import { byteLength, wholeCharacters } from "../../lib/text.ts";
import { KEPT_BYTES, keptPieces } from "../workspace/output/segments.ts";

export type OutputPiece = { readonly text: string; readonly nextOffset: number | null };

/** The most of one output that is kept, in bytes. */
export const MOST_BYTES = 2 * KEPT_BYTES;

/** Outputs that the model read only in part: complete files of the server that ran the call, named by the call's id. */
export class ToolOutputs {
  readonly #folder: string;
  readonly #written = new Set<string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Keeps at most MOST_BYTES of an output, and returns the bytes kept. */
  async keep(callId: string, output: string): Promise<number> {
    const text = byteLength(output) > MOST_BYTES ? Buffer.from(output, "utf8").subarray(0, MOST_BYTES) : output;
    await mkdir(this.#folder, { recursive: true });
    await writeFile(this.#path(callId), text, { mode: 0o600 });
    return Buffer.byteLength(text);
  }

  collecting(callId: string): string {
    return join(this.#folder, `${callId}.parts`);
  }

  shell(shellId: string): string {
    return join(this.#folder, `${shellId}.shell`);
  }

  /** Excludes a folder from removal, at any age, until `ended` resolves: a program writes there. */
  leaveAlone(folder: string, ended: Promise<unknown>): void {
    this.#written.add(folder);
    void ended.then(() => this.#written.delete(folder));
  }

  /**
   * Keeps a collected output. If it has more than MOST_BYTES, only its beginning and end, with a mark for the bytes
   * left out. Returns the bytes kept.
   */
  async keepCollected(callId: string): Promise<number> {
    const file = await open(this.#path(callId), "w", 0o600);
    try {
      for await (const piece of keptPieces(this.collecting(callId)))
        await file.appendFile("leftOut" in piece ? `\n[… ${piece.leftOut} bytes were not kept …]\n` : piece);
      return (await file.stat()).size;
    } finally {
      await file.close();
    }
  }

  async discardCollected(callId: string): Promise<void> {
    await rm(this.collecting(callId), { recursive: true, force: true });
  }

  /** At most `bytes` bytes from an offset, ending at a character boundary; null if this server does not have the output. */
  async read(callId: string, offset: number, bytes: number): Promise<OutputPiece | null> {
    const file = await open(this.#path(callId)).catch(() => null);
    if (file === null) return null;
    try {
      const buffer = Buffer.alloc(bytes);
      const { bytesRead } = await file.read(buffer, 0, bytes, offset);
      const { size } = await file.stat();
      const isEnd = offset + bytesRead >= size;
      const end = isEnd ? bytesRead : wholeCharacters(buffer, bytesRead);
      return { text: buffer.toString("utf8", 0, end), nextOffset: isEnd ? null : offset + end };
    } finally {
      await file.close();
    }
  }

  /** The calls and shells with kept output on this server. */
  async ids(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch(() => []);
    return [...new Set(names.map((name) => parse(name).name))];
  }

  /** Removes the kept output of a call or a shell. False if a program still writes there. */
  async remove(id: string): Promise<boolean> {
    const paths = [this.#path(id), this.collecting(id), this.shell(id)];
    if (paths.some((path) => this.#written.has(path))) return false;
    for (const path of paths) await rm(path, { recursive: true, force: true });
    return true;
  }

  async removeOlder(before: Date): Promise<number> {
    const old = await this.#older(before);
    for (const path of old) await rm(path, { recursive: true, force: true });
    return old.length;
  }

  async countOlder(before: Date): Promise<number> {
    return (await this.#older(before)).length;
  }

  async #older(before: Date): Promise<string[]> {
    const old: string[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const path = join(this.#folder, name);
      const changedAt = this.#written.has(path) ? null : await changeOf(path).catch(() => null);
      if (changedAt !== null && changedAt < before) old.push(path);
    }
    return old;
  }

  #path(callId: string): string {
    return join(this.#folder, `${callId}.txt`);
  }
}

/** The last write to a file, or to any file of a folder. A folder's own time changes only when files come and go. */
async function changeOf(path: string): Promise<Date> {
  const own = await stat(path);
  if (!own.isDirectory()) return own.mtime;
  const inside = await Promise.all((await readdir(path)).map((name) => stat(join(path, name))));
  return new Date(Math.max(...[own, ...inside].map(({ mtimeMs }) => mtimeMs)));
}
