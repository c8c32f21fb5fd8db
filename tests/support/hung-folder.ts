import { execFileSync, spawn } from "node:child_process";
import { accessSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./app.ts";

/** True if this machine lets a test mount a file system: whoever runs it is root, and FUSE is there. */
export const CAN_MOUNT = ((): boolean => {
  try {
    accessSync("/dev/fuse");
    execFileSync("unshare", ["-m", "true"], { stdio: "ignore" });
    return process.geteuid?.() === 0;
  } catch {
    return false;
  }
})();

/** A folder whose file system hangs: of a FUSE whose program never answers, until `end` ends the program. */
export async function hungFolder(within?: string): Promise<{ readonly folder: string; end(): Promise<void> }> {
  const folder = join(within ?? (await temporaryFolder()), "hung");
  await mkdir(folder);
  const mount = `exec 3<>/dev/fuse && mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 hung "$0" && echo mounted && exec sleep 600`;
  const program = spawn("sh", ["-c", mount, folder], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    program.stdout.once("data", () => resolve());
    program.once("exit", (code) => reject(new Error(`nothing was mounted (exit code ${code})`)));
  });
  const end = async (): Promise<void> => {
    const ended = new Promise((resolve) => program.once("exit", resolve));
    if (!program.kill("SIGKILL")) return;
    await ended;
  };
  onTestFinished(async () => {
    await end();
    execFileSync("umount", ["-l", folder]);
  });
  return { folder, end };
}
