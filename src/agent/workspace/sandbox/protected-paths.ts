import { lstatSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { folderEntries, isForbidden, namesWithoutText, unreadable, withoutText } from "./folder-entries.ts";
import { SandboxRefused } from "./sandbox-refused.ts";

/** The parts of a repository that git runs, or that tell git what to run; those of its submodules lie in `modules`. */
const REPOSITORY_PARTS = ["hooks", "config", "config.worktree", "commondir", "modules"];
/** The parts of a linked worktree's own folder, in `worktrees`, that tell git what to run. Git itself writes its `gitdir` anew. */
const WORKTREE_PARTS = ["commondir", "config.worktree"];

/** The paths of a repository that boxes protect. `folder` is where the repository lies, as a path from the workspace's root. */
export function repositoryPaths(folder: string): readonly string[] {
  return REPOSITORY_PARTS.map((part) => `${folder === "" ? "" : `${folder}/`}.git/${part}`);
}

/** The paths that boxes protect of the worktrees which are now linked to a repository, as paths from the workspace's root. */
export function worktreePaths(workspace: string, folder: string): readonly string[] {
  const worktrees = `${folder === "" ? "" : `${folder}/`}.git/worktrees`;
  const entries = folderEntries(join(workspace, worktrees), worktrees);
  const [unnamed] = namesWithoutText(join(workspace, worktrees), entries);
  if (unnamed !== undefined) throw withoutText(`${worktrees}/${unnamed}`);
  return entries.flatMap(({ name }) => WORKTREE_PARTS.map((part) => `${worktrees}/${name}/${part}`));
}

/**
 * Paths, from a workspace's root, that programs of a box may read and not change: files that other programs, outside of
 * any box, take as orders of the person who starts them. `sandbox.protect` of the configuration adds to them.
 */
export const PROTECTED_PATHS: readonly string[] = [
  // What git runs, and what tells git what to run.
  ...repositoryPaths(""),
  ".gitconfig",
  ".gitmodules",
  ".husky",
  // What shells run where they are started.
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
  // What package managers and editors run.
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".vscode",
  ".idea",
  // What other agents run.
  ".mcp.json",
  ".claude",
  ".codex",
];

/** All paths that boxes protect, with those of the configuration. */
export function protectedPaths(own: readonly string[]): readonly string[] {
  return [...PROTECTED_PATHS, ...own];
}

/**
 * True if a file of these names is protected: it is one of the paths, or lies in one; or, wherever a repository lies, it is of its
 * protected parts, or a file `.git`, which says where they lie.
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
 * A path below a folder as it stands: there, with the folders between, which a program must not move away either; or not
 * there yet. A file where a folder should be, as `.git` of a linked worktree, stands for all that would lie in it.
 */
export type FoundPath =
  | { readonly kind: "present"; readonly path: string; readonly isFolder: boolean; readonly folders: readonly string[] }
  | { readonly kind: "absent" };

/**
 * Looks for a path below a folder without following a link. Throws SandboxRefused if a part of the path is one, since a mount
 * there would lead elsewhere, or if a folder of the path cannot be entered.
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
