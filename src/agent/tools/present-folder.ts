import { stat } from "node:fs/promises";
import type { Workspace } from "../workspace/workspace.ts";
import { FileProblem } from "./fs/file-problem.ts";

/** Throws an error for the model if there is no such folder. */
export async function presentFolder(workspace: Workspace, folder: string): Promise<string> {
  const real = workspace.resolve(folder);
  if (!(await stat(real)).isDirectory()) throw new FileProblem(`${folder} is no folder: a program starts in a folder`);
  return real;
}
