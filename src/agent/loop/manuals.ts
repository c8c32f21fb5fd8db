import { LRUCache } from "lru-cache";
import type { Sql, Statement } from "../../db/sql.ts";
import type { Manual } from "../tools/manual/manual.ts";
import { manualFor, type PresentTools } from "./commits/manual.ts";
import type { AgentView } from "./view.ts";

const READ: Statement<Manual, [tenant: string, digest: string]> = {
  name: "read_manual",
  text: "SELECT digest, text, tools FROM manual WHERE tenant = $1 AND digest = $2",
};

/** The memory for manuals, in characters of their JSON. */
const MEMORY = 32 * 1024 * 1024;

type Given = Pick<Manual, "text" | "tools">;

const NOTHING: Given = { text: "", tools: null };

/** The manuals that agents of this server were given. Each is read once, unless the present tools say the same. */
export class Manuals {
  readonly #sql: Sql;
  readonly #known = new LRUCache<string, Manual>({ maxSize: MEMORY });

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async of({ tenant, manual }: Pick<AgentView, "tenant" | "manual">, present: PresentTools): Promise<Given> {
    const digest = manual?.digest ?? null;
    if (digest === null) return NOTHING;
    const key = JSON.stringify([tenant, digest]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const now = manualFor(present);
    const found = now?.digest === digest ? now : await this.#read(tenant, digest);
    this.#known.set(key, found, { size: JSON.stringify(found).length });
    return found;
  }

  async #read(tenant: string, digest: string): Promise<Manual> {
    const [manual] = await this.#sql.query(READ, [tenant, digest]);
    if (manual === undefined) throw new Error(`the manual ${digest} does not exist`);
    return manual;
  }
}
