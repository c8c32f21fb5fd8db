import { isInside } from "../lib/inside.ts";

/** Whether the real path lies inside of one of the roots; null allows any. */
export function isInRoots(roots: readonly string[] | null, path: string): boolean {
  return roots === null || roots.some((root) => isInside(root, path));
}
