import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { readFunctions } from "../../scripts/functions.ts";
import { readCatalog } from "../../scripts/catalog.ts";
import { schemaDifference } from "../../scripts/schema-engine.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import { testDatabase } from "../support/database.ts";
import { emptyEmbedded } from "../support/embedded.ts";

it("the SQL functions make a row once: PostgreSQL reads (function()).* as a call for each column", async () => {
  const texts = (await readFunctions()).map(({ text }) => text);
  expect(texts.flatMap((text) => text.match(/^.*\)\)\.\*.*$/gm) ?? [])).toEqual([]);
});

describe("the migrations", () => {
  it("amount to prisma/schema.prisma", async () => {
    expect(await schemaDifference({ tag: "migrations", sql: await readMigrations() }, await emptyEmbedded())).toBe("");
  });

  it("amount to the same functions, indexes and storage on both databases, and to those that are committed", async () => {
    const { sql } = await testDatabase();
    const embedded = await emptyEmbedded();
    for (const migration of await readMigrations()) await embedded.exec(migration.sql);
    const onPostgres = await readCatalog({ query: (text) => sql.query({ name: "catalog", text }, []) });
    const onEmbedded = await readCatalog({ query: async <Row>(text: string) => (await embedded.query<Row>(text)).rows });
    expect(onPostgres).toBe(onEmbedded);
    expect(onPostgres).toBe(await readFile(new URL("../../prisma/catalog.sql", import.meta.url), "utf8"));
  });
});
