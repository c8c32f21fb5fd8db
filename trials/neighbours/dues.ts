import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { createAgent, send, type TrialAgent } from "../agents.ts";

/** The waits of the other tenant that are due at once. */
const WAITS = 10_000;
/** The time from the begin until they are due, and until a stranger locks the rows of some, in ms. */
const DUE_MS = 2_000;
const LOCKED_MS = 5_000;
/** The time between two looks, and between two agents whose calls wait, in ms. */
const LOOK_MS = 20;
const AGENT_MS = 6_000;

/**
 * 10,000 delegations of a tenant end at once, and a stranger locks rows of theirs. Meanwhile agents of the tenant `local`
 * call a tool whose results do not come in time. Returns the ms from the time of such a call to the commit of its end, of
 * the latest, by the clock of the database.
 */
export async function floodDues(database: string, url: string, signal: AbortSignal): Promise<number> {
  const clients = [new pg.Client({ connectionString: database }), new pg.Client({ connectionString: database })] as const;
  const [client, stranger] = clients;
  for (const each of clients) {
    each.on("error", () => {});
    await each.connect();
  }
  await insertWaits(client);
  const agents: TrialAgent[] = [];
  const endedAt = new Map<string, number>();
  const began = performance.now();
  let isLocked = false;
  while (!signal.aborted) {
    const elapsedMs = performance.now() - began;
    if (elapsedMs >= agents.length * AGENT_MS) {
      const agent = await createAgent(url);
      agents.push(agent);
      await send(url, agent, "wait");
    }
    if (!isLocked && elapsedMs > LOCKED_MS) {
      isLocked = true;
      await lockWaits(stranger);
    }
    await noteEnds(client, agents, endedAt);
    await delay(LOOK_MS);
  }
  const lateMs = await latest(client, agents, endedAt);
  if (isLocked) await stranger.query("COMMIT");
  await client.query("DELETE FROM wait WHERE tenant = 'many'");
  await client.query("DELETE FROM delegation WHERE tenant = 'many'");
  for (const each of clients) await each.end();
  return lateMs;
}

async function insertWaits(client: pg.Client): Promise<void> {
  const due = `policy_time() + interval '${DUE_MS} ms'`;
  await client.query(
    `INSERT INTO delegation (id, tenant, from_id, from_kind, to_id, to_kind, starts_at, ends_at, created_at)
     SELECT 'many-' || lpad(n::text, 5, '0'), 'many', 'one', 'USER', 'other', 'USER', policy_time(), ${due}, policy_time() FROM generate_series(1, $1::int) n`,
    [WAITS],
  );
  await client.query(
    "INSERT INTO wait (id, tenant, kind, ref, due) SELECT id, tenant, 'DELEGATION', id, ends_at FROM delegation WHERE tenant = 'many'",
  );
}

/** A stranger locks waits, which cannot be claimed then, and delegations of other waits, which cannot be ended. */
async function lockWaits(stranger: pg.Client): Promise<void> {
  await stranger.query("BEGIN");
  await stranger.query(
    "SELECT FROM wait WHERE tenant = 'many' AND settled_at IS NULL ORDER BY id DESC LIMIT 1000 FOR UPDATE SKIP LOCKED",
  );
  await stranger.query(
    "SELECT FROM delegation WHERE tenant = 'many' AND ended_at IS NULL ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED",
  );
}

/** Notes the first time, in ms since 1970, at which the end of each call is seen. */
async function noteEnds(client: pg.Client, agents: readonly TrialAgent[], endedAt: Map<string, number>): Promise<void> {
  const { rows } = await client.query<{ id: string; now: number }>(
    "SELECT id, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now FROM tool_call WHERE agent_id = ANY ($1) AND state = 'FAILED'",
    [agents.map(({ row }) => row)],
  );
  for (const { id, now } of rows) if (!endedAt.has(id)) endedAt.set(id, now);
}

/** The ms by which the latest call ended after its time; one that has not ended is as late as it is. */
async function latest(client: pg.Client, agents: readonly TrialAgent[], endedAt: ReadonlyMap<string, number>): Promise<number> {
  const { rows } = await client.query<{ id: string; due: string; now: number }>(
    `SELECT payload #>> '{call,callId}' AS id, payload ->> 'dueAt' AS due, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
     FROM event WHERE agent_id = ANY ($1) AND kind = 'TOOL_WAITING'`,
    [agents.map(({ row }) => row)],
  );
  const lateMs = rows.map(({ id, due, now }) => (endedAt.get(id) ?? now) - Date.parse(due));
  if (endedAt.size === 0 && lateMs.every((late) => late < 0)) throw new Error("no call of the trial has waited until its time");
  return Math.max(...lateMs);
}
