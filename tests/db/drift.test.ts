import { readFile } from "node:fs/promises";
import { PGlite } from "@electric-sql/pglite";
import { describe, expect, it } from "vitest";
import { readCatalog } from "../../scripts/catalog.ts";
import { schemaDifference } from "../../scripts/schema-engine.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import { testDatabase } from "../support/database.ts";

describe("the migrations", () => {
  it("amount to prisma/schema.prisma", async () => {
    expect(await schemaDifference({ tag: "migrations", sql: await readMigrations() })).toBe("");
  });

  it("amount to the same functions, indexes and storage on both databases, and to those that are committed", async () => {
    const { sql } = await testDatabase();
    const embedded = await PGlite.create();
    for (const migration of await readMigrations()) await embedded.exec(migration.sql);
    const onPostgres = await readCatalog({ query: (text) => sql.query({ name: "catalog", text }, []) });
    const onEmbedded = await readCatalog({ query: async <Row>(text: string) => (await embedded.query<Row>(text)).rows });
    await embedded.close();
    expect(onPostgres).toBe(onEmbedded);
    expect(onPostgres).toBe(await readFile(new URL("../../prisma/catalog.sql", import.meta.url), "utf8"));
  });
});
