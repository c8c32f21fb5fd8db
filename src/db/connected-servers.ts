import type { Statement } from "./sql.ts";

/** The purpose of a server's connection. */
export type ConnectionPurpose = "commits" | "work" | "leases" | "reads" | "bell" | "probe" | "migration" | "command";

/** A connection of a server, as PostgreSQL shows it. */
export type ConnectedServer = { readonly name: string; readonly address: string; readonly pid: number };

/** The `application_name` of a connection: whose it is, the version of the schema that its server knows, and what it is for. */
export function connectionName(version: string, purpose: ConnectionPurpose): string {
  return `triplane ${version} ${purpose}`;
}

/** Asks, by the connection of a bell, for `alone`: true if no other bell is connected to this database. */
export const NO_OTHER_BELL: Statement<{ alone: boolean }, []> = {
  name: "no_other_bell",
  text: `SELECT NOT EXISTS (SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'triplane % bell') AS alone`,
};

/** Servers that are connected to this database now, besides who asks. */
export async function connectedServers(connection: Pick<MigrationConnection, "query">): Promise<readonly ConnectedServer[]> {
  return connection.query<ConnectedServer>(
    `SELECT application_name AS name, coalesce(host(client_addr), 'this machine') AS address, pid FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'triplane%'
       AND application_name NOT LIKE '% migration' AND application_name NOT LIKE '% command' ORDER BY application_name, pid`,
  );
}

/** Those of them whose version is older. One that says no version counts as older. */
export async function olderServers(
  connection: Pick<MigrationConnection, "query">,
  version: string,
): Promise<readonly ConnectedServer[]> {
  const servers = await connectedServers(connection);
  return servers.filter(({ name }) => (/^triplane (\d+) /.exec(name)?.[1] ?? "") < version);
}

export type MigrationConnection = {
  script(sql: string): Promise<void>;
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
};
