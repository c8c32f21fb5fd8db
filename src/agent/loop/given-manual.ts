import type { Sql, Statement } from "../../db/sql.ts";
import { manualOf, type Manual, type Section } from "../tools/manual.ts";
import type { AgentView } from "./view.ts";

const READ: Statement<Manual, [tenant: string, digest: string]> = {
  name: "read_manual",
  text: "SELECT digest, text FROM manual WHERE tenant = $1 AND digest = $2",
};

/** The manual that one agent was given. It is read once, unless its tools say the same at present. */
export class GivenManual {
  readonly #sql: Sql;
  #manual: Manual | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The system prompt of a request: that of the template, and the manual. `sections` are those of its tools at present. */
  async systemPrompt(ofTemplate: string, view: AgentView, sections: readonly Section[]): Promise<string> {
    const digest = view.manual?.digest ?? null;
    if (digest === null) return ofTemplate;
    if (this.#manual?.digest !== digest) {
      const present = manualOf(sections);
      this.#manual = present?.digest === digest ? present : await this.#read(view.tenant, digest);
    }
    return `${ofTemplate}\n\n${this.#manual.text}`;
  }

  async #read(tenant: string, digest: string): Promise<Manual> {
    const [manual] = await this.#sql.query(READ, [tenant, digest]);
    if (manual === undefined) throw new Error(`the manual ${digest} does not exist`);
    return manual;
  }
}
