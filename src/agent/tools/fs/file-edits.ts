import { setImmediate as macrotask } from "node:timers/promises";
import { byteLength, messageOf } from "../../../lib/text.ts";
import { isSameState, type SeenFile } from "../../workspace/known-files.ts";
import type { StagedFile, Workspace } from "../../workspace/workspace.ts";
import { EDITED_FILE_BYTES } from "../limits.ts";
import { FileProblem, isFileProblem, stageFile, unopened } from "./file-problem.ts";
import { writtenFile, type FileContext, readKnown, type KnownContent } from "./known-content.ts";
import { nearestRoom } from "./nearest-text.ts";
import { encodeText, decodeText, type TextContent } from "./text-content.ts";
import { editText, type TextEdit } from "./text-edit.ts";
import { fileDiff, type FileDiff } from "./unified-diff.ts";

export type FileEdit = TextEdit & { readonly path: string };

export type EditedFile<Before extends PresentText> = { readonly path: string; readonly before: Before; readonly text: string };

export type EditedFiles<Before extends PresentText> = {
  readonly files: readonly EditedFile<Before>[];
  readonly replacements: readonly number[];
};

const TOGETHER_BYTES = 4 * EDITED_FILE_BYTES;

const DIFFS_BYTES = 256 * 1024;

type ReadFile<Before extends PresentText> = (path: string) => Promise<Before>;

/**
 * Applies edits to several files, without writing. Each edit sees its file after earlier ones. Throws an error for the
 * model with every edit that cannot be made; a FileProblem if the files are the cause. Other work runs between two
 * edits, and an abort ends the work there.
 */
export async function editFiles<Before extends PresentText>(
  { workspace, signal }: Pick<FileContext, "workspace" | "signal">,
  read: ReadFile<Before>,
  edits: readonly FileEdit[],
): Promise<EditedFiles<Before>> {
  const files = new Map<string, EditedFile<Before>>();
  const replacements: number[] = [];
  const problems: string[] = [];
  let areLasting = true;
  let bytes = 0;
  const room = nearestRoom();
  for (const [index, { path, ...edit }] of edits.entries()) {
    await macrotask();
    signal.throwIfAborted();
    const file = await opened(workspace, read, path, files).catch((error: unknown) => {
      problems.push(`edits[${index}] (${path}): ${messageOf(error)}`);
      areLasting &&= isFileProblem(error);
      return null;
    });
    if (file === null) continue;
    if (!files.has(file.before.present.name)) bytes += file.before.bytes;
    if (bytes > TOGETHER_BYTES)
      throw new FileProblem(`the files are larger than ${TOGETHER_BYTES / 1024 / 1024} MB together: edit fewer`);
    files.set(file.before.present.name, file);
    const edited = editText(file.text, edit, room);
    if (!edited.ok) problems.push(`edits[${index}] (${path}): ${edited.refusal}`);
    else {
      files.set(file.before.present.name, { ...file, text: edited.value.text });
      replacements.push(edited.value.replacements);
    }
  }
  if (problems.length > 0) {
    const message = `no file was changed, since not all edits can be made:\n${problems.join("\n")}`;
    throw areLasting ? new FileProblem(message) : new Error(message);
  }
  return { files: [...files.values()], replacements };
}

async function opened<Before extends PresentText>(
  workspace: Workspace,
  read: ReadFile<Before>,
  path: string,
  files: ReadonlyMap<string, EditedFile<Before>>,
): Promise<EditedFile<Before>> {
  const known = files.get(workspace.show(workspace.resolve(path, "write")));
  if (known !== undefined) return known;
  const before = await read(path);
  const twin = [...files.values()].find((other) => isSameState(other.before.present.state, before.present.state));
  if (twin !== undefined)
    throw new Error(
      `${path} is another name of ${twin.path} (a hard link): edit one of them, and the other name keeps the old content`,
    );
  return { path, before, text: before.content.text };
}

/** The diffs of the files, within a common limit. Other work runs between two files, and an abort ends the work there. */
export async function diffsOf(files: readonly EditedFile<PresentText>[], signal: AbortSignal): Promise<readonly FileDiff[]> {
  const diffs: FileDiff[] = [];
  let room = DIFFS_BYTES;
  for (const { before, text } of files) {
    await macrotask();
    signal.throwIfAborted();
    const { path, diff } = fileDiff(before.present.name, before.content.text, text);
    const bytes = byteLength(diff ?? "");
    const fits = bytes <= room;
    diffs.push({ path, diff: fits ? diff : null });
    if (fits) room -= bytes;
  }
  return diffs;
}

/**
 * Writes the files: all are staged first, then renamed. If staging fails, no file is changed. If a rename fails,
 * earlier files stay written, and the error for the model names both. The agent knows each written file.
 */
export async function writeFiles(
  { workspace, files: known, signal }: FileContext,
  files: readonly EditedFile<EditableFile>[],
): Promise<void> {
  const staged: { readonly file: EditedFile<EditableFile>; readonly beside: StagedFile; readonly content: Buffer }[] = [];
  const written: string[] = [];
  try {
    for (const file of files) {
      const content = encodeText({ ...file.before.content, text: file.text });
      staged.push({ file, content, beside: await stageFile(workspace, file.path, content) });
    }
    for (const { file, beside, content } of staged) {
      signal.throwIfAborted();
      const { name, state } = file.before.present;
      const after = await beside.replace(state).catch((error: unknown) => {
        throw unopened(file.path, error);
      });
      written.push(name);
      known.wrote(writtenFile(name, after, content), file.before.known.isWhole);
    }
  } catch (error) {
    await Promise.all(staged.slice(written.length).map(({ beside }) => beside.discard().catch(() => {})));
    if (written.length === 0) throw error;
    const left = files.map(({ before }) => before.present.name).filter((name) => !written.includes(name));
    throw new Error(
      `only some of the files were written (${messageOf(error)}). Written: ${written.join(", ")}. Left as they were: ${left.join(", ")}`,
      { cause: error },
    );
  }
}

type PresentText = { readonly present: SeenFile; readonly bytes: number; readonly content: TextContent };

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
