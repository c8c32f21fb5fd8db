import pg from "pg";
import { dropViews, type OperatorConnection } from "../src/db/bi/install.ts";
import { grantReader, revokeReader } from "../src/db/bi/readers.ts";
import { openDatabase } from "../src/db/database.ts";
import type { EventDraft } from "../src/events/event.ts";
import { EventLog } from "../src/events/log.ts";
import { insertAgent } from "../tests/support/log.ts";
import { median } from "../tests/support/median.ts";
import type { Figure } from "./figure.ts";

const CALLS = 300_000;
/** Ours and the baseline take turns, so many seconds each: together the reader scans for a minute. */
const ROUNDS = 10;
const TURN_SECONDS = 6;
const TENANT = "read";

const FILL = `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, requested_input, effective_input, output, is_error, verdict, stages, audit_trail, started_at, completed_at, duration_ms, created_at, updated_at)
  SELECT lpad(to_hex(n), 8, '0') || '-0000-7000-8000-000000000000', '${TENANT}', $1, 1, n, 0, 'p' || n, 'tool_' || n % 7, 'COMPLETED', 1, '{"n": 1}', '{"n": 1}', repeat('output ', 100), false, 'allow', '[]', '[]', t, t, n % 1000, t, t
  FROM generate_series(1, ${CALLS}) n, LATERAL (SELECT timestamptz '2026-01-01T00:00:00Z' + make_interval(secs => n) AS t) t`;
/** Reads all calls of the tenant, and sorts their durations. */
const SCAN = `SELECT name, date_trunc('day', created_at, 'Asia/Kathmandu') AS day, count(*), percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms)
  FROM bi.tool_call GROUP BY 1, 2 ORDER BY 1, 2`;

/** The 99th percentile of a durable append in ms, while a reader scans all calls without end, against it alone. */
export async function appendBesideReader(url: string): Promise<Figure> {
  const database = await openDatabase({ kind: "postgres", url, connections: 1 });
  const log = new EventLog(database.commits);
  const agent = await insertAgent(log, TENANT);
  const events: EventDraft[] = [
    { at: new Date(), body: { kind: "TEXT_CHUNK", step: 1, block: 0, delta: "a few words of text " } },
  ];
  const write = (): Promise<unknown> => log.append(TENANT, [{ ...agent, events }]);
  const operator = new pg.Client({ connectionString: url });
  await operator.connect();
  const connection: OperatorConnection = {
    script: async (text) => void (await operator.query(text)),
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await operator.query<Row & pg.QueryResultRow>(text, [...values])).rows,
  };
  await operator.query(FILL, [agent.agentId]);
  await operator.query("ANALYZE");
  const role = "bench_reader";
  const login = new URL(url);
  login.username = role;
  login.password = await grantReader(connection, { role, tenant: TENANT, readsContent: false });
  const reader = new pg.Client({ connectionString: login.href });
  await reader.connect();
  try {
    const [alone, beside]: [number[], number[]] = [[], []];
    let scans = 0;
    for (let round = -1; round < ROUNDS; round += 1) {
      const before = await p99(write);
      const ending = new AbortController();
      const scanning = (async () => {
        for (; !ending.signal.aborted; scans += 1) await reader.query(SCAN);
      })();
      const during = await p99(write);
      ending.abort();
      await scanning;
      if (round < 0) continue;
      alone.push(before);
      beside.push(during);
    }
    console.error(`append during scans: ${scans} scans of ${CALLS} calls`);
    const [value, baseline] = [median(beside), median(alone)];
    return { name: "append during scans", value, unit: "ms", baseline, ratio: value / baseline };
  } finally {
    await reader.end();
    await revokeReader(connection, role);
    await dropViews(connection);
    await operator.end();
    await database.close();
  }
}

async function p99(write: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (const started = performance.now(); performance.now() - started < TURN_SECONDS * 1_000;) {
    const began = performance.now();
    await write();
    times.push(performance.now() - began);
  }
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? NaN;
}
