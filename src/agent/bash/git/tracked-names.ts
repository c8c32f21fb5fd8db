import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { answerOfGit, type GitTime } from "./answer-of-git.ts";

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
