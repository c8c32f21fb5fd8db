import { readFile } from "node:fs/promises";
import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { dropViews, installViews, inTransaction, ownerOf, type OperatorConnection } from "../../../src/db/bi/install.ts";
import { columnsPage } from "../../../src/db/bi/view.ts";
import { grantReader, listReaders, revokeReader } from "../../../src/db/bi/readers.ts";
import { VIEWS } from "../../../src/db/bi/views.ts";
import { PRIVATE_KINDS } from "../../../src/events/tenant-event.ts";
import { globalId } from "../../../src/lib/global-id.ts";
import { administer, administrator, testDatabaseUrl } from "../../support/database.ts";

const SECRET = "secret-of-the-other";
let readers = 0;

/** A database with an agent of two tenants each, and a reader of the tenant `own`. */
async function granted({ readsContent }: { readonly readsContent: boolean }) {
  const url = await testDatabaseUrl();
  const client = await administrator(url);
  const connection: OperatorConnection = {
    script: async (text) => void (await client.query(text)),
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows,
  };
  for (const [tenant, title] of [
    ["own", "mine"],
    ["other", SECRET],
  ] as const) {
    const values = [`agent-${tenant}`, tenant, title];
    await client.query(
      `INSERT INTO agent (id, tenant, title, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
       VALUES ($1, $2, $3, $3, 'model', '/', $3, 'USER', now(), now())`,
      values,
    );
    await client.query(
      `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, output, stages, audit_trail, created_at, updated_at)
       VALUES ($1, $2, $1, 1, 1, 0, 'p', $3, 'COMPLETED', 1, false, $3, '[]', '[]', now(), now())`,
      values,
    );
    await client.query(
      `INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) VALUES ($1, 1, $2, 1, 'COMPLETED', $3, now())`,
      values,
    );
  }
  readers += 1;
  const role = `reader_${process.pid}_${readers}`;
  const password = await grantReader(connection, { role, tenant: "own", readsContent });
  const place = new URL(url);
  place.username = role;
  place.password = password;
  const reader = new pg.Client({ connectionString: place.href });
  // The database is dropped with the test, by force.
  reader.on("error", () => {});
  await reader.connect();
  onTestFinished(async () => {
    await reader.end();
    await revokeReader(connection, role);
    const owner = ownerOf(place.pathname.slice(1));
    await client.query(`DROP OWNED BY "${owner}" CASCADE`);
    await administer(`DROP ROLE "${owner}"`);
  });
  return { connection, client, reader, role };
}

/** All that a statement lets its reader see: rows, notices and the error. */
async function seen(reader: pg.Client, statement: string): Promise<string> {
  const notices: string[] = [];
  const note = (notice: { readonly message?: string | undefined }) => void notices.push(notice.message ?? "");
  reader.on("notice", note);
  try {
    return JSON.stringify([(await reader.query(statement)).rows, notices]);
  } catch (error) {
    return JSON.stringify([String(error), error, notices]);
  } finally {
    reader.off("notice", note);
  }
}

describe("the SQL views", () => {
  it("show a reader the rows of one tenant, and texts by a grant of their own", async () => {
    const { reader } = await granted({ readsContent: false });
    for (const { schema, name } of VIEWS.filter((view) => view.schema === "bi"))
      await reader.query(`SELECT * FROM ${schema}.${name}`);
    expect((await reader.query("SELECT agent_id, name FROM bi.tool_call")).rows).toEqual([
      { agent_id: "agent-own", name: "mine" },
    ]);
    expect((await reader.query("SELECT agent_id, steps FROM bi.turn")).rows).toEqual([{ agent_id: "agent-own", steps: "1" }]);
    await expect(reader.query("SELECT * FROM bi_content.tool_call")).rejects.toThrow("permission denied");
    const { reader: second } = await granted({ readsContent: true });
    expect((await second.query("SELECT output FROM bi_content.tool_call")).rows).toEqual([{ output: "mine" }]);
  });

  it("leave out events that are for one person alone", async () => {
    const { client, reader } = await granted({ readsContent: true });
    for (const [index, kind] of ["CONFIGURATION_CHANGED", ...PRIVATE_KINDS].entries())
      await client.query(
        "INSERT INTO event (tenant, position, seq, channel, kind, payload, at) VALUES ('own', $1::int, $1::int, 'CONTROL', $2, '{}', now())",
        [index + 1, kind],
      );
    const rest = [{ position: "1" }];
    expect((await reader.query("SELECT position FROM bi.event")).rows).toEqual(rest);
    expect((await reader.query("SELECT position FROM bi_content.event")).rows).toEqual(rest);
  });

  it("have the predicate and the barrier in each view, and give a reader no other privilege", async () => {
    const { connection, role } = await granted({ readsContent: true });
    const views = await connection.query<{ name: string; body: string; options: readonly string[] | null; login: boolean }>(
      `SELECT n.nspname || '.' || c.relname AS name, pg_get_viewdef(c.oid) AS body, c.reloptions AS options, r.rolcanlogin AS login
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.oid = c.relowner
       WHERE n.nspname IN ('bi', 'bi_content') AND c.relkind = 'v'`,
    );
    expect(views.map(({ name }) => name).toSorted()).toEqual(VIEWS.map(({ schema, name }) => `${schema}.${name}`).toSorted());
    for (const { name, body, options, login } of views) {
      expect(body, name).toMatch(/\n {2}WHERE \((?:\w+\.)?tenant = \( SELECT bi\.tenant\(\) AS tenant\)\)(?:;|\n {2}GROUP BY )/);
      expect(options, name).toContain("security_barrier=true");
      expect(login, name).toBe(false);
    }
    const rights = await connection.query<{ name: string }>(
      `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.relkind IN ('r', 'v', 'm', 'p', 'f', 'S')
         AND (CASE WHEN c.relkind = 'S' THEN has_sequence_privilege($1, c.oid, 'USAGE, SELECT, UPDATE')
              ELSE has_table_privilege($1, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') OR has_any_column_privilege($1, c.oid, 'SELECT, UPDATE') END)`,
      [role],
    );
    expect(rights.map(({ name }) => name).toSorted()).toEqual(views.map(({ name }) => name).toSorted());
    const writes = await connection.query(
      `SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('bi', 'bi_content') AND c.relkind = 'v'
         AND has_table_privilege($1, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')`,
      [role],
    );
    expect(writes).toEqual([]);
    const [{ memberships, elevated } = {}] = await connection.query<{ memberships: string; elevated: boolean }>(
      `SELECT (SELECT count(*) FROM pg_auth_members WHERE member = r.oid) AS memberships,
         rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls AS elevated FROM pg_roles r WHERE rolname = $1`,
      [role],
    );
    expect([memberships, elevated]).toEqual(["0", false]);
  });

  it("show nothing of others to attacks", async () => {
    const { reader, client } = await granted({ readsContent: true });
    await client.query("ANALYZE");
    for (const statement of [
      "SET default_transaction_read_only = off",
      "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$BEGIN RAISE NOTICE '%', $1; RETURN true; END$$",
      "SELECT * FROM bi.tool_call WHERE pg_temp.leak(name)",
      "SELECT * FROM bi.turn WHERE pg_temp.leak(template_id)",
      "SELECT * FROM bi_content.tool_call WHERE pg_temp.leak(output)",
      "SELECT * FROM bi.tool_call c JOIN bi_content.tool_call t USING (call_id) WHERE pg_temp.leak(t.output)",
      "SELECT * FROM bi_content.tool_call WHERE output::int = 1",
      "SELECT * FROM bi_content.agent WHERE CAST(title AS json) IS NULL",
      "CREATE FUNCTION pg_temp.tenant() RETURNS text LANGUAGE sql AS $$SELECT 'other'$$",
      "SET search_path = pg_temp, bi, bi_content",
      "SELECT * FROM bi.tool_call",
      "CREATE TEMP TABLE bi_reader AS SELECT session_user::text AS role, 'other' AS tenant",
      "CREATE FUNCTION pg_temp.texteq(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
      "CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.texteq)",
      "SET search_path = pg_temp, pg_catalog, bi",
      "SELECT * FROM bi.agent",
      "CREATE OR REPLACE FUNCTION bi.tenant() RETURNS text LANGUAGE sql AS $$SELECT 'other'$$",
      "UPDATE bi.bi_reader SET tenant = 'other'",
      "SELECT * FROM bi.bi_reader",
      "SET ROLE postgres",
      "SET SESSION AUTHORIZATION postgres",
      "SELECT * FROM public.agent",
      "SELECT query_to_xml('SELECT * FROM public.agent', true, true, '')",
      "SELECT pg_read_file('PG_VERSION')",
      "COPY (SELECT 1) TO PROGRAM 'true'",
      "SELECT * FROM pg_stats WHERE schemaname = 'public'",
      "SELECT * FROM pg_statistic",
      "SELECT lo_get(oid) FROM pg_largeobject_metadata",
      "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM bi.tool_call WHERE name > 'a'",
      "UPDATE bi.agent SET model = 'x'",
    ])
      expect(await seen(reader, statement), statement).not.toContain(SECRET);
    expect(await seen(reader, "SELECT agent_id FROM bi.agent")).toBe(JSON.stringify([[{ agent_id: "agent-own" }], []]));
  });

  it("have the ids of the API", async () => {
    const { reader } = await granted({ readsContent: false });
    const { rows } = await reader.query("SELECT a.relay_id AS agent, t.relay_id AS call FROM bi.agent a, bi.tool_call t");
    expect(rows).toEqual([{ agent: globalId("Agent", "agent-own"), call: globalId("ToolCall", "agent-own") }]);
  });

  it("stay as they are if they cannot be made again", async () => {
    const { connection, reader } = await granted({ readsContent: false });
    await connection.script("CREATE VIEW public.uses_it AS SELECT name FROM bi.tool_call");
    await expect(inTransaction(connection, () => installViews(connection))).rejects.toThrow("other objects depend on it");
    expect((await reader.query("SELECT name FROM bi.tool_call")).rows).toEqual([{ name: "mine" }]);
    await connection.script("DROP VIEW public.uses_it");
  });

  it("are made again with what readers may, and end with a revocation", async () => {
    const { connection, reader, role } = await granted({ readsContent: false });
    await dropViews(connection);
    await connection.script("ALTER TABLE tool_call ALTER COLUMN name TYPE varchar");
    await inTransaction(connection, () => installViews(connection));
    expect((await reader.query("SELECT name FROM bi.tool_call")).rows).toEqual([{ name: "mine" }]);
    expect(await listReaders(connection)).toEqual([{ role, tenant: "own", readsContent: false }]);
    expect(await revokeReader(connection, role)).toBe(true);
    expect(await revokeReader(connection, role)).toBe(false);
    await expect(reader.query("SELECT name FROM bi.tool_call")).rejects.toThrow();
  });

  it("are installed and granted by a role that is no superuser: it owns the tables, and may create roles", async () => {
    const { connection, reader, role } = await granted({ readsContent: false });
    await revokeReader(connection, role);
    await reader.end();
    const server = `server_${role}`;
    const roles = [server];
    // After the database, which runs first.
    onTestFinished(async () => {
      for (const made of roles) await administer(`DROP ROLE "${made}"`);
    });
    const url = await testDatabaseUrl();
    const superuser = await administrator(url);
    const [database = ""] = new URL(url).pathname.slice(1).split("/");
    await superuser.query(`CREATE ROLE ${server} LOGIN CREATEROLE PASSWORD 'p'; ALTER DATABASE ${database} OWNER TO ${server};
      ALTER SCHEMA public OWNER TO ${server};
      DO $$DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP EXECUTE format('ALTER TABLE public.%I OWNER TO ${server}', t); END LOOP; END$$`);
    const place = new URL(url);
    [place.username, place.password] = [server, "p"];
    const own = await administrator(place.href);
    const asServer: OperatorConnection = {
      script: async (text) => void (await own.query(text)),
      query: async <Row>(text: string, values: readonly unknown[] = []) =>
        (await own.query<Row & pg.QueryResultRow>(text, [...values])).rows,
    };
    roles.unshift(ownerOf(database));
    await grantReader(asServer, { role, tenant: "own", readsContent: true });
    await inTransaction(asServer, () => installViews(asServer));
    expect(await listReaders(asServer)).toEqual([{ role, tenant: "own", readsContent: true }]);
    expect(await revokeReader(asServer, role)).toBe(true);
  });

  it("has the page of columns as the views have them, and a comment on each column", async () => {
    expect(await readFile(new URL("../../../docs/bi-columns.md", import.meta.url), "utf8")).toBe(columnsPage(VIEWS));
    const { connection } = await granted({ readsContent: true });
    const bare = await connection.query(
      `SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('bi', 'bi_content') AND c.relkind = 'v' AND col_description(c.oid, a.attnum) IS NULL`,
    );
    expect(bare).toEqual([]);
  });
});
