import type { SeenFile } from "../../workspace/known-files.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";
import { FileProblem } from "./file-problem.ts";
import { readKnown, type FileContext, type KnownContent } from "./known-content.ts";
import { decodeText, type TextContent } from "./text-content.ts";

/** A text file as it stands. */
export type PresentText = { readonly present: SeenFile; readonly bytes: number; readonly content: TextContent };

/** A text file as it stands, to be edited, and what the agent knows of it. */
export type EditableFile = PresentText & KnownContent;

/** Reads a text file that is to be edited. Throws an error for the model if the file cannot be edited, or is not what the agent knows. */
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
