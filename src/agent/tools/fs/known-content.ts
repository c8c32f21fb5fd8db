import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { counted, byteLength } from "../../../lib/text.ts";
import { stateOf, modifiedAt, type KnownFile, type SeenFile, KNOWN_PATH_BYTES } from "../../workspace/known-files.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";
import type { ToolContext } from "../tool-context.ts";
import { FileProblem, openFile } from "./file-problem.ts";
import { decodeText } from "./text-content.ts";
import { fileDiff } from "./unified-diff.ts";

export type FileContext = Pick<ToolContext, "workspace" | "files" | "signal">;

export type KnownContent = { readonly present: SeenFile; readonly known: KnownFile };

/**
 * Reads a file to be written, which the agent must have read or written before, without later changes by others. Throws
 * a FileProblem otherwise, UnopenedFile if it is missing, and PathRefused if access is denied. Larger files than
 * `mostBytes` are refused; without a bound, a large content is not held.
 */
export async function readKnown(context: FileContext, path: string, mostBytes?: number): Promise<KnownContent> {
  const { workspace, files } = context;
  const name = workspace.show(workspace.resolve(path, "write"));
  const known = await files.find(name);
  if (known === null) {
    await (await openFile(workspace, path)).close();
    throw new FileProblem(unread(path, name));
  }
  const present = await readNamed(context, path, name, mostBytes);
  requireSame(path, present, known, files.contentOf(known));
  return { present, known };
}

async function readNamed(
  { workspace, signal }: FileContext,
  path: string,
  name: string,
  mostBytes: number = Infinity,
): Promise<SeenFile> {
  const file = await openFile(workspace, path);
  try {
    const state = await stateOf(file);
    requireSize(path, Number(state.bytes), mostBytes);
    const content = await contentOf(file, signal, mostBytes);
    // A file may have grown since its size was read.
    requireSize(path, content.bytes, mostBytes);
    return { name, state, ...content.end() };
  } finally {
    await file.close();
  }
}

function requireSize(path: string, bytes: number, mostBytes: number): void {
  if (bytes > mostBytes)
    throw new FileProblem(`${path} is larger than ${mostBytes / 1024 / 1024} MB: files of that size are not edited`);
}

async function contentOf(file: FileHandle, signal: AbortSignal, mostBytes: number): Promise<ContentDigest> {
  const content = new ContentDigest();
  const stream = file.createReadStream({ autoClose: false, start: 0, end: mostBytes }) as AsyncIterable<Buffer>;
  for await (const piece of stream) {
    signal.throwIfAborted();
    content.add(piece);
  }
  return content;
}

export function writtenFile(name: string, state: SeenFile["state"], content: Buffer): SeenFile {
  return { name, state, digest: createHash("sha256").update(content).digest("hex"), content };
}

const CHANGES_BYTES = 4 * 1024;

/** The error, for the model, that the agent has neither read nor written an existing file. */
function unread(path: string, name: string): string {
  if (byteLength(name) > KNOWN_PATH_BYTES)
    return `${path} is longer than ${KNOWN_PATH_BYTES} bytes: a file that lies so deep is not replaced`;
  return `${path} exists, and you have not read it: read it first, so that nothing in it is lost unseen`;
}

/**
 * Throws a FileProblem with the changes if a file differs from the content that the agent knows. A change that was
 * reverted does not count. `before` is the known content, if it is cached.
 */
function requireSame(path: string, present: SeenFile, known: KnownFile, before: Buffer | null): void {
  if (known.digest === present.digest) return;
  const was = `${counted(known.bytes, "byte")}, changed at ${new Date(known.modifiedAt).toISOString()}`;
  const is = `${counted(Number(present.state.bytes), "byte")}, changed at ${modifiedAt(present.state).toISOString()}`;
  throw new FileProblem(
    [
      `${path} was changed by something else since you last ${known.access === "READ" ? "read" : "wrote"} it, and is left as it is: read it again.`,
      `It had ${was}; now it has ${is}.`,
      ...changesOf(before, present),
    ].join("\n"),
  );
}

/** The changed lines if both contents are cached, or their number if there are too many. */
function changesOf(before: Buffer | null, { name, content }: SeenFile): readonly string[] {
  if (before === null || content === null) return [];
  const [from, to] = [decodeText(before), decodeText(content)];
  if (!from.ok || !to.ok) return [];
  const { diff } = fileDiff(name, from.value.text, to.value.text);
  if (diff === null) return [];
  if (byteLength(diff) <= CHANGES_BYTES) return [diff];
  const lines = diff.split("\n").slice(2);
  const changed = (sign: string): string => counted(lines.filter((line) => line.startsWith(sign)).length, "line");
  return [`The change adds ${changed("+")} and removes ${changed("-")}.`];
}

export class ContentDigest {
  readonly #hash = createHash("sha256");
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  async *of(pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const piece of pieces) {
      this.add(piece);
      yield piece;
    }
  }

  add(piece: Buffer): void {
    this.#hash.update(piece);
    this.#bytes += piece.length;
    if (this.#bytes <= EDITED_FILE_BYTES) this.#pieces.push(piece);
    else this.#pieces.length = 0;
  }

  end(): Pick<SeenFile, "digest" | "content"> {
    const content = this.#bytes <= EDITED_FILE_BYTES ? Buffer.concat(this.#pieces) : null;
    return { digest: this.#hash.digest("hex"), content };
  }
}
