import type { FileHandle } from "node:fs/promises";
import { errorCode } from "../../../lib/text.ts";
import { type StagedFile, systemWords, type Workspace } from "../../workspace/workspace.ts";
import { CallWouldFail } from "../tool-result.ts";

/** Why files cannot be changed as requested, in words for the model. It holds while the files stay unchanged. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

const LASTING = new Set(["ENOENT", "EISDIR", "ENOTDIR"]);

/** True if an error is about the files, and not about the machine. */
export function isFileProblem(error: unknown): boolean {
  return error instanceof FileProblem || LASTING.has(errorCode(error) ?? "");
}

/**
 * Runs a check of a call's effect. Throws CallWouldFail if the call would fail with the present files. `tellsOf`: the
 * parameter with the only paths that the failure reveals; null for all files of the call.
 */
export async function foreseen<Found>(look: () => Promise<Found>, tellsOf: string | null = null): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    throw isFileProblem(error) ? new CallWouldFail(error, tellsOf) : error;
  }
}

/** A file that could not be opened or written, in words for the model. `code` is that of the system's error, its cause. */
export class UnopenedFile extends Error {
  override readonly name = "UnopenedFile";
  readonly code: string | null;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.code = errorCode(cause);
  }
}

/** The system's error about the file of a path, as an UnopenedFile; other errors unchanged. */
export function unopened(path: string, error: unknown): unknown {
  const words = systemWords(error);
  if (words === null || error instanceof UnopenedFile) return error;
  const advice = errorCode(error) === "ENOENT" ? ": fs_glob finds files, and fs_write makes new ones" : "";
  return new UnopenedFile(`${path} ${words}${advice}`, error);
}

/** Throws an UnopenedFile if the file cannot be opened. */
export async function openFile(workspace: Workspace, path: string): Promise<FileHandle> {
  return workspace.openForReading(path).catch((error: unknown) => {
    throw unopened(path, error);
  });
}

/** Stages a new content of a file. Throws an UnopenedFile if that fails. */
export async function stageFile(workspace: Workspace, path: string, content: string | Uint8Array): Promise<StagedFile> {
  return workspace.stageFile(path, content).catch((error: unknown) => {
    throw unopened(path, error);
  });
}
