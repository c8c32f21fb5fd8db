import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { stateOf } from "../../workspace/file-state.ts";
import type { KnownFile, SeenFile } from "../../workspace/known-files.ts";
import type { ToolContext } from "../tool.ts";
import { ContentDigest } from "./content-digest.ts";
import { FileProblem } from "./file-problem.ts";
import { requireSame, unread } from "./freshness.ts";
import { openFile } from "./unopened-file.ts";

/** The part of a call's context that it takes to read and write files. */
export type FileContext = Pick<ToolContext, "workspace" | "files" | "signal">;

/** A file that is to be written, as it stands, and what the agent knows of it. */
export type KnownContent = { readonly present: SeenFile; readonly known: KnownFile };

/**
 * Reads a file that is to be written: one that the agent has read or written before, and that nothing else has changed since.
 * Throws a FileProblem if that is not so, UnopenedFile if there is none, and PathRefused for one that may not be read or
 * written. Beyond `mostBytes` nothing is read, and the file is refused; without a bound a large content is not held.
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
    // A file may be larger by now than it said.
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

/** The content of a file, read up to a byte beyond `mostBytes`. */
async function contentOf(file: FileHandle, signal: AbortSignal, mostBytes: number): Promise<ContentDigest> {
  const content = new ContentDigest();
  const stream = file.createReadStream({ autoClose: false, start: 0, end: mostBytes }) as AsyncIterable<Buffer>;
  for await (const piece of stream) {
    signal.throwIfAborted();
    content.add(piece);
  }
  return content;
}

/** A content that was written, as the file that it is now. */
export function writtenFile(name: string, state: SeenFile["state"], content: Buffer): SeenFile {
  return { name, state, digest: createHash("sha256").update(content).digest("hex"), content };
}
