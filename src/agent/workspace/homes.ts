import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, realpath, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode } from "../../lib/error-code.ts";

/** The HOMEs of agents: a folder of the server's data for each agent that has started a program, which nobody else may read. */
export class Homes {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The real path of an agent's HOME, made if it is not there. It stays from one call to the next. */
  async of(agentId: string): Promise<string> {
    const home = join(this.#folder, agentId);
    await mkdir(home, { recursive: true, mode: 0o700 });
    await chmod(home, 0o700);
    return realpath(home);
  }

  /** The file beside the HOMEs that names the database of their agents. */
  get mark(): string {
    return `${this.#folder}.database`;
  }

  /** True if the agents of the HOMEs are those of this database: the first one that asks. */
  async areOf(database: string): Promise<boolean> {
    await mkdir(dirname(this.mark), { recursive: true });
    await writeFile(this.mark, database, { flag: "wx" }).catch((error: unknown) => {
      if (errorCode(error) !== "EEXIST") throw error;
    });
    return (await readFile(this.mark, "utf8")) === database;
  }

  /** The agents that have a HOME on this server. */
  async agents(): Promise<readonly string[]> {
    return readdir(this.#folder).catch(() => []);
  }

  /** Removes an agent's HOME with all that lies in it, whatever its programs have made there. */
  async remove(agentId: string): Promise<void> {
    const home = join(this.#folder, agentId);
    try {
      await rm(home, { recursive: true, force: true });
    } catch (error) {
      if (!["ENAMETOOLONG", "EACCES", "EPERM"].includes(errorCode(error) ?? "")) throw error;
      await removeLevels(home);
    }
  }
}

/**
 * Removes a folder whose folders may lie deeper than a path can be long, and may be closed to their owner: each is brought up
 * before it is removed.
 */
async function removeLevels(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (let entries = await entriesOf(folder); entries.length > 0; entries = await entriesOf(folder))
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) {
        await unlink(path);
        continue;
      }
      await chmod(path, 0o700);
      for (const inner of await entriesOf(path)) {
        if (!inner.isDirectory()) await unlink(join(path, inner.name));
        else {
          await chmod(join(path, inner.name), 0o700);
          await rename(join(path, inner.name), join(folder, randomUUID()));
        }
      }
      await rmdir(path);
    }
  await rmdir(folder);
}

function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true });
}
