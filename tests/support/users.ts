import { execFileSync } from "node:child_process";

/** True if the tests run as root, to whom no file is closed. */
export const IS_ROOT = process.getuid?.() === 0;

/** A user without rights. */
export const NOBODY = 65_534;

/** Does something as another user, as root can: all that this process asks of the file system meanwhile is asked as that user. */
export async function as<Result>(user: number, act: () => Promise<Result>): Promise<Result> {
  process.seteuid?.(user);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}

/** Does something as the owner of a folder who is not root: root gives the folder, and all that lies in it, away. */
export async function asOwner<Result>(folder: string, act: () => Promise<Result>): Promise<Result> {
  if (!IS_ROOT) return act();
  execFileSync("chown", ["-R", String(NOBODY), folder]);
  return as(NOBODY, act);
}
