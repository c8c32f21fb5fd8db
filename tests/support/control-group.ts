import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";

/** The root of this machine's control groups (cgroup v2) if this user may make some there; null if not. */
const root = writableRoot();

/** True if tests with control groups are left out: the machine lets this user make none. */
export const hasNoControlGroups = root === null;

/** True if the machine's control groups can limit memory and processes. */
export const hasControllers =
  root !== null && /\bmemory\b.*\bpids\b/.test(readFileSync(join(root, "cgroup.controllers"), "utf8"));

/** Makes a control group for a test, in which nothing is. */
export function testControlGroup(): string {
  if (root === null) throw new Error("this user may make no control groups");
  const folder = join(root, `triplane-test-${randomUUID()}`);
  mkdirSync(folder);
  onTestFinished(() => rmdir(folder));
  return folder;
}

/** The control group of a process, as a folder's path below the root. */
export async function controlGroupOf(process: number | string): Promise<string> {
  const [, path] = /^0::(.*)$/m.exec(await readFile(`/proc/${process}/cgroup`, "utf8")) ?? [];
  return join(root ?? "/", path ?? "");
}

function writableRoot(): string | null {
  try {
    const [, mount] = / (\S+) cgroup2 /.exec(readFileSync("/proc/self/mounts", "utf8")) ?? [];
    if (mount === undefined) return null;
    const probe = join(mount, `triplane-test-${randomUUID()}`);
    mkdirSync(probe);
    rmdirSync(probe);
    return mount;
  } catch {
    return null;
  }
}
