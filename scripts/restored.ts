import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { connectedServers, type ConnectedServer } from "../src/db/connected-servers.ts";
import { openDatabase } from "../src/db/database.ts";
import type { Statement } from "../src/db/sql.ts";
import { POSITION } from "../src/events/log-statements.ts";
import { readEnvironment } from "../src/config/environment.ts";
import { command } from "./command.ts";

/** A server may have said how far a delivery is when commits that it delivered were lost already: new ones come to stand there. */
const RESTORE: Statement<{ tenant: string; epoch: string }, [id: string]> = {
  name: "restored",
  text: `WITH log AS MATERIALIZED (SELECT l.tenant, ${POSITION} AS position FROM tenant_log l),
      beyond AS (UPDATE consumer c SET position = log.position FROM log WHERE c.tenant = log.tenant AND c.position > log.position)
    UPDATE tenant_log SET epoch = left(md5(epoch || $1), 8), lost_at = NULL RETURNING tenant, epoch`,
};

/**
 * `npm run restored`: gives every log a new epoch, after a backup was restored or commits were lost in a failover, so that
 * cursors of before are refused, takes the mark of lost commits away, and sets back what deliveries remember beyond the end
 * of their log. Refuses while a server is connected; `--force`
 * does it all the same, if PostgreSQL still has connections of servers that have gone. Ends with 1 where the database has no
 * log.
 */
await command(async () => {
  const { database: config } = readEnvironment(process.env);
  const place = config.kind === "embedded" ? `the embedded database in ${config.folder}` : "the PostgreSQL of DATABASE_URL";
  // Opening it would make an empty one.
  if (config.kind === "embedded" && !existsSync(join(config.folder, "pglite"))) return nothingDone(place);
  const database = await openDatabase(config);
  try {
    const query = <Row>(text: string): Promise<Row[]> => database.sql.query<Row>({ name: "connected_servers", text }, []);
    const servers = config.kind === "embedded" ? [] : (await connectedServers({ query })).filter(isServer);
    if (servers.length > 0 && !process.argv.includes("--force")) {
      console.error(
        `${place}: servers are connected (${servers.map(({ name, address }) => `${name} from ${address}`).join("; ")}), and nothing was done: stop them first, or give --force if they have gone, and only their connections are left`,
      );
      process.exitCode = 1;
      return;
    }
    const logs = await database.sql.query(RESTORE, [randomUUID()]);
    for (const { tenant, epoch } of logs) console.log(`the log of tenant ${tenant} begins epoch ${epoch}`);
    if (logs.length > 0)
      console.log(`${place}: ${logs.length} logs, of which cursors of before are refused with CURSOR_RESTORED`);
    else nothingDone(place);
  } finally {
    await database.close();
  }
});

function nothingDone(place: string): void {
  console.error(`${place} has no log, and nothing was done: is it the one that was restored?`);
  process.exitCode = 1;
}

/** Commands have connections for commits, too. */
function isServer({ name }: ConnectedServer): boolean {
  return / (bell|leases)$/.test(name);
}
