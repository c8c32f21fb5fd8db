import { isInside } from "../../lib/path-inside.ts";

/** The folders in which agents of a tenant may work. */
export type WorkspaceFolders = {
  /** Real paths of the folders in which agents may work; null if any folder may be named. */
  readonly workspaceRoots: readonly string[] | null;
  /** The folder of agents for whom none is named: one for all, or, if this is null, one for each below `ownWorkspaces`. */
  readonly defaultWorkspace: string | null;
  readonly ownWorkspaces: string;
};

/** True if the real path lies inside of one of the roots; null allows any. */
export function isInRoots(roots: readonly string[] | null, path: string): boolean {
  return roots === null || roots.some((root) => isInside(root, path));
}

/** True if an agent may work in a folder: inside of the roots, in the default, or in one of its own. */
export function isAllowedWorkspace({ workspaceRoots, defaultWorkspace, ownWorkspaces }: WorkspaceFolders, path: string): boolean {
  return isInRoots(workspaceRoots, path) || path === defaultWorkspace || isInside(ownWorkspaces, path);
}
