import { counted } from "../../../lib/counted.ts";
import { Type, type Static } from "typebox";
import { closed } from "../../../lib/setting.ts";
import { defineTool } from "../tool.ts";
import { EDIT } from "./edit.ts";
import { readEditable, type EditableFile } from "./editable-file.ts";
import { diffsOf, editFiles, writeFiles, type EditedFiles, type FileEdit } from "./file-edits.ts";
import { foreseen } from "./file-problem.ts";
import type { FileContext } from "./known-content.ts";
import { lineCount } from "./lines.ts";

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
