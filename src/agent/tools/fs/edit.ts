import { Type, type Static } from "typebox";
import { closed } from "../../../lib/setting.ts";
import { counted } from "../../../lib/text.ts";
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
import { FileProblem, foreseen } from "./file-problem.ts";
import type { FileContext } from "./known-content.ts";
import { lineCount } from "./text-content.ts";
import { editText, placesIn, type EditedText } from "./text-edit.ts";
import { fileDiff } from "./unified-diff.ts";

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
