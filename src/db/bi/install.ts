import { createHash } from "node:crypto";
import { TABLES_PLACE } from "../migrate.ts";
import { identifier, ViewsRefused, viewSql } from "./view.ts";
import { VIEWS } from "./views.ts";

/** A connection of an operator, outside of every pool: `script` sends several statements, `query` one. */
export type OperatorConnection = {
  script(sql: string): Promise<void>;
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
};

const TABLES = [
  "tool_call",
  "approval",
  "decision",
  "step",
  "message",
  "event",
  "agent",
  "allow_rule",
  "compaction",
  "deleted_agent",
  "deleted_approval",
  "deleted_decision",
];

const DROP_VIEWS = VIEWS.map(({ schema, name }) => `DROP VIEW IF EXISTS ${schema}.${name};`).join("\n");

/** The role that owns the views of a database. Roles belong to all databases of a PostgreSQL, so each database has its own. */
export function ownerOf(database: string): string {
  const digest = createHash("sha256").update(database).digest("hex").slice(0, 8);
  return `triplane_bi_${digest}_${database}`.slice(0, 40);
}

/** Runs all statements of `work`, or none. */
export async function inTransaction(connection: OperatorConnection, work: () => Promise<void>): Promise<void> {
  await connection.script("BEGIN");
  try {
    await work();
    await connection.script("COMMIT");
  } catch (error) {
    // Where the connection is lost, PostgreSQL rolls back by itself.
    await connection.script("ROLLBACK").catch(() => {});
    throw error;
  }
}

/**
 * Makes the views anew as this version has them: readers keep what they may. Runs in a transaction of the caller. Needs a role
 * that may create roles and owns the tables, or a superuser; no server and no migration needs it.
 */
export async function installViews(connection: OperatorConnection): Promise<void> {
  const [place] = await connection.query<{ schema: string }>(TABLES_PLACE);
  const [database] = await connection.query<{ name: string; role: string }>(
    "SELECT current_database() AS name, current_user AS role",
  );
  if (place === undefined || database === undefined)
    throw new ViewsRefused(
      "this database has no tables of Triplane yet, or its search_path does not name their schema: start the server once",
    );
  const owner = identifier(ownerOf(database.name));
  const [known] = await connection.query("SELECT FROM pg_roles WHERE rolname = $1", [ownerOf(database.name)]);
  const schema = identifier(place.schema);
  await connection.script(`${known === undefined ? `CREATE ROLE ${owner} NOLOGIN;` : ""}
GRANT ${owner} TO ${identifier(database.role)};
GRANT USAGE ON SCHEMA ${schema} TO ${owner};
GRANT SELECT ON ${TABLES.map((table) => `${schema}.${table}`).join(", ")} TO ${owner};
CREATE SCHEMA IF NOT EXISTS bi;
CREATE SCHEMA IF NOT EXISTS bi_content;
CREATE TABLE IF NOT EXISTS bi.bi_reader (role text PRIMARY KEY, tenant text NOT NULL, reads_content boolean NOT NULL, granted_at timestamptz NOT NULL DEFAULT now());
GRANT USAGE ON SCHEMA bi TO ${owner};
GRANT SELECT ON bi.bi_reader TO ${owner};
${DROP_VIEWS}
CREATE OR REPLACE FUNCTION bi.tenant() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE SET search_path = pg_catalog, pg_temp
  AS $$SELECT r.tenant FROM bi.bi_reader r WHERE r.role = session_user$$;
REVOKE ALL ON FUNCTION bi.tenant() FROM PUBLIC;
GRANT CREATE ON SCHEMA bi, bi_content TO ${owner};
${VIEWS.map((view) => `${viewSql(view)}\nALTER VIEW ${view.schema}.${view.name} OWNER TO ${owner};`).join("\n")}
ALTER FUNCTION bi.tenant() OWNER TO ${owner};
REVOKE CREATE ON SCHEMA bi, bi_content FROM ${owner};`);
  const readers = await connection.query<{ role: string; reads_content: boolean }>(
    "SELECT role, reads_content FROM bi.bi_reader",
  );
  for (const { role, reads_content } of readers) await connection.script(grantsOf(role, reads_content));
}

/** Removes the views, before a migration that changes their columns. Readers and what they may stay written down. */
export async function dropViews(connection: OperatorConnection): Promise<void> {
  await connection.script(DROP_VIEWS);
}

/** The statements that let a reader read the views alone. */
export function grantsOf(role: string, readsContent: boolean): string {
  const reader = identifier(role);
  return (["bi", "bi_content"] as const)
    .map((schema) => {
      const names = VIEWS.filter((view) => view.schema === schema)
        .map(({ name }) => `${schema}.${name}`)
        .join(", ");
      return schema === "bi" || readsContent
        ? `GRANT USAGE ON SCHEMA ${schema} TO ${reader}; GRANT SELECT ON ${names} TO ${reader};`
        : `REVOKE ALL ON SCHEMA ${schema} FROM ${reader}; REVOKE ALL ON ${names} FROM ${reader};`;
    })
    .concat(`GRANT EXECUTE ON FUNCTION bi.tenant() TO ${reader};`)
    .join("\n");
}
