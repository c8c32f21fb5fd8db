import { chmod, mkdir, readdir, realpath, rm } from "node:fs/promises";
import { join } from "node:path";

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

  /** The agents that have a HOME on this server. */
  async agents(): Promise<readonly string[]> {
    return readdir(this.#folder).catch(() => []);
  }

  /** Removes an agent's HOME with all that lies in it. */
  async remove(agentId: string): Promise<void> {
    await rm(join(this.#folder, agentId), { recursive: true, force: true });
  }
}
