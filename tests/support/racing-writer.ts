import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

/**
 * A process that writes events on several connections at once, with pauses inside its transactions and rollbacks. `log` appends by our function; `sequence` takes positions from a plain sequence, as a
 * counter-example.
 */
const [url = "", design = "log", transactions = "40", agents = ""] = process.argv.slice(2);
const CONNECTIONS = 6;
const agentIds = agents.split(",");

const APPEND =
  "SELECT 1 FROM append_events('race', $1, false, NULL, ARRAY[$2::text], ARRAY[NULL::int], ARRAY[1], ARRAY['PROGRESS'], ARRAY['TEXT_CHUNK'], ARRAY[$3::text], ARRAY[now()])";
const INSERT = "INSERT INTO naive_event (event_id, agent_id) VALUES ($1, $2)";

await Promise.all(Array.from({ length: CONNECTIONS }, () => write(Number(transactions))));

async function write(count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let made = 0; made < count; made += 1) {
    const agent = agentIds[Math.floor(Math.random() * agentIds.length)];
    await client.query("BEGIN");
    if (Math.random() < 0.5) await client.query("INSERT INTO scratch (note) VALUES ('before')");
    await delay(Math.random() * 4);
    if (design === "log") await client.query(APPEND, [randomUUID(), agent, JSON.stringify({ step: 1, block: 0, delta: "x" })]);
    else await client.query(INSERT, [randomUUID(), agent]);
    await delay(Math.random() * 4);
    await client.query(Math.random() < 0.05 ? "ROLLBACK" : "COMMIT");
  }
  await client.end();
}
