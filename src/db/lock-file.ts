import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readFileSync } from "node:fs";

/** Another process works on the data folder. */
export class DataFolderInUse extends Error {
  override readonly name = "DataFolderInUse";
  constructor(folder: string, owner: LockOwner) {
    super(`the data folder ${folder} is in use by process ${owner.pid} (since ${owner.since}): stop that process, or set TRIPLANE_DATA_DIR to another folder, or DATABASE_URL to a PostgreSQL that several servers can share`);
  }
}

type LockOwner = { readonly pid: number; readonly started: string | null; readonly since: string };

/**
 * Takes the folder for this process, since the embedded database does not. A lock that a dead process left is taken
 * over. Returns the release.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, "triplane.lock");
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid), since: new Date().toISOString() } satisfies LockOwner);
  const draft = join(folder, `triplane.lock.${randomUUID()}`);
  await writeFile(draft, mine);
  try {
    for (;;) {
      try {
        await link(draft, path);
        return () => rm(path, { force: true });
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      }
      const theirs = await readFile(path, "utf8").catch(() => null);
      if (theirs === null) continue;
      const owner = parse(theirs);
      if (owner !== null && isAlive(owner)) throw new DataFolderInUse(folder, owner);
      await removeStale(path, theirs);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** Moves the stale lock aside; where another process replaced it meanwhile, its lock is put back. */
async function removeStale(path: string, stale: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await readFile(aside, "utf8")) !== stale) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

function parse(text: string): LockOwner | null {
  try {
    const owner = JSON.parse(text) as LockOwner;
    return Number.isInteger(owner.pid) ? owner : null;
  } catch {
    return null;
  }
}

function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return owner.started === null || startOf(owner.pid) === owner.started;
}

/** When the process started, in ticks since boot, where the system tells (Linux): another process may have its id by now. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
