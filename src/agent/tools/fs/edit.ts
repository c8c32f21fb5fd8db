import { defineTool, optional } from "../tool.ts";
import { closed } from "../../../lib/setting.ts";
import { Type } from "typebox";
import { readEditable } from "./editable-file.ts";
import { lineCount } from "./lines.ts";
import { writeFiles } from "./file-edits.ts";
import { editText, placesIn } from "./text-edit.ts";
import { fileDiff } from "./unified-diff.ts";

/** The parameters of one replacement in a file. */
export const EDIT = {
  path: Type.String({ minLength: 1, description: "Path relative to the workspace." }),
  old_string: Type.String({
    minLength: 1,
    description: "The text to replace, exactly as it stands in the file. It must occur once, unless replace_all is true.",
  }),
  new_string: Type.String({ description: "The text in its place. It is taken as it is written: nothing in it is a pattern." }),
  replace_all: optional(Type.Boolean({ description: "True to replace every occurrence (false)." })),
};

/** Replaces a text of a file by another one. */
export const fsEdit = defineTool({
  name: "fs_edit",
  description:
    "Replaces a text of a file of the workspace by another one. Encoding, line ends and permissions of the file stay. Read the file first. Says what stands there instead if the text does not occur.",
  readOnly: false,
  paths: { path: "write" },
  inputSchema: closed(EDIT),
  async run({ path, old_string: oldString, new_string: newString, replace_all: replaceAll }, context) {
    const before = await readEditable(context, path);
    const edited = editText(before.content.text, { oldString, newString, replaceAll: replaceAll ?? false });
    if (!edited.ok) throw new Error(`${path}: ${edited.refusal}`);
    const { text, replacements } = edited.value;
    await writeFiles(context, [{ path, before, text }]);
    return {
      output: `Edited ${path}: ${placesIn(edited.value)}.`,
      details: {
        ok: true,
        ...fileDiff(before.present.name, before.content.text, text),
        path,
        replacements,
        lines: lineCount(text),
      },
    };
  },
});
