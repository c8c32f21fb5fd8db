import type { FileHandle } from "node:fs/promises";
import { stateOf, type FileState } from "../../workspace/staged-file.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";
import { decodeText, type TextContent } from "./text-content.ts";

/** A text file as it stands, to be edited: its bytes, its text, and the state by which a later look knows it again. */
export type EditableFile = {
  /** The path of the file with all links resolved, relative to the workspace. */
  readonly name: string;
  readonly bytes: Buffer;
  readonly content: TextContent;
  readonly state: FileState;
};

/** Reads a text file that is to be edited. Throws an error for the model if the file cannot be edited. */
export async function readEditable(workspace: Workspace, path: string): Promise<EditableFile> {
  const real = workspace.resolve(path, "write");
  const file = await workspace.openForReading(path);
  try {
    const state = await stateOf(file);
    const bytes = await boundedContent(file, path);
    const decoded = decodeText(bytes);
    if (!decoded.ok) throw new Error(`${path} ${decoded.refusal}`);
    return { name: workspace.show(real), bytes, content: decoded.value, state };
  } finally {
    await file.close();
  }
}

/** The content of a file, read no further than an editable one goes: a file may be larger by now than it says. */
async function boundedContent(file: FileHandle, path: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const stream = file.createReadStream({ autoClose: false, start: 0, end: EDITED_FILE_BYTES }) as AsyncIterable<Buffer>;
  for await (const piece of stream) {
    pieces.push(piece);
    bytes += piece.length;
  }
  if (bytes > EDITED_FILE_BYTES)
    throw new Error(`${path} is larger than ${EDITED_FILE_BYTES / 1024 / 1024} MB: files of that size are not edited`);
  return Buffer.concat(pieces);
}
