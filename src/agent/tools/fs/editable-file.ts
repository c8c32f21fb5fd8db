import { EDITED_FILE_BYTES } from "../limits.ts";
import { readKnown, type FileContext, type KnownContent } from "./known-content.ts";
import { decodeText, type TextContent } from "./text-content.ts";

/** A text file as it stands, to be edited, and what the agent knows of it. */
export type EditableFile = KnownContent & { readonly bytes: number; readonly content: TextContent };

/** Reads a text file that is to be edited. Throws an error for the model if the file cannot be edited, or is not what the agent knows. */
export async function readEditable(context: FileContext, path: string): Promise<EditableFile> {
  const read = await readKnown(context, path, EDITED_FILE_BYTES);
  const bytes = read.present.content ?? Buffer.alloc(0);
  const decoded = decodeText(bytes);
  if (!decoded.ok) throw new Error(`${path} ${decoded.refusal}`);
  return { ...read, bytes: bytes.length, content: decoded.value };
}
