import { counted, errorCode, byteLength } from "../../../lib/text.ts";
import { defineTool } from "../tool.ts";
import { closed } from "../../../lib/setting.ts";
import { Type } from "typebox";
import type { SeenFile } from "../../workspace/known-files.ts";
import { FileProblem, foreseen, stageFile } from "./file-problem.ts";
import { readKnown, writtenFile, type FileContext, type KnownContent } from "./known-content.ts";
import { lineCount, decodeText } from "./text-content.ts";
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
