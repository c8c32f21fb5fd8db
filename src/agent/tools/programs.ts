import { stat } from "node:fs/promises";
import type { Workspace } from "../workspace/workspace.ts";
import { FileProblem } from "./fs/file-problem.ts";

export type StartOptions = { readonly folder?: string; readonly env?: Readonly<Record<string, string>> };

export type FinishedProgram = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** Both streams, as far as a model reads them: the head and the tail of a longer output. */
  readonly output: string;
  readonly outputBytes: number;
  /**
   * Sandbox events for the model: named covered files, removed paths and refused hosts; also if another process held
   * the output open.
   */
  readonly notes: readonly string[];
};

/** Throws an error for the model if there is no such folder. */
export async function presentFolder(workspace: Workspace, folder: string): Promise<string> {
  const real = workspace.resolve(folder);
  if (!(await stat(real)).isDirectory()) throw new FileProblem(`${folder} is no folder: a program starts in a folder`);
  return real;
}
