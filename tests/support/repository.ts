import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Runs git in a folder, with no configuration but the folder's own. Gives what it prints. */
export function git(folder: string, ...args: readonly string[]): string {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
  return execFileSync("git", ["-C", folder, ...identity, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
  });
}

/** Makes a repository in a folder, and commits files of it. */
export async function committed(
  folder: string,
  files: Readonly<Record<string, string>>,
  init: readonly string[] = [],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  git(folder, "init", "-q", ...init);
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  if (Object.keys(files).length > 0) git(folder, "--literal-pathspecs", "add", "-f", "--", ...Object.keys(files));
  git(folder, "commit", "-q", "--allow-empty", "-m", "first");
}
