import pg from "pg";
import { OutageWatch } from "./outage.ts";
import { watched, type Sql, type Statement } from "./sql.ts";

/** Where a PostgreSQL is, and how many connections one server holds to it. */
export type PoolConfig = { readonly url: string; readonly connections: number };

/** The connections to a PostgreSQL, and single statements by them. */
export function openPool(config: PoolConfig): { readonly pool: pg.Pool; readonly sql: Sql } {
  const pool = new pg.Pool({
    connectionString: config.url,
    max: config.connections,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // A connection that died silently must not hold what waits for it: the statement is tried again on another one.
    query_timeout: 10_000,
    options: "-c lock_timeout=2s -c idle_in_transaction_session_timeout=5s",
    application_name: "triplane",
  });
  // A connection that breaks while idle is replaced by the pool; the next statement meets what is wrong, if anything is.
  pool.on("error", () => {});
  const query = async <Row>({ name, text }: Statement, values: readonly unknown[]): Promise<Row[]> =>
    (await pool.query({ name, text, values: [...values] })).rows as Row[];
  return { pool, sql: watched(query, new OutageWatch(() => probe(config.url))) };
}

/** Asks by a connection of its own, since those of the pool may all be at work. Rejects where the database does not answer. */
async function probe(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
  } finally {
    await client.end();
  }
}
