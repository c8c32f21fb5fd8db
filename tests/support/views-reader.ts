import pg from "pg";
import { onTestFinished } from "vitest";
import { ownerOf, type OperatorConnection } from "../../src/db/bi/install.ts";
import { grantReader, revokeReader } from "../../src/db/bi/readers.ts";
import { administer, administrator } from "./database.ts";

let readers = 0;

/** A connection of a reader of the SQL views of a tenant. It ends with the test. */
export async function viewsReader(url: string, tenant: string, readsContent = false): Promise<pg.Client> {
  const client = await administrator(url);
  const connection: OperatorConnection = {
    script: async (text) => void (await client.query(text)),
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows,
  };
  readers += 1;
  const role = `views_reader_${process.pid}_${readers}`;
  const place = new URL(url);
  [place.username, place.password] = [role, await grantReader(connection, { role, tenant, readsContent })];
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
  return reader;
}
