import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../lib/text.ts";

/** The folder of copies, below the data folder. */
export const COPIES = "copies";

/** The longest life of a copy, in ms: a statement has less time, and removes its copy itself. */
export const KEPT_MS = 5 * 60_000;

/** Makes a folder for a copy of the database in this data folder, for the user of this process only. */
export async function newCopyFolder(dataFolder: string): Promise<string> {
  const place = join(dataFolder, COPIES);
  await mkdir(place, { recursive: true, mode: 0o700 });
  return mkdtemp(join(place, "copy-"));
}

export async function removeCopy(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the copies that are older than `olderThanMs`, and answers how many stay. */
export async function removeOldCopies(dataFolder: string, olderThanMs = KEPT_MS): Promise<number> {
  const place = join(dataFolder, COPIES);
  let kept = 0;
  for (const name of await orNone(readdir(place), [])) {
    const madeAt = await orNone(
      stat(join(place, name)).then(({ mtimeMs }) => mtimeMs),
      null,
    );
    if (madeAt === null) continue;
    if (Date.now() - madeAt >= olderThanMs) await removeCopy(join(place, name));
    else kept += 1;
  }
  return kept;
}

async function orNone<Value, None>(reading: Promise<Value>, none: None): Promise<Value | None> {
  try {
    return await reading;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return none;
    throw error;
  }
}
