import { isAbsolute, relative, sep } from "node:path";

/** Whether the real path lies inside of one of the roots; null allows any. */
export function isInRoots(roots: readonly string[] | null, path: string): boolean {
  return roots === null || roots.some((root) => isInside(root, path));
}

function isInside(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}
