import { lstatSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { folderEntries, isForbidden, namesWithoutText, unreadable, withoutText } from "./covered-paths.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

/** The parts of a repository that git runs, or that control its commands; those of submodules lie in `modules`. */
const REPOSITORY_PARTS = ["hooks", "config", "config.worktree", "commondir", "modules"];
/** The parts of a linked worktree's folder, in `worktrees`, that control git's commands. Git rewrites its `gitdir` itself. */
const WORKTREE_PARTS = ["commondir", "config.worktree"];

export function repositoryPaths(folder: string): readonly string[] {
  return REPOSITORY_PARTS.map((part) => `${folder === "" ? "" : `${folder}/`}.git/${part}`);
}

export function worktreePaths(workspace: string, folder: string): readonly string[] {
  const worktrees = `${folder === "" ? "" : `${folder}/`}.git/worktrees`;
  const entries = folderEntries(join(workspace, worktrees), worktrees);
  const [unnamed] = namesWithoutText(join(workspace, worktrees), entries);
  if (unnamed !== undefined) throw withoutText(`${worktrees}/${unnamed}`);
  return entries.flatMap(({ name }) => WORKTREE_PARTS.map((part) => `${worktrees}/${name}/${part}`));
}

/**
 * Paths relative to a workspace that a box's programs may read and not change: programs outside of boxes take these
 * files as their user's orders. `sandbox.protect` of the configuration adds to them.
 */
export const PROTECTED_PATHS: readonly string[] = [
  // Run by git, or controlling its commands.
  ...repositoryPaths(""),
  ".gitconfig",
  ".gitmodules",
  ".husky",
  // Run by shells at their start.
  ".envrc",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".inputrc",
  // Run by package managers and editors.
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".vscode",
  ".idea",
  // Run by other agents.
  ".mcp.json",
  ".claude",
  ".codex",
];

export function protectedPaths(own: readonly string[]): readonly string[] {
  return [...PROTECTED_PATHS, ...own];
}

/**
 * True if a file of these names is protected: it is one of the paths, or lies in one. Protected parts of any repository
 * count too, and any file `.git`, which says where those are.
 */
export function protects(paths: readonly string[], names: readonly string[]): boolean {
  return names.some((name) => isOfRepository(name) || paths.some((path) => name === path || name.startsWith(`${path}/`)));
}

function isOfRepository(name: string): boolean {
  const parts = name.split("/");
  return parts.some((part, index) => {
    const [next, worktree, own] = parts.slice(index + 1);
    if (part !== ".git") return false;
    if (next === "worktrees") return worktree === undefined || own === undefined || WORKTREE_PARTS.includes(own);
    return next === undefined || REPOSITORY_PARTS.includes(next);
  });
}

/**
 * A path below a folder: existing, with its parent folders, which programs must not move; or missing. A file in place
 * of a folder, such as `.git` of a linked worktree, stands for its contents.
 */
export type FoundPath =
  | { readonly kind: "present"; readonly path: string; readonly isFolder: boolean; readonly folders: readonly string[] }
  | { readonly kind: "absent" };

/**
 * Finds a path below a folder without following links. Throws SandboxRefused if a part of the path is a link, since a
 * mount there would lead elsewhere. Also if a folder of the path cannot be entered.
 */
export function findPath(folder: string, path: string): FoundPath {
  const folders: string[] = [];
  let real = folder;
  for (const name of path.split("/")) {
    if (real !== folder) folders.push(real);
    real = join(real, name);
    const found = entryAt(real);
    if (found === undefined) return { kind: "absent" };
    if (found.isSymbolicLink())
      throw new SandboxRefused(
        `${real} is a link, and ${path} must be kept from the programs of a box: put the file or folder itself in the place of the link`,
      );
    if (!found.isDirectory()) return { kind: "present", path: real, isFolder: false, folders };
  }
  return { kind: "present", path: real, isFolder: true, folders };
}

function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw isForbidden(error) ? unreadable(dirname(path)) : error;
  }
}
