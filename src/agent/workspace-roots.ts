import { isInside } from "../lib/inside.ts";
import type { AgentParts } from "./parts.ts";

/** Whether the real path lies inside of one of the roots; null allows any. */
export function isInRoots(roots: readonly string[] | null, path: string): boolean {
  return roots === null || roots.some((root) => isInside(root, path));
}

/** True if an agent may work in a folder: inside of the roots, in the default, or in one of its own. */
export function isAllowedWorkspace(
  { workspaceRoots, defaultWorkspace, ownWorkspaces }: Pick<AgentParts, "workspaceRoots" | "defaultWorkspace" | "ownWorkspaces">,
  path: string,
): boolean {
  return isInRoots(workspaceRoots, path) || path === defaultWorkspace || isInside(ownWorkspaces, path);
}
