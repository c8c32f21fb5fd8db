import { expect, it } from "vitest";
import { testDatabase } from "../support/database.ts";

/** The deployment's own tables: the key that addresses of images are signed with, and the migrations that were applied. */
const OF_DEPLOYMENT = ["_prisma_migrations", "signing_key"];

const WITHOUT_TENANT = {
  name: "tables_without_tenant",
  text: `SELECT c.relname AS "table" FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT EXISTS (
      SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND a.attnotnull AND a.atttypid = 'text'::regtype)
    ORDER BY 1`,
};

it("every row names its tenant, but for those of the deployment's own tables", async () => {
  const { sql } = await testDatabase();
  const tables = await sql.query<{ table: string }, []>(WITHOUT_TENANT, []);
  expect(tables.map(({ table }) => table)).toEqual(OF_DEPLOYMENT);
});
