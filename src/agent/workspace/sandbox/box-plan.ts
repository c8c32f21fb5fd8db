import { relative } from "node:path";
import { existsSync } from "node:fs";
import { isInside } from "../../../lib/path-inside.ts";
import { isSeen, type Mount } from "./bubblewrap-arguments.ts";
import type { FoundInWorkspace } from "./covered-paths.ts";
import { findPath, repositoryPaths, worktreePaths, type FoundPath } from "./protected-paths.ts";
import type { Program } from "./sandbox.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

export type BoxSurroundings = {
  readonly mounts: readonly Mount[];
  readonly protected: readonly string[];
  readonly closed: readonly string[];
};

export type BoxPlan = {
  readonly mounts: readonly Mount[];
  readonly places: readonly string[];
  /** Missing paths, relative to the workspace, that the program must not leave behind. */
  readonly absent: readonly string[];
};

/** The most mounts in a workspace: the time of each grows with their number. */
const MOST_PLACES = 300;

/** The mounts for a program in the present workspace. Throws SandboxRefused if they are impossible. */
export function boxPlan(program: Pick<Program, "workspace" | "home"> & FoundInWorkspace, surroundings: BoxSurroundings): BoxPlan {
  const { workspace, home, covered, repositories } = program;
  const mounts: readonly Mount[] = [
    ...surroundings.mounts,
    { kind: "writable", source: home, target: home },
    { kind: "writable", source: workspace, target: workspace },
  ];
  const own = surroundings.closed.filter((path) => isInside(workspace, path) && path !== workspace);
  const elsewhere = surroundings.closed.filter((path) => !isInside(workspace, path) && isSeen(mounts, path) && existsSync(path));
  const find = (path: string): Found => ({ path, found: findPath(workspace, relative(workspace, path)) });
  const hidden = [...own, ...covered].map(find);
  const worktrees = ["", ...repositories].flatMap((folder) => worktreePaths(workspace, folder));
  const guarded = [...surroundings.protected, ...repositories.flatMap(repositoryPaths), ...worktrees].map((path) => ({
    path,
    found: findPath(workspace, path),
  }));
  const places = placesOf(hidden, guarded, new Set([workspace, home]));
  if (places.size > MOST_PLACES)
    throw new SandboxRefused(
      `${places.size} files and folders of the workspace would have to be covered, protected or kept in their places, and ${MOST_PLACES} can be: put files with secrets and denied files in one folder, and deny the folder; of ${repositories.length} repositories below the workspace's root, let the agent work in one`,
    );
  const absent = [...hidden.filter(({ path }) => own.includes(path)), ...guarded].filter(({ found }) => found.kind === "absent");
  return {
    mounts: [...mounts, ...elsewhere.map((path) => ({ kind: "empty folder" as const, target: path })), ...places.values()],
    places: [...places.keys()],
    absent: absent.map(({ path }) => (isInside(workspace, path) ? relative(workspace, path) : path)),
  };
}

type Found = { readonly path: string; readonly found: FoundPath };

/**
 * The mounts in a workspace, one a place: hidden files before protected ones, and both before their folders. Such a
 * folder is mounted on itself, since a mount point cannot be moved or replaced. So a folder with secrets cannot be
 * moved to a name that stands for none, such as `node_modules`.
 */
function placesOf(hidden: readonly Found[], guarded: readonly Found[], taken: ReadonlySet<string>): ReadonlyMap<string, Mount> {
  const places = new Map<string, Mount>();
  const add = (mount: Mount): void => {
    const isHidden = [...places.values()].some(({ kind, target }) => kind === "empty folder" && isInside(target, mount.target));
    if (!isHidden && !places.has(mount.target) && !taken.has(mount.target)) places.set(mount.target, mount);
  };
  for (const { found } of hidden.toSorted((one, other) => one.path.length - other.path.length))
    if (found.kind === "present") add({ kind: found.isFolder ? "empty folder" : "empty file", target: found.path });
  for (const { found } of guarded)
    if (found.kind === "present") add({ kind: "read-only", source: found.path, target: found.path });
  for (const { found } of [...hidden, ...guarded])
    if (found.kind === "present") for (const folder of found.folders) add({ kind: "writable", source: folder, target: folder });
  return places;
}
