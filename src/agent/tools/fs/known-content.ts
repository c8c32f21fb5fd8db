import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { stateOf } from "../../workspace/file-state.ts";
import type { KnownFile, SeenFile } from "../../workspace/known-files.ts";
import type { ToolContext } from "../tool.ts";
import { ContentDigest } from "./content-digest.ts";
import { FileProblem } from "./file-problem.ts";
import { requireSame, unread } from "./freshness.ts";
import { openFile } from "./unopened-file.ts";

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
