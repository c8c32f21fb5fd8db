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

/** The folders in which, and below which, an agent may work: the roots, the default, and those of agents' own; null for any. */
export function allowedFolders({ workspaceRoots, defaultWorkspace, ownWorkspaces }: WorkspaceFolders): readonly string[] | null {
  if (workspaceRoots === null) return null;
  return [...workspaceRoots, ...(defaultWorkspace === null ? [] : [defaultWorkspace]), ownWorkspaces];
}

/** True if an agent may work in a folder. */
export function isAllowedWorkspace(folders: WorkspaceFolders, path: string): boolean {
  return isInRoots(allowedFolders(folders), path);
}
