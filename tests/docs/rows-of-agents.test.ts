import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { testDatabase } from "../support/database.ts";

const architecture = await readFile(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");

/** The tables of the section, and which of them it says are copied into a fork. */
const [, section = ""] = /^## The rows of an agent\n([\s\S]*?)^## /m.exec(architecture) ?? [];
const ROWS = [...section.matchAll(/^\| (`.*?`) \| (.*?) \|/gm)].flatMap(([, tables = "", fork = ""]) =>
  [...tables.matchAll(/`(\w+)`/g)].map(([, table = ""]) => ({ table, isCopied: /^(untold ones are )?copied/.test(fork) })),
);

it("ARCHITECTURE.md says of every table of agents what becomes of its rows", async () => {
  const { sql } = await testDatabase();
  const text = `SELECT table_name AS "table" FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'agent_id' ORDER BY 1`;
  const tables = await sql.query<{ table: string }, []>({ name: "", text }, []);
  expect(ROWS.map(({ table }) => table).toSorted()).toEqual(tables.map(({ table }) => table));
});

it("a fork copies the rows of the tables that the table names, and no others", async () => {
  const commit = await readFile(new URL("../../src/db/functions/commit_change.sql", import.meta.url), "utf8");
  const [, fork = ""] = /IF v_change\.fork IS NOT NULL THEN([\s\S]*?)\n {2}END IF;/.exec(commit) ?? [];
  const copied = [...fork.matchAll(/INSERT INTO (\w+)/g)].map(([, table = ""]) => table);
  expect(copied.toSorted()).toEqual(ROWS.flatMap(({ table, isCopied }) => (isCopied ? [table] : [])).toSorted());
});
