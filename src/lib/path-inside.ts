import { isAbsolute, relative, sep } from "node:path";

/** True if the path is the folder or lies in it. Both are absolute; links are not followed. */
export function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}
