import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Mount } from "./bubblewrap-arguments.ts";

/** Folders of the system's programs and libraries. On most systems all but the first are links into it. */
const PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/** The read-only part of the system in every box: programs, libraries, and the running Node. */
export function systemRoot(node = process.execPath): readonly Mount[] {
  return [...PROGRAMS.flatMap(programFolder), ...nodeMounts(realpathSync(node))];
}

function programFolder(path: string): readonly Mount[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  return found.isSymbolicLink()
    ? [{ kind: "link", to: readlinkSync(path), target: path }]
    : [{ kind: "read-only", source: path, target: path }];
}

function nodeMounts(node: string): readonly Mount[] {
  if (node.startsWith("/usr/")) return [];
  const programs = dirname(node);
  const packages = join(dirname(programs), "lib", "node_modules");
  const links = ["npm", "npx", "corepack"].map((name) => join(programs, name));
  const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return [
    { kind: "read-only", source: node, target: node },
    ...(existsSync(packages)
      ? [
          { kind: "read-only" as const, source: packages, target: packages },
          ...links.filter(isLink).map((target) => ({ kind: "link" as const, to: readlinkSync(target), target })),
        ]
      : []),
  ];
}
