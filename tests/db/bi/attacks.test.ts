import type pg from "pg";
import { describe, expect, it } from "vitest";
import { ownerOf } from "../../../src/db/bi/install.ts";
import { showsSamples } from "../../../src/db/bi/readers.ts";
import { administrator, testDatabaseUrl } from "../../support/database.ts";
import { viewsReader } from "../../support/views-reader.ts";

const SECRET = "secret-of-the-other";

/** All that a statement lets its reader see: rows, notices and the error with its fields. */
async function seen(reader: pg.Client, statement: string): Promise<string> {
  const notices: string[] = [];
  const note = (notice: { readonly message?: string | undefined }) => void notices.push(notice.message ?? "");
  reader.on("notice", note);
  try {
    const results = await reader.query(statement);
    return JSON.stringify([[results].flat().map(({ rows }) => rows), notices]);
  } catch (error) {
    return JSON.stringify([String(error), error, notices]);
  } finally {
    reader.off("notice", note);
  }
}

/** Functions that tell their arguments, also to a planner that compares statistics of columns with a constant. */
const TELLING: readonly string[] = [
  "SET default_transaction_read_only = off",
  "CREATE FUNCTION pg_temp.tells(text, text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$BEGIN RAISE NOTICE '% %', $1, $2; RETURN $1 < $2; END$$",
  "CREATE OPERATOR pg_temp.<<< (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.tells, RESTRICT = scalarltsel)",
  "CREATE OPERATOR pg_temp.=== (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.tells, RESTRICT = eqsel, JOIN = eqjoinsel)",
];

const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  "the statistics by which statements are planned": [
    ...TELLING,
    "SET search_path = pg_temp, bi, bi_content",
    "EXPLAIN SELECT * FROM bi.tool_call WHERE name OPERATOR(pg_temp.<<<) 'z'",
    "EXPLAIN SELECT * FROM bi.step WHERE model OPERATOR(pg_temp.===) 'z'",
    "EXPLAIN SELECT * FROM bi_content.tool_call WHERE output OPERATOR(pg_temp.<<<) 'z'",
    "EXPLAIN SELECT * FROM bi.turn WHERE template_id OPERATOR(pg_temp.<<<) 'z'",
    "EXPLAIN SELECT * FROM bi.tool_call t JOIN bi.step s ON t.name OPERATOR(pg_temp.===) s.model",
    "EXPLAIN (ANALYZE, VERBOSE, BUFFERS) SELECT * FROM bi_content.agent WHERE title OPERATOR(pg_temp.<<<) 'z'",
    "SELECT * FROM pg_stats",
    "SELECT * FROM pg_stats_ext",
    "SELECT * FROM pg_stats_ext_exprs",
    "SELECT * FROM pg_statistic_ext_data",
    "SELECT stavalues1::text FROM pg_statistic",
  ],
  "what others run": [
    "SELECT * FROM pg_stat_activity",
    "SELECT * FROM pg_locks",
    "SELECT * FROM pg_prepared_statements",
    "SELECT * FROM pg_cursors",
    "SELECT * FROM pg_prepared_xacts",
    "SELECT * FROM pg_stat_statements",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
  ],
  "another role": [
    "SET default_transaction_read_only = off",
    "SET ROLE VIEWS_OWNER",
    "SET SESSION AUTHORIZATION VIEWS_OWNER",
    "SELECT set_config('role', 'postgres', false)",
    "SELECT set_config('session_authorization', 'postgres', false)",
    "GRANT VIEWS_OWNER TO CURRENT_USER",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "CREATE ROLE another SUPERUSER",
    "ALTER VIEW bi.agent OWNER TO CURRENT_USER",
    "ALTER VIEW bi.agent SET (security_barrier = false, security_invoker = true)",
    "SELECT title FROM bi_content.agent",
    "SELECT * FROM public.agent",
  ],
  "the base tables": [
    "SET default_transaction_read_only = off",
    "TABLE public.agent",
    "COPY public.agent TO STDOUT",
    "COPY (SELECT title FROM public.agent) TO STDOUT",
    "DO $$BEGIN RAISE NOTICE '%', (SELECT string_agg(title, ',') FROM public.agent); END$$",
    "CREATE TEMP TABLE mine (id text REFERENCES public.agent (id))",
    "CREATE TEMP VIEW through AS SELECT * FROM public.agent",
    "SELECT * FROM through",
    "CREATE FUNCTION pg_temp.through() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER AS $$SELECT title FROM public.agent$$",
    "SELECT pg_temp.through()",
    "SELECT table_to_xml('public.agent', true, true, ''), schema_to_xml('public', true, true, '')",
    "SELECT cursor_to_xml('c', 1, true, true, '')",
    "SELECT * FROM ts_stat('SELECT to_tsvector(title) FROM public.agent')",
    "SELECT * FROM dblink('', 'SELECT title FROM agent') AS a(title text)",
    "MERGE INTO bi.agent a USING public.agent b ON true WHEN MATCHED THEN DELETE",
    "SELECT * FROM bi.agent FOR UPDATE",
    "INSERT INTO bi.agent (agent_id) VALUES ('agent-other') RETURNING *",
    "CREATE RULE shows AS ON SELECT TO bi.agent DO INSTEAD SELECT * FROM public.agent",
    "CREATE TRIGGER shows INSTEAD OF INSERT ON bi.agent EXECUTE FUNCTION pg_temp.through()",
    "CREATE PUBLICATION all_of_it FOR ALL TABLES",
    "SELECT * FROM pg_create_logical_replication_slot('s', 'test_decoding')",
    "SELECT * FROM pg_logical_slot_peek_changes('s', NULL, NULL)",
  ],
  "files and large objects": [
    "SET default_transaction_read_only = off",
    "SELECT convert_from(lo_get(LARGE_OBJECT), 'UTF8')",
    "SELECT lo_open(LARGE_OBJECT, 262144)",
    "SELECT lo_export(LARGE_OBJECT, '/tmp/out')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT data FROM pg_largeobject",
    "SELECT pg_ls_dir('.'), pg_ls_waldir(), pg_current_logfile()",
    "SELECT pg_read_binary_file(pg_relation_filepath('public.agent'))",
    "COPY (SELECT 1) TO '/tmp/out'",
    "CREATE TEMP TABLE lines (line text)",
    "COPY lines FROM '/etc/passwd'",
    "LOAD '/tmp/library'",
    "CREATE EXTENSION pageinspect",
    "SELECT * FROM get_raw_page('public.agent', 0)",
  ],
  "the tenant of the session": [
    "SET default_transaction_read_only = off",
    "CREATE SCHEMA bi_reader",
    "CREATE TABLE bi.mine (i int)",
    "ALTER FUNCTION bi.tenant() SET search_path = pg_temp",
    "CREATE FUNCTION bi.tenant(int) RETURNS text LANGUAGE sql AS $$SELECT 'other'$$",
    "DROP FUNCTION bi.tenant()",
    "CREATE TEMP TABLE pg_roles AS SELECT 'x' AS rolname",
    "CREATE FUNCTION pg_temp.\"session_user\"() RETURNS name LANGUAGE sql AS $$SELECT 'postgres'::name$$",
    "BEGIN; SET LOCAL search_path = pg_temp, bi; SELECT bi.tenant(); SELECT * FROM bi.agent; ROLLBACK",
    "PREPARE all_agents AS SELECT * FROM bi.agent; EXECUTE all_agents",
    "BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT * FROM bi_content.agent; COMMIT; FETCH ALL FROM c",
    "SELECT * FROM bi.tool_call WHERE (SELECT count(*) FROM generate_series(1, 1000)) > 0 AND name::date IS NULL",
    "SELECT 1 / (CASE WHEN title LIKE 'secret%' THEN 0 ELSE 1 END), title::int FROM bi_content.agent",
    "SELECT * FROM bi_content.agent WHERE title::regclass IS NULL",
    "SELECT * FROM bi_content.agent ORDER BY title::inet",
    "SELECT jsonb_path_query(to_jsonb(a), '$.**') FROM bi_content.agent a",
    "SELECT a FROM bi_content.agent a RIGHT JOIN (VALUES ('agent-other')) o(agent_id) USING (agent_id)",
    "EXPLAIN (ANALYZE, VERBOSE, SETTINGS, FORMAT JSON) SELECT * FROM bi_content.agent WHERE title > 'a'",
  ],
};

/** A hundred agents of two tenants each, with a call and a step, and the names by which attacks speak of them. */
async function attacked() {
  const url = await testDatabaseUrl();
  const client = await administrator(url);
  await client.query(`CREATE TEMP TABLE row_of AS SELECT 'agent-' || i AS id, CASE i % 2 WHEN 0 THEN 'own' ELSE 'other' END AS tenant,
      CASE i % 2 WHEN 0 THEN 'mine ' ELSE '${SECRET} ' END || i % 20 AS said FROM generate_series(1, 200) i;
    INSERT INTO agent (id, tenant, title, template_id, model, workspace, created_by, created_by_kind, created_at, last_activity_at)
      SELECT id, tenant, said, said, 'model', '/', said, 'USER', now(), now() FROM row_of;
    INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, output, stages, audit_trail, created_at, updated_at)
      SELECT id, tenant, id, 1, 1, 0, 'p', said, 'COMPLETED', 1, false, said, '[]', '[]', now(), now() FROM row_of;
    INSERT INTO step (agent_id, step, tenant, turn, state, model, started_at) SELECT id, 1, tenant, 1, 'COMPLETED', said, now() FROM row_of;
    CREATE STATISTICS names_of_calls ON (lower(name)) FROM tool_call;
    ANALYZE`);
  const { rows } = await client.query<{ oid: string }>("SELECT lo_from_bytea(0, convert_to($1, 'UTF8')) AS oid", [SECRET]);
  const owner = ownerOf(new URL(url).pathname.slice(1));
  const names: Readonly<Record<string, string>> = { VIEWS_OWNER: `"${owner}"`, LARGE_OBJECT: rows[0]?.oid ?? "0" };
  return { client, names, reader: await viewsReader(url, "own", true) };
}

it("the versions of PostgreSQL whose planner shows samples of columns are known", () => {
  const versions = [140_022, 150_013, 150_014, 160_009, 160_010, 170_005, 170_006, 180_000];
  expect(versions.filter(showsSamples)).toEqual([140_022, 150_013, 160_009, 170_005]);
});

describe("a reader of the SQL views sees nothing of another tenant", () => {
  it.each(Object.entries(ATTACKS))("by %s", async (_what, statements) => {
    const { client, names, reader } = await attacked();
    // Another's statement stands in its session until the next one.
    await client.query(`SELECT '${SECRET}'`);
    for (const statement of statements) {
      const text = statement.replace(/VIEWS_OWNER|LARGE_OBJECT/g, (name) => names[name] ?? name);
      expect(await seen(reader, text), statement).not.toContain(SECRET);
    }
    await reader.query("ROLLBACK; SET search_path = bi");
    const { rows } = await reader.query<{ count: string }>("SELECT count(*) FROM bi.agent");
    expect(rows[0]?.count).toBe("100");
  });
});
