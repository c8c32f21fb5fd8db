import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { errorCode } from "../../../lib/error-code.ts";
import { placeOf, valuesAt } from "../../tools/path-places.ts";
import type { Tool } from "../../tools/tool.ts";
import { stateOf, type FileState } from "../../workspace/file-state.ts";
import { PathRefused } from "../../workspace/path-refused.ts";
import type { Workspace } from "../../workspace/workspace.ts";

const COMPARED_BYTES = 64 * 1024 * 1024;

/** A declared file of a call: its path with links resolved, relative to the workspace. */
export type DeclaredFile = {
  readonly name: string;
  /** Null if there is no such file. */
  readonly content: { readonly state: FileState; readonly digest: string } | null;
};

/**
 * The present state of a call's declared files. Null if the inputs of the answer are uncertain: a place is omitted, so
 * that the tool chooses, or a path is unreadable or no file. Also null if the files exceed 64 MB together, or `signal`
 * aborts.
 */
export async function declaredFiles(
  { paths }: Pick<Tool, "paths">,
  input: JsonObject,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<readonly DeclaredFile[] | null> {
  const files = new Map<string, DeclaredFile>();
  let room = COMPARED_BYTES;
  for (const place of Object.keys(paths)) {
    const given = pathsAt(input, place);
    if (given === null) return null;
    for (const path of given) {
      const file = await look(workspace, path, room, signal);
      if (file === null) return null;
      room -= Number(file.content?.state.bytes ?? 0n);
      files.set(file.name, file);
    }
  }
  return [...files.values()];
}

function pathsAt(input: JsonObject, name: string): readonly string[] | null {
  const place = placeOf(name);
  const value = input[place.parameter] ?? null;
  const isLeftOut = (item: unknown): boolean => isJsonObject(item) && (item[place.field ?? ""] ?? null) === null;
  if (value === null || (place.field !== null && Array.isArray(value) && value.some(isLeftOut))) return null;
  const texts = valuesAt(input, place);
  return texts.every((text) => typeof text === "string") ? texts : null;
}

async function look(workspace: Workspace, path: string, room: number, signal: AbortSignal): Promise<DeclaredFile | null> {
  try {
    const name = workspace.show(workspace.resolve(path));
    const file = await workspace.openForReading(path).catch(unlessMissing);
    if (file === null) return { name, content: null };
    try {
      const state = await stateOf(file);
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const piece of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (signal.aborted || bytes > room) return null;
        hash.update(piece);
      }
      return { name, content: { state, digest: hash.digest("hex") } };
    } finally {
      await file.close();
    }
  } catch (error) {
    // The tool reports unreadable files.
    if (error instanceof PathRefused || (error instanceof Error && "syscall" in error)) return null;
    throw error;
  }
}

function unlessMissing(error: unknown): null {
  if (errorCode(error) === "ENOENT") return null;
  throw error;
}
