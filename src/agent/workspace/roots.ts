import { isInside } from "../../lib/path-inside.ts";

export type WorkspaceFolders = {
  /** Real paths of the folders in which agents may work; null for any folder. */
  readonly workspaceRoots: readonly string[] | null;
  /** The folder of agents without a requested one; null for a separate one each, below `ownWorkspaces`. */
  readonly defaultWorkspace: string | null;
  readonly ownWorkspaces: string;
};

export function isInRoots(roots: readonly string[] | null, path: string): boolean {
  return roots === null || roots.some((root) => isInside(root, path));
}

/** The folders in and below which an agent may work: the roots, the default, and agents' own; null for any. */
export function allowedFolders({ workspaceRoots, defaultWorkspace, ownWorkspaces }: WorkspaceFolders): readonly string[] | null {
  if (workspaceRoots === null) return null;
  return [...workspaceRoots, ...(defaultWorkspace === null ? [] : [defaultWorkspace]), ownWorkspaces];
}

export function isAllowedWorkspace(folders: WorkspaceFolders, path: string): boolean {
  return isInRoots(allowedFolders(folders), path);
}
