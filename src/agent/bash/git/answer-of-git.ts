import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/** The most that git may say of a repository, in bytes. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The time that git may still take for a call, in ms: a repository may have a pipe in the place of a file. */
export type GitTime = { leftMs: number };

/** The time for all that is asked of git for one call. */
export function gitTime(): GitTime {
  return { leftMs: 6_000 };
}

const run = promisify(execFile);

/** What git says; `refused` also where there is no git, no repository or no such folder. */
export type Answer = { readonly text: string } | "refused" | "unknown";

/**
 * The answer of a command of git that runs nothing: without hooks of the file system, without the machine's own configurations,
 * and without fetching what a partial clone lacks.
 */
export async function answerOfGit(folder: string, args: readonly string[], time: GitTime): Promise<Answer> {
  if (time.leftMs <= 0) return "unknown";
  const began = performance.now();
  const settings = [
    "safe.directory=*",
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    "submodule.recurse=false",
  ].flatMap((each) => ["-c", each]);
  try {
    const { stdout } = await run("git", [...settings, ...args], {
      cwd: folder,
      maxBuffer: MOST_BYTES,
      timeout: Math.ceil(time.leftMs),
      env: {
        PATH: process.env["PATH"],
        HOME: "/nonexistent",
        LC_ALL: "C",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_NO_LAZY_FETCH: "1",
        GIT_ALLOW_PROTOCOL: "",
      },
    });
    return { text: stdout };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    return code === 128 || code === "ENOENT" || code === "ENOTDIR" ? "refused" : "unknown";
  } finally {
    time.leftMs -= performance.now() - began;
  }
}

/** The files that a repository tracks, as paths from the folder in which its `.git` lies. Null if git does not say. */
export async function trackedNames(folder: string, time: GitTime): Promise<readonly string[] | null> {
  return namesOf(folder, ["--cached"], time);
}

/** The files that git would record with all others of the folder: tracked ones, and those that are not ignored. Null if git does not say. */
export async function recordableNames(folder: string, time: GitTime): Promise<readonly string[] | null> {
  return namesOf(folder, ["--cached", "--others", "--exclude-standard"], time);
}

async function namesOf(folder: string, which: readonly string[], time: GitTime): Promise<readonly string[] | null> {
  // Without --sparse git would read the folders of commits, and fetch what a partial clone lacks.
  const answer = await answerOfGit(folder, ["ls-files", "-z", "--sparse", ...which], time);
  if (typeof answer === "string") return null;
  const names = answer.text.split("\0").filter((name) => name !== "");
  const hasFolder = names.some((name) => name.endsWith("/") && !existsSync(join(folder, name, ".git")));
  return hasFolder ? null : names;
}

/** True if git takes a folder for a repository: whole, and of the server's own user. Elsewhere `git diff` compares any two files. */
export function isRepository(folder: string): boolean {
  const places = ["HEAD", "objects", "refs"].map((name) => join(folder, ".git", name));
  if (!places.every((place) => existsSync(place))) return false;
  const owners = [folder, join(folder, ".git")].map((place) => statSync(place, { throwIfNoEntry: false })?.uid);
  return owners.every((owner) => owner === process.getuid?.());
}

/** True if a folder that is no repository lies in one. */
export function liesInRepository(folder: string): boolean {
  for (let above = dirname(folder); ; above = dirname(above)) {
    if (existsSync(join(above, ".git"))) return true;
    if (above === dirname(above)) return false;
  }
}
