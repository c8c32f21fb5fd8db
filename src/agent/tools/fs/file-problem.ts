import { errorCode } from "../../../lib/error-code.ts";
import { CallWouldFail } from "../tool-preview.ts";

/** The reason for which files are not changed as a call wishes, in words for the model: it holds as long as they stay as they are. */
export class FileProblem extends Error {
  override readonly name = "FileProblem";
}

/** The errors of the system that say how the files are. */
const LASTING = new Set(["ENOENT", "EISDIR", "ENOTDIR"]);

/** True if an error says how the files are, and not how the machine is. */
export function isFileProblem(error: unknown): boolean {
  return error instanceof FileProblem || LASTING.has(errorCode(error) ?? "");
}

/**
 * Looks at what a call would do. Throws CallWouldFail if the call would fail as the files are. `tellsOf` is the parameter of whose
 * paths alone the failure tells something; null for all files of the call.
 */
export async function foreseen<Found>(look: () => Promise<Found>, tellsOf: string | null = null): Promise<Found> {
  try {
    return await look();
  } catch (error) {
    throw isFileProblem(error) ? new CallWouldFail(error, tellsOf) : error;
  }
}
