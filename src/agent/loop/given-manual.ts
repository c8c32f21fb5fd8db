import type { Sql, Statement } from "../../db/sql.ts";
import type { Manual } from "../tools/manual.ts";
import { manualFor, type PresentTools } from "./commits/manual.ts";
import type { AgentView } from "./view.ts";

const READ: Statement<Manual, [tenant: string, digest: string]> = {
  name: "read_manual",
  text: "SELECT digest, text, tools FROM manual WHERE tenant = $1 AND digest = $2",
};

type Given = Pick<Manual, "text" | "tools">;

const NOTHING: Given = { text: "", tools: null };

/** The manual that one agent was given. It is read once, unless its tools say the same at present. */
export class GivenManual {
  readonly #sql: Sql;
  #manual: Manual | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async of(view: AgentView, present: PresentTools): Promise<Given> {
    const digest = view.manual?.digest ?? null;
    if (digest === null) return NOTHING;
    if (this.#manual?.digest === digest) return this.#manual;
    const now = manualFor(present);
    this.#manual = now?.digest === digest ? now : await this.#read(view.tenant, digest);
    return this.#manual;
  }

  async #read(tenant: string, digest: string): Promise<Manual> {
    const [manual] = await this.#sql.query(READ, [tenant, digest]);
    if (manual === undefined) throw new Error(`the manual ${digest} does not exist`);
    return manual;
  }
}
