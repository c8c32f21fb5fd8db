import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { openCopy, type Answer, type CopyReader } from "../../../src/db/bi/copy-reader.ts";
import { ownerOf, type OperatorConnection } from "../../../src/db/bi/install.ts";
import { grantReader, revokeReader } from "../../../src/db/bi/readers.ts";
import { openEmbeddedDatabase } from "../../../src/db/initialised.ts";
import { temporaryFolder } from "../../support/app.ts";
import { ANALYST_ROWS, SECRET } from "../../support/analyst-rows.ts";
import { administer, administrator, testDatabaseUrl } from "../../support/database.ts";
import { embeddedFolder } from "../../support/embedded.ts";

let filled: Promise<string> | null = null;

const ONLY_READS = /^give one statement that only reads, without INSERT, UPDATE, DELETE or MERGE, also in WITH$/;

/** An embedded database with rows of two tenants. */
async function fill(): Promise<string> {
  const folder = await mkdtemp(join(inject("runFolder"), "analyst-"));
  await cp(join(await embeddedFolder(), "pglite"), folder, { recursive: true });
  const client = await openEmbeddedDatabase(folder);
  await client.exec(ANALYST_ROWS);
  await client.close();
  return folder;
}

/** A copy with rows of two tenants, opened as an analyst of `local`. */
async function opened({ readsContent = false, tenant = "local" } = {}): Promise<CopyReader> {
  filled ??= fill();
  const folder = join(await temporaryFolder(), "pglite");
  await cp(await filled, folder, { recursive: true });
  const reader = await openCopy(folder, { tenant, readsContent });
  onTestFinished(() => reader.close());
  return reader;
}

async function seen(reader: CopyReader, statement: string): Promise<string> {
  return reader.answer(statement).then(
    (answer) => JSON.stringify(answer),
    (error: unknown) => `${String(error)} ${JSON.stringify(error)}`,
  );
}

describe("an analyst's statement on a copy (npm run sql)", { timeout: 60_000 }, () => {
  it("reads the rows of one tenant, in UTC and by short names, and texts only with content", async () => {
    const reader = await opened();
    expect(reader.otherTenants).toBeNull();
    expect((await reader.answer("SELECT count(*) FROM tool_call")).rows).toEqual([["60"]]);
    await expect(reader.answer("SHOW TimeZone")).rejects.toThrow("SHOW cannot run");
    expect((await reader.answer("SELECT current_setting('TimeZone'), session_user")).rows).toEqual([["UTC", "analyst"]]);
    await expect(reader.answer("SELECT output FROM bi_content.tool_call")).rejects.toThrow("with --content");
    const whole = await opened({ readsContent: true });
    expect((await whole.answer("SELECT count(output), min(output) FROM bi_content.tool_call")).rows).toEqual([["60", "text-1"]]);
    const stranger = await opened({ tenant: "acme" });
    expect(stranger.otherTenants).toEqual(["local", "other"]);
    expect((await stranger.answer("SELECT * FROM bi.agent")).rows).toEqual([]);
  });

  it("shows nothing of others to attacks, and changes nothing", async () => {
    const reader = await opened({ readsContent: true });
    for (const statement of [
      "SELECT set_config('session_authorization', 'postgres', false), query_to_xml('SELECT * FROM public.agent', true, true, '')",
      "SELECT query_to_xml('SELECT set_config(''role'', ''postgres'', false), * FROM public.agent', true, true, '')",
      "SELECT * FROM public.agent",
      "SELECT * FROM bi.bi_reader",
      "SELECT pg_read_file('PG_VERSION')",
      "SELECT lo_create(0)",
      "SELECT lo_import('/etc/passwd')",
      "SELECT * FROM bi_content.tool_call WHERE output::int = 1",
      "SELECT most_common_vals FROM pg_stats",
      "SELECT rolpassword FROM pg_authid",
      "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM bi.tool_call WHERE name > 'a'",
      "EXPLAIN ANALYZE CREATE TABLE x AS SELECT * FROM public.agent",
      "EXPLAIN ANALYZE DELETE FROM bi.agent",
      "WITH gone AS (DELETE FROM bi.agent RETURNING *) SELECT * FROM gone",
      "SELECT * INTO x FROM bi.agent",
      "SELECT * FROM bi.agent FOR UPDATE",
      "SELECT 1; SELECT * FROM public.agent",
      "SELECT 1; COMMIT; SELECT set_config('role', 'postgres', false)",
      "SELECT nextval('x')",
      "SELECT pg_terminate_backend(pg_backend_pid())",
      "SELECT 1 FROM answer",
    ])
      expect(await seen(reader, statement), statement).not.toContain(SECRET);
    expect((await reader.answer("SELECT count(*), session_user FROM bi.agent")).rows).toEqual([["60", "analyst"]]);
  });

  it("refuses two statements, writes, DDL, settings and mistakes with what to do, and goes on", async () => {
    const reader = await opened();
    for (const [statement, message] of [
      ["SELECT 1; SELECT 2", /give one statement/],
      ["WITH x AS (UPDATE bi.agent SET model = 'y' RETURNING 1) SELECT 1", ONLY_READS],
      ["WITH x AS (SELECT 1), y AS (DELETE FROM bi.agent RETURNING 1) SELECT * FROM y", ONLY_READS],
      ["WITH x AS (SELECT 1) DELETE FROM bi.agent", /near "DELETE", at line 1, column 22: give one statement that only reads, /],
      ["SELECT * INTO x FROM bi.agent", /^SELECT ... INTO is not allowed here, at line 1, column 15$/],
      ["EXPLAIN ANALYZE CREATE TEMP TABLE x AS SELECT 1", /denied|read-only/],
      ["SELECT lo_create(0)", /statements only read here/],
      ["SELECT set_config('transaction_read_only', 'off', true)", /permission denied.*views of bi/],
      ["SELECT 'ü',\n  1 FROM bi.calls", /"bi.calls" does not exist, at line 2, column 10: docs\/bi-columns.md/],
      ["SELECT $1", /parameter/],
      ["SELECT 1 / (step_count - step_count) FROM bi.agent", /division by zero/],
    ] as const) {
      await expect(reader.answer(statement), statement).rejects.toThrow(message);
      expect((await reader.answer("SELECT 1")).rows).toEqual([["1"]]);
    }
  });

  it("cuts an answer at 10,000 rows and at 64 million characters, says so, and keeps names that occur twice", async () => {
    const reader = await opened();
    const rows = (text: string): Promise<Answer> => reader.answer(text);
    const most = await rows("SELECT i AS a, -i AS a FROM generate_series(1, 10000) i");
    expect([most.rows.length, most.cut, most.rows.at(-1)]).toEqual([10_000, null, ["10000", "-10000"]]);
    expect(most.columns).toEqual([
      { name: "a", isNumber: true },
      { name: "a", isNumber: true },
    ]);
    const cut = await rows("SELECT generate_series(1, 1000000000)");
    expect([cut.rows.length, cut.cut]).toEqual([10_000, "an answer has at most 10000 rows"]);
    const wide = await rows("SELECT repeat('x', 1000000) FROM generate_series(1, 499)");
    expect([wide.rows.length, wide.cut]).toEqual([67, "an answer has at most 64 million characters"]);
    expect((await rows("/* a */ SELECT 1 AS one; -- the end")).rows).toEqual([["1"]]);
    expect((await rows("SELECT NULL, '', true, ARRAY[1, NULL], '{}'::jsonb")).rows).toEqual([[null, "", "t", "{1,NULL}", "{}"]]);
  });

  it("is of an empty database as well", async () => {
    const folder = join(await embeddedFolder(), "pglite");
    const reader = await openCopy(folder, { tenant: "local", readsContent: true });
    onTestFinished(() => reader.close());
    expect((await reader.answer("SELECT name FROM bi.tool_call")).rows).toEqual([]);
  });

  it("is refused on a folder of a newer version, or one that does not open, with what to do", async () => {
    const folder = join(await embeddedFolder(), "pglite");
    const client = await openEmbeddedDatabase(folder);
    await client.exec(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ('n', 'n', '9999_newer', now(), 1)",
    );
    await client.close();
    const scope = { tenant: "local", readsContent: false };
    await expect(openCopy(folder, scope)).rejects.toThrow("start a newer version");
    await writeFile(join(folder, "PG_VERSION"), "17\n");
    await expect(openCopy(folder, scope)).rejects.toThrow("the version that made the database");
    await rm(join(folder, "PG_VERSION"));
    await expect(openCopy(folder, scope)).rejects.toThrow(/ENOENT.*the version that made the database/);
  });
});

describe("the queries of docs/bi.md", { timeout: 60_000 }, () => {
  it("have the same answers by npm run sql and by a login of a PostgreSQL", async () => {
    const text = await readFile(new URL("../../../docs/bi.md", import.meta.url), "utf8");
    const queries = [...text.matchAll(/^```sql\n([^]*?)^```$/gm)].map(([, query = ""]) => query);
    expect(queries.length).toBeGreaterThanOrEqual(6);
    const [embedded, login] = [await opened(), await loggedIn()];
    for (const query of queries) {
      const { rows } = await embedded.answer(query);
      expect(rows.length, query).toBeGreaterThan(0);
      expect(sorted(rows), query).toEqual(sorted(await login(query)));
    }
  });
});

/** Rows in an order that no collation has a part in. */
function sorted(rows: Answer["rows"]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).sort();
}

type Asked = (statement: string) => Promise<(string | null)[][]>;

/** A login of an analyst of `local` on a PostgreSQL with the same rows. Answers values as PostgreSQL writes them. */
async function loggedIn(): Promise<Asked> {
  const url = await testDatabaseUrl();
  const client = await administrator(url);
  await client.query(ANALYST_ROWS);
  const connection: OperatorConnection = {
    script: async (text) => void (await client.query(text)),
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows,
  };
  const role = `copied_${process.pid}`;
  const place = new URL(url);
  place.password = await grantReader(connection, { role, tenant: "local", readsContent: false });
  place.username = role;
  const reader = new pg.Client({ connectionString: place.href });
  reader.on("error", () => {});
  await reader.connect();
  onTestFinished(async () => {
    await reader.end();
    await revokeReader(connection, role);
    const owner = ownerOf(place.pathname.slice(1));
    await client.query(`DROP OWNED BY "${owner}" CASCADE`);
    await administer(`DROP ROLE "${owner}"`);
  });
  const types = { getTypeParser: () => (value: string) => value };
  return async (text) => (await reader.query<(string | null)[]>({ text, rowMode: "array", types })).rows;
}
