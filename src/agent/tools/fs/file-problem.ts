import { errorCode } from "../../../lib/error-code.ts";
import { CallWouldFail } from "../tool-preview.ts";

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
