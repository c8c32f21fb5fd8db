import type { Budget } from "./budget.ts";
import type { Sql } from "../../db/sql.ts";
import { readBudgets, type RememberedBudgets } from "./remembered-budgets.ts";

/** The budgets of the tenants with one configuration: those that it has, and those that administrators have set. */
export class TenantBudgets {
  readonly configured: readonly Budget[];
  readonly #remembered: Pick<RememberedBudgets, "of">;

  constructor(configured: readonly Budget[], remembered: Pick<RememberedBudgets, "of">) {
    this.configured = configured;
    this.#remembered = remembered;
  }

  /** The budgets that hold in a tenant. One that an administrator set takes the place of the same one of the configuration. */
  async of(tenant: string): Promise<readonly Budget[]> {
    return this.#with(await this.#remembered.of(tenant));
  }

  /** The same, as the database has them at this moment. */
  async present(sql: Sql, tenant: string): Promise<readonly Budget[]> {
    return this.#with(await readBudgets(sql, tenant, false));
  }

  #with(set: readonly Budget[]): readonly Budget[] {
    if (set.length === 0) return this.configured;
    const ids = new Set(set.map(({ id }) => id));
    return [...this.configured.filter(({ id }) => !ids.has(id)), ...set];
  }
}
