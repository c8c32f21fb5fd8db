import { defineTool, optional } from "../tool.ts";
import { closed } from "../../../lib/setting.ts";
import { Type, type Static } from "typebox";
import { readEditable } from "./editable-file.ts";
import { FileProblem, foreseen } from "./file-problem.ts";
import { lineCount } from "./lines.ts";
import { writeFiles } from "./file-edits.ts";
import { editText, placesIn, type EditedText } from "./text-edit.ts";
import { fileDiff } from "./unified-diff.ts";

export const EDIT = {
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
