import { Type, type Static } from "typebox";
import { closed } from "../../../lib/setting.ts";
import { counted, errorCode, byteLength } from "../../../lib/text.ts";
import type { SeenFile } from "../../workspace/known-files.ts";
import { defineTool, optional } from "../tool.ts";
import {
  readEditable,
  type EditableFile,
  writeFiles,
  diffsOf,
  editFiles,
  type EditedFiles,
  type FileEdit,
} from "./file-edits.ts";
import { FileProblem, foreseen, stageFile } from "./file-problem.ts";
import { readKnown, writtenFile, type FileContext, type KnownContent } from "./known-content.ts";
import { lineCount, decodeText } from "./text-content.ts";
import { editText, placesIn, type EditedText } from "./text-edit.ts";
import { fileDiff } from "./unified-diff.ts";

export const fsWrite = defineTool({
  name: "fs_write",
  description:
    "Writes a file of the workspace: creates it, with its folders, or replaces its whole content. Read a file that exists first.",
  readOnly: false,
  paths: { path: "write" },
  inputSchema: closed({
    path: Type.String({ minLength: 1, description: "Path relative to the workspace." }),
    content: Type.String({ description: "The whole new content." }),
  }),
  async run({ path, content }, context) {
    const { workspace, files, signal } = context;
    const before = await readBefore(context, path, content);
    const staged = await stageFile(workspace, path, content);
    // An ended call writes nothing.
    if (signal.aborted) await staged.discard();
    signal.throwIfAborted();
    const name = before?.present.name ?? workspace.show(workspace.resolve(path, "write"));
    files.wrote(writtenFile(name, await staged.replace(before?.present.state ?? null), Buffer.from(content)), true);
    const lines = lineCount(content);
    const bytes = byteLength(content);
    return {
      output: `Wrote ${path} (${counted(lines, "line")}, ${counted(bytes, "byte")}).${before === null ? "" : noteOn(before)}`,
      details: { ok: true, path, bytes, lines, diff: diffOf(name, before?.present ?? null, content) },
    };
  },
  preview: ({ path, content }, context) =>
    foreseen(async () => {
      const before = await readBefore(context, path, content);
      const name = context.workspace.show(context.workspace.resolve(path, "write"));
      return { files: [{ path: name, diff: diffOf(name, before?.present ?? null, content) }] };
    }),
});

/**
 * The replaced file; null if there is none. Throws a FileProblem if the content is fs_read's display of invalid bytes:
 * those would be lost.
 */
async function readBefore(context: FileContext, path: string, content: string): Promise<KnownContent | null> {
  const before = await ifThere(readKnown(context, path));
  if (before !== null && isBroken(before) && content.includes("\uFFFD"))
    throw new FileProblem(
      `${path} has bytes that are no text, which fs_read shows as U+FFFD, and the new content has U+FFFD in their place: write the characters that are meant, and the file becomes UTF-8, or change it with a program that knows its encoding`,
    );
  return before;
}

function isBroken({ present: { content } }: KnownContent): boolean {
  return content !== null && !decodeText(content).ok;
}

function noteOn(before: KnownContent): string {
  if (isBroken(before)) return " What it had before was no valid text: it is UTF-8 now.";
  return before.known.isWhole ? "" : " Only parts of what it had before were read.";
}

async function ifThere<File>(read: Promise<File>): Promise<File | null> {
  return read.catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  });
}

/** Null if it is too large, or if the earlier file has no text. */
function diffOf(name: string, before: SeenFile | null, content: string): string | null {
  if (before === null) return fileDiff(name, null, content).diff;
  const decoded = before.content === null ? null : decodeText(before.content);
  return decoded?.ok === true ? fileDiff(name, decoded.value.text, content).diff : null;
}

const EDIT = {
  path: Type.String({ minLength: 1, description: "Path relative to the workspace." }),
  old_string: Type.String({
    minLength: 1,
    description: "The text to replace, exactly as it stands in the file. It must occur once, unless replace_all is true.",
  }),
  new_string: Type.String({ description: "The text in its place. It is taken as it is written: nothing in it is a pattern." }),
  replace_all: optional(Type.Boolean({ description: "True to replace every occurrence (false)." })),
};

const EDIT_INPUT = closed(EDIT);

export const fsEdit = defineTool({
  name: "fs_edit",
  description:
    "Replaces a text of a file of the workspace by another one. Encoding, line ends and permissions of the file stay. Read the file first. Says what stands there instead if the text does not occur.",
  readOnly: false,
  paths: { path: "write" },
  inputSchema: EDIT_INPUT,
  async run(input, context) {
    const { path } = input;
    const before = await readEditable(context, path);
    const edited = editOf(input, before.content.text);
    const { text, replacements } = edited;
    await writeFiles(context, [{ path, before, text }]);
    return {
      output: `Edited ${path}: ${placesIn(edited)}.`,
      details: {
        ok: true,
        ...fileDiff(before.present.name, before.content.text, text),
        path,
        replacements,
        lines: lineCount(text),
      },
    };
  },
  preview: (input, context) =>
    foreseen(async () => {
      const { present, content } = await readEditable(context, input.path);
      return { files: [fileDiff(present.name, content.text, editOf(input, content.text).text)] };
    }),
});

function editOf(
  { path, old_string: oldString, new_string: newString, replace_all: replaceAll }: Static<typeof EDIT_INPUT>,
  text: string,
): EditedText {
  const edited = editText(text, { oldString, newString, replaceAll: replaceAll ?? false });
  if (!edited.ok) throw new FileProblem(`${path}: ${edited.refusal}`);
  return edited.value;
}

const EDITS = 100;

const ONE = closed(EDIT);

export const fsMultiEdit = defineTool({
  name: "fs_multi_edit",
  description:
    "Makes several edits, each as fs_edit does, in one file or in several. Read the files first. All are checked before anything is written: if one cannot be made, no file changes. Edits of one file are made in their order.",
  readOnly: false,
  paths: { "edits[].path": "write" },
  inputSchema: closed({ edits: Type.Array(ONE, { minItems: 1, maxItems: EDITS }) }),
  async run({ edits }, context) {
    const { files, replacements } = await edited(edits, context);
    // Before the write: the call may end while diffs are made.
    const diffs = await diffsOf(files, context.signal);
    await writeFiles(context, files);
    const results = edits.map(({ path }, index) => ({ path, replacements: replacements[index] ?? 0, status: "ok" }));
    return {
      output: [
        `Made ${counted(edits.length, "edit")} in ${counted(files.length, "file")}:`,
        ...results.map((result) => `${result.path}: ${result.replacements} replaced`),
      ].join("\n"),
      details: {
        ok: true,
        results,
        files: diffs.map(({ path, diff }, index) => ({ path, diff, lines: lineCount(files[index]?.text ?? "") })),
      },
    };
  },
  preview: ({ edits }, context) =>
    foreseen(async () => ({ files: await diffsOf((await edited(edits, context)).files, context.signal) })),
});

function edited(edits: readonly Static<typeof ONE>[], context: FileContext): Promise<EditedFiles<EditableFile>> {
  return editFiles(context, (path) => readEditable(context, path), edits.map(fileEdit));
}

function fileEdit({ path, old_string: oldString, new_string: newString, replace_all: replaceAll }: Static<typeof ONE>): FileEdit {
  return { path, oldString, newString, replaceAll: replaceAll ?? false };
}
