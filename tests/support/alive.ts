import { readFileSync } from "node:fs";

/** True if a process runs. One that has ended and that nobody has waited for does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
