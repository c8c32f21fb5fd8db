import { randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, realpath, rename, rm, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Sql, Statement } from "../../db/sql.ts";
import { errorCode } from "../../lib/text.ts";
import { folderBytes } from "./folder-bytes.ts";

/** What the files of a HOME may have, in bytes. */
const MOST_BYTES = 8 * 1024 ** 3;

/** A database and its copies have the same key for what servers sign, and another database has another: its digest names them. */
const DATABASE: Statement<{ digest: string }, []> = {
  name: "database_of_homes",
  text: "SELECT left(encode(sha256(key), 'hex'), 16) AS digest FROM signing_key WHERE name = 'images'",
};

/**
 * The HOMEs of a database's agents: a folder for each agent that has started a program, which nobody else may read. Another
 * database that servers of the same data folder use has its own: neither has rows of the other's agents.
 */
export class Homes {
  readonly #folder: string;
  readonly #most: number;
  /** The agents that have started a program since their HOMEs were measured, and those whose HOMEs were too large. */
  readonly #used = new Set<string>();
  readonly #full = new Set<string>();

  /** `most` is what the files of a HOME may have, in bytes. */
  constructor(folder: string, most: number = MOST_BYTES) {
    this.#folder = folder;
    this.#most = most;
  }

  /** The HOMEs of the agents of this database, in a folder of `folder`. */
  static async open(sql: Pick<Sql, "query">, folder: string): Promise<Homes> {
    const [database] = await sql.query(DATABASE, []);
    if (database === undefined) throw new Error("the database has no key for signing image URLs: restore its table signing_key");
    return new Homes(join(folder, database.digest));
  }

  /**
   * The real path of an agent's HOME, made if it is not there, with what was done to it, in words for the model. It stays from one call
   * to the next, and is emptied if it was too large when it was measured.
   */
  async of(agentId: string): Promise<{ readonly path: string; readonly notes: readonly string[] }> {
    const home = join(this.#folder, agentId);
    this.#used.add(agentId);
    const isFull = this.#full.delete(agentId);
    if (isFull) await this.remove(agentId);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await mkdir(home, { recursive: true, mode: 0o700 });
    await chmod(home, 0o700);
    const gigabytes = (this.#most / 1024 ** 3).toLocaleString("en-US");
    const notes = isFull
      ? [`HOME had more than ${gigabytes} GB in it and was emptied: what must stay belongs into the workspace`]
      : [];
    return { path: await realpath(home), notes };
  }

  /** Measures the HOMEs in which programs may have written since they were measured. Those that are too large are emptied before the next program. */
  async measure(): Promise<void> {
    const agents = [...this.#used];
    this.#used.clear();
    for (const agentId of agents)
      if ((await folderBytes(join(this.#folder, agentId), this.#most)) > this.#most) this.#full.add(agentId);
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
