import type { SeenFile } from "../../workspace/known-files.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";
import { FileProblem } from "./file-problem.ts";
import { readKnown, type FileContext, type KnownContent } from "./known-content.ts";
import { decodeText, type TextContent } from "./text-content.ts";

export type PresentText = { readonly present: SeenFile; readonly bytes: number; readonly content: TextContent };

export type EditableFile = PresentText & KnownContent;

/**
 * Reads a text file for an edit. Throws an error for the model if it cannot be edited, or differs from the content that
 * the agent knows.
 */
export async function readEditable(context: FileContext, path: string): Promise<EditableFile> {
  const { present, known } = await readKnown(context, path, EDITED_FILE_BYTES);
  return { ...decoded(path, present), known };
}

function decoded(path: string, present: SeenFile): PresentText {
  const bytes = present.content ?? Buffer.alloc(0);
  const content = decodeText(bytes);
  if (!content.ok) throw new FileProblem(`${path} ${content.refusal}`);
  return { present, bytes: bytes.length, content: content.value };
}
