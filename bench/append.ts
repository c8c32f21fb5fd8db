import { randomUUIDv7 } from "node:crypto";
import pg from "pg";
import { openDatabase } from "../src/db/database.ts";
import type { EventDraft } from "../src/events/event.ts";
import { EventLog } from "../src/events/log.ts";
import { insertAgent } from "../tests/support/log.ts";
import type { Figure } from "./figure.ts";

/** Ours and the baseline take turns, so many seconds each: what else the machine does hits both alike. */
const TURN_SECONDS = 0.25;
const ROUNDS = 25;
/** Rounds before those that are counted, until V8 has compiled what runs once in a commit. */
const WARM_ROUNDS = 7;
/** Writes at the beginning of a turn that are not counted: they meet what the other has left in the caches. */
const WARM_WRITES = 5;

/** So long a snapshot is held, in s, and so much of it at its beginning and at its end is measured. */
const SNAPSHOT_SECONDS = 60;
const SLICE_SECONDS = 10;

/**
 * Durable events a second, one by one, in the last seconds of a transaction that holds a snapshot, against the first seconds:
 * beside a dump PostgreSQL removes no row version that was overwritten, and a write must not have to pass all of them.
 */
export async function appendBesideSnapshot(url: string): Promise<Figure> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const log = new EventLog(database.commits);
  const agent = await insertAgent(log, "snapshot");
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await holder.query("SELECT count(*) FROM event");
  const events: EventDraft[] = [
    { at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: "a few words of text " } },
  ];
  const write = (): Promise<unknown> => log.append("snapshot", [{ ...agent, events }]);
  const first = await rate(write, 1, SLICE_SECONDS);
  await rate(write, 1, SNAPSHOT_SECONDS - 2 * SLICE_SECONDS);
  const last = await rate(write, 1, SLICE_SECONDS);
  await holder.end();
  await database.close();
  return { name: "append beside a snapshot", value: last, unit: "events/s", baseline: first, ratio: last / first };
}

/** Durable events a second over one connection, against a raw `INSERT … unnest` of the same rows. */
export async function append(url: string): Promise<Figure[]> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const { sql } = database;
  const log = new EventLog(sql);
  const agent = await insertAgent(log, "bench");
  await sql.query({ name: "raw", text: "CREATE TABLE IF NOT EXISTS raw_event (LIKE event INCLUDING ALL)" }, []);
  const figures: Figure[] = [];
  let position = 0;
  for (const size of [1, 10, 100]) {
    const events = Array.from({ length: size }, (): EventDraft => ({
      at: new Date(),
      body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: "a few words of text " },
    }));
    const ours = (): Promise<unknown> => log.append("bench", [{ ...agent, events }]);
    const raw = (): Promise<unknown> => {
      const rows = events.map((event) => {
        const { kind, ...payload } = event.body;
        position += 1;
        return { position, kind, payload: JSON.stringify(payload), at: event.at.toISOString() };
      });
      // The rows are the same: the first of an append has its id.
      return sql.query(
        {
          name: "raw_insert",
          text: `INSERT INTO raw_event (tenant, position, agent_id, seq, append_id, channel, kind, payload, at)
            SELECT 'bench', p, $1, p, CASE WHEN n = 1 THEN $6::uuid END, 'PROGRESS', k, j::json, t FROM unnest($2::bigint[], $3::text[], $4::text[], $5::timestamptz[]) WITH ORDINALITY AS r(p, k, j, t, n)`,
        },
        [
          agent.agentId,
          rows.map((row) => row.position),
          rows.map((row) => row.kind),
          rows.map((row) => row.payload),
          rows.map((row) => row.at),
          randomUUIDv7(),
        ],
      );
    };
    const rates: { ours: number; raw: number }[] = [];
    for (let round = -WARM_ROUNDS; round < ROUNDS; round += 1) {
      const pair = { ours: await rate(ours, size, TURN_SECONDS), raw: await rate(raw, size, TURN_SECONDS) };
      if (round >= 0) rates.push(pair);
    }
    const middle = rates.toSorted((a, b) => a.ours / a.raw - b.ours / b.raw)[Math.floor(ROUNDS / 2)] ?? { ours: 0, raw: 0 };
    figures.push({
      name: `append, batches of ${size}`,
      value: middle.ours,
      unit: "events/s",
      baseline: middle.raw,
      ratio: middle.ours / middle.raw,
    });
  }
  await database.close();
  return figures;
}

async function rate(write: () => Promise<unknown>, size: number, seconds: number): Promise<number> {
  for (let warm = 0; warm < WARM_WRITES; warm += 1) await write();
  const started = performance.now();
  let events = 0;
  while (performance.now() - started < seconds * 1_000) {
    await write();
    events += size;
  }
  return (events / (performance.now() - started)) * 1_000;
}
