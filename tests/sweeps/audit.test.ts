import { expect, it, onTestFinished } from "vitest";
import type { Sql } from "../../src/db/sql.ts";
import { AuditSweep } from "../../src/sweeps/sweeps.ts";
import { testDatabase } from "../support/database.ts";
import { playedModel } from "../support/models.ts";
import { testServices } from "../support/services.ts";

it("a tenant whose audit fails holds no other's up, and is tried again (invariant 13)", async () => {
  const { sql } = await testDatabase();
  await sql.query({ name: "logs", text: "INSERT INTO tenant_log (tenant, epoch) VALUES ('a', 'e'), ('b', 'e'), ('c', 'e')" }, []);
  let failures = 0;
  const again = Promise.withResolvers<void>();
  const failing: Sql = {
    ...sql,
    query: async (statement, values) => {
      if (!statement.name.endsWith("_audit") || values[0] !== "a") return sql.query(statement, values);
      failures += 1;
      if (failures === 3) again.resolve();
      throw new Error("the statement took too long");
    },
  };
  const services = testServices(failing, playedModel());
  const sweep = new AuditSweep({ ...services, of: () => services }, { ownMs: 5, othersMs: 20 });
  onTestFinished(() => sweep.close());
  await again.promise;
  let whole: object[] = [];
  while (whole.length < 2)
    whole = await sql.query(
      { name: "whole", text: "SELECT tenant FROM audit_fold WHERE whole_at IS NOT NULL ORDER BY tenant" },
      [],
    );
  expect(whole).toEqual([{ tenant: "b" }, { tenant: "c" }]);
});
