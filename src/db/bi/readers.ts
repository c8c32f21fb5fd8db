import { randomBytes } from "node:crypto";
import { grantsOf, installViews, inTransaction, type OperatorConnection } from "./install.ts";
import { identifier, literal, ViewsRefused } from "./view.ts";

/** A login of an analyst. */
export type Reader = { readonly role: string; readonly tenant: string; readonly readsContent: boolean };

/**
 * The settings with which each connection of a reader begins, as written in SQL. A reader may change them: they bound mistakes,
 * the privileges bound the rest.
 */
export const READER_SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["default_transaction_read_only", "'on'"],
  ["statement_timeout", "'60s'"],
  ["idle_in_transaction_session_timeout", "'60s'"],
  ["work_mem", "'32MB'"],
  ["TimeZone", "'UTC'"],
  ["search_path", "bi, bi_content"],
];

const MOST_CONNECTIONS = 5;
const NAME = /^[a-z][a-z0-9_]{0,50}$/;

/** Makes a login for an analyst of a tenant, and returns its password, which is kept nowhere. */
export async function grantReader(connection: OperatorConnection, { role, tenant, readsContent }: Reader): Promise<string> {
  if (!NAME.test(role) || role.startsWith("pg_"))
    throw new ViewsRefused(`${role} is no name for a reader: use small letters, digits and _, 51 at most`);
  const [known] = await connection.query("SELECT FROM pg_roles WHERE rolname = $1", [role]);
  if (known !== undefined)
    throw new ViewsRefused(
      `the role ${role} exists already, perhaps for another database: take another name, or revoke it first`,
    );
  const password = randomBytes(24).toString("base64url");
  const reader = identifier(role);
  const settings = READER_SETTINGS.map(([name, value]) => `ALTER ROLE ${reader} SET ${name} = ${value};`);
  await inTransaction(connection, async () => {
    await installViews(connection);
    await connection.script(`SET LOCAL password_encryption = 'scram-sha-256';
CREATE ROLE ${reader} LOGIN NOINHERIT CONNECTION LIMIT ${MOST_CONNECTIONS} PASSWORD ${literal(password)};
${settings.join("\n")}
INSERT INTO bi.bi_reader (role, tenant, reads_content) VALUES (${literal(role)}, ${literal(tenant)}, ${readsContent});
${grantsOf(role, readsContent)}`);
  });
  return password;
}

/** Ends a reader: its row, its privileges here and its role. Open connections lose all rights. False if there is none of this name. */
export async function revokeReader(connection: OperatorConnection, role: string): Promise<boolean> {
  if (!(await listReaders(connection)).some((reader) => reader.role === role)) return false;
  const reader = identifier(role);
  await inTransaction(connection, () =>
    connection.script(`DELETE FROM bi.bi_reader WHERE role = ${literal(role)};
ALTER ROLE ${reader} NOLOGIN;
REVOKE ALL ON ALL TABLES IN SCHEMA bi, bi_content FROM ${reader};
REVOKE ALL ON SCHEMA bi, bi_content FROM ${reader};
REVOKE ALL ON FUNCTION bi.tenant() FROM ${reader};
DROP ROLE ${reader};`),
  );
  return true;
}

/** The readers of this database. */
export async function listReaders(connection: OperatorConnection): Promise<readonly Reader[]> {
  const [table] = await connection.query<{ exists: boolean }>("SELECT to_regclass('bi.bi_reader') IS NOT NULL AS exists");
  if (table?.exists !== true) return [];
  return connection.query<Reader>('SELECT role, tenant, reads_content AS "readsContent" FROM bi.bi_reader ORDER BY role');
}

/** The first minor version of each major one whose planner keeps its samples of columns from readers of views (CVE-2025-8713). */
const SEALED_SAMPLES: ReadonlyMap<number, number> = new Map([
  [15, 14],
  [16, 10],
  [17, 6],
]);

/** True for a PostgreSQL (server_version_num) that lets a reader see samples of columns of other tenants. */
export function showsSamples(version: number): boolean {
  const first = SEALED_SAMPLES.get(Math.floor(version / 10_000));
  return first === undefined ? version < 150_000 : version % 10_000 < first;
}
