import { PGlite } from "@electric-sql/pglite";
import { describe, expect, it, onTestFinished } from "vitest";
import { migrate, readMigrations, type MigrationConnection } from "../../src/db/migrate.ts";

async function database(): Promise<MigrationConnection> {
  const client = await PGlite.create();
  onTestFinished(() => client.close());
  return {
    script: async (sql) => void (await client.exec(sql)),
    query: async <Row>(sql: string, values: readonly unknown[] = []) => (await client.query<Row>(sql, [...values])).rows,
  };
}

const FIRST = { name: "1_first", sql: "CREATE TABLE a (id int)" };
const SECOND = { name: "2_second", sql: "CREATE TABLE b (id int)" };

describe("migrate", () => {
  it("applies what is missing, once, and records it as Prisma does", async () => {
    const connection = await database();
    await migrate(connection, [FIRST]);
    await migrate(connection, [FIRST, SECOND]);
    await migrate(connection, [FIRST, SECOND]);
    expect(
      await connection.query(
        `SELECT migration_name, applied_steps_count, length(checksum) AS length FROM "_prisma_migrations" ORDER BY 1`,
      ),
    ).toEqual([
      { migration_name: "1_first", applied_steps_count: 1, length: 64 },
      { migration_name: "2_second", applied_steps_count: 1, length: 64 },
    ]);
  });

  it("leaves nothing of a migration that fails, and says which", async () => {
    const connection = await database();
    await expect(
      migrate(connection, [FIRST, { name: "2_broken", sql: "CREATE TABLE c (id int); SELECT nonsense" }]),
    ).rejects.toThrow(/migration 2_broken could not be applied: .*nonsense/);
    await migrate(connection, [FIRST, { name: "2_broken", sql: "CREATE TABLE c (id int)" }]);
  });

  it("refuses a database of a newer version, and one with another text of a migration", async () => {
    const connection = await database();
    await migrate(connection, [FIRST, SECOND]);
    await expect(migrate(connection, [FIRST])).rejects.toThrow(/does not know \(2_second\): start a newer version/);
    await expect(migrate(connection, [FIRST, { ...SECOND, sql: "CREATE TABLE other (id int)" }])).rejects.toThrow(
      /applied with another text/,
    );
  });

  it("finds the committed migrations in order", async () => {
    const names = (await readMigrations()).map((migration) => migration.name);
    expect(names).toEqual(names.toSorted());
    expect(names.length).toBeGreaterThan(0);
  });
});
