import { randomUUID } from "node:crypto";
import { detached } from "../db/connections/reader-limits.ts";
import type { Sql, Statement } from "../db/sql.ts";

const BEGIN_LOG: Statement<object, [tenant: string, epoch: string]> = {
  name: "begin_log",
  text: "INSERT INTO tenant_log (tenant, epoch) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING tenant",
};

export class LogBeginnings {
  readonly #sql: Sql;
  readonly #begun = new Set<string>();
  readonly #listeners = new Set<(tenant: string) => void>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  onBegun(listener: (tenant: string) => void): void {
    this.#listeners.add(listener);
  }

  async begin(tenant: string): Promise<void> {
    if (this.#begun.has(tenant)) return;
    const begun = await this.#sql.query(BEGIN_LOG, [tenant, randomUUID().slice(0, 8)]);
    this.#begun.add(tenant);
    if (begun.length > 0) detached(() => this.#listeners.forEach((listener) => listener(tenant)));
  }
}
