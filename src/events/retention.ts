import { DAY_MS } from "../lib/time.ts";
import { concerns } from "./cursor.ts";
import type { Sql, Statement } from "../db/sql.ts";

/** Retention times, in ms; null for ever. */
export type RetentionPolicy = {
  /** Older events are removed, and their cursors expire. */
  readonly eventsMs: number | null;
  /** Deltas of complete texts: older ones are removed, and TEXT_CHUNK_END has the text. */
  readonly deltasMs: number | null;
  /** Complete outputs that models read in part: files of this server. */
  readonly outputsMs: number | null;
  /** Contents of ended tool calls, of messages, and of closed approvals: older ones are erased, and their rows stay. */
  readonly toolCallsMs: number | null;
  readonly messagesMs: number | null;
  readonly approvalsMs: number | null;
};

export type Removal = {
  readonly tenant: string;
  readonly floor: number;
  readonly newFloor: number;
  readonly events: number;
  readonly deltas: number;
};

const CHUNK = 5_000;
/** The longest time, in ms, for which old events stay because texts overlap: after it the log is cut within a text. */
const OVERLAP_MS = DAY_MS;
const DELTAS: ReadonlySet<string> = new Set(["TEXT_CHUNK", "THINK_CHUNK"]);

const LOGS: Statement<Log, []> = {
  name: "retention_logs",
  text: "SELECT tenant, floor::float8 AS floor, compacted::float8 AS compacted FROM tenant_log ORDER BY tenant",
};
/**
 * The next positions. `end` is the last. `last` is the one up to which all are old; null if there is none. `isWhole`:
 * none is young. An event with a time in the future, from a wrong clock, counts as neither: it goes with the events
 * after it.
 */
const NEXT: Statement<Next, [tenant: string, after: number, keptMs: number]> = {
  name: "retention_next",
  text: `WITH next AS (SELECT position, at FROM event WHERE tenant = $1 AND position > $2 ORDER BY position LIMIT ${CHUNK}),
      kept AS (SELECT policy_time() - make_interval(secs => $3::float8 / 1000) AS since),
      young AS (SELECT min(position) AS first FROM next, kept WHERE at >= kept.since AND at < policy_time() + interval '1 hour')
    SELECT (SELECT max(position) FROM next)::float8 AS end, max(n.position)::float8 AS last, (SELECT first IS NULL FROM young) AS "isWhole"
    FROM next n, kept WHERE n.at < kept.since AND n.position < coalesce((SELECT first FROM young), n.position + 1)`,
};
/** The first event up to $3 that a consumer wants and has not been delivered yet. */
const UNDELIVERED: Statement<{ position: number }, [tenant: string, consumer: string, end: number, kinds: readonly string[]]> = {
  name: "retention_undelivered",
  text: `SELECT e.position::float8 AS position FROM consumer c JOIN event e ON e.tenant = c.tenant AND e.position > c.position
    WHERE c.tenant = $1 AND c.name = $2 AND e.position <= $3 AND e.kind = ANY ($4) ORDER BY e.position LIMIT 1`,
};
/**
 * The first position of the first block that begins after $2, up to $3. Its end lies after $4, and its text is only in
 * its deltas.
 */
const SPLIT_BLOCK: Statement<{ position: number | null }, [tenant: string, after: number, last: number, end: number]> = {
  name: "retention_split_block",
  text: `SELECT min(s.position)::float8 AS position FROM event s, LATERAL (SELECT e.position, e.payload ->> 'text' AS text FROM event e
      WHERE e.agent_id = s.agent_id AND e.position > s.position AND e.kind = replace(s.kind, '_START', '_END')
        AND e.payload ->> 'step' = s.payload ->> 'step' AND e.payload ->> 'block' = s.payload ->> 'block' ORDER BY e.position LIMIT 1) e
    WHERE s.tenant = $1 AND s.position > $2 AND s.position <= $3 AND s.kind IN ('TEXT_CHUNK_START', 'THINK_CHUNK_START')
      AND e.position > $4 AND e.text IS NULL`,
};
const MOVE_FLOOR: Statement<object, [tenant: string, floor: number]> = {
  name: "retention_floor",
  text: "UPDATE tenant_log SET floor = greatest(floor, $2), compacted = greatest(compacted, $2) WHERE tenant = $1",
};
/** The next events after $2 up to $3 to be removed. Requests for open approvals stay until they are closed. */
const OLD = `SELECT e.position FROM event e WHERE e.tenant = $1 AND e.position > $2 AND e.position <= $3
    AND NOT (e.kind = 'PERMISSION_REQUIRED' AND EXISTS (SELECT FROM approval p WHERE p.id = e.payload #>> '{request,approvalId}' AND p.state = 'PENDING'))
  ORDER BY e.position LIMIT ${CHUNK}`;
const COUNT: Statement<{ events: number; last: number | null }, [tenant: string, after: number, floor: number]> = {
  name: "retention_count",
  text: `SELECT count(*)::int AS events, max(position)::float8 AS last FROM (${OLD}) old`,
};
/** An agent without remaining events keeps the seq of its last one; so does the tenant itself. */
const REMOVE: Statement<{ events: number; last: number | null }, [tenant: string, after: number, floor: number]> = {
  name: "retention_remove",
  text: `WITH old AS (${OLD}), gone AS (DELETE FROM event e USING old WHERE e.tenant = $1 AND e.position = old.position RETURNING e.agent_id, e.seq, e.position),
      newest AS (SELECT agent_id, max(seq) AS seq, max(position) AS position FROM gone GROUP BY agent_id),
      emptied AS (SELECT a.id, n.seq FROM (SELECT * FROM newest ORDER BY agent_id) n CROSS JOIN LATERAL (
        SELECT a.id FROM agent a WHERE a.id = n.agent_id AND a.seq < n.seq
          AND NOT EXISTS (SELECT FROM event e WHERE e.agent_id = n.agent_id AND e.position > n.position) FOR NO KEY UPDATE) a),
      kept AS (UPDATE agent a SET seq = emptied.seq FROM emptied WHERE a.id = emptied.id AND a.id = ANY (ARRAY(SELECT id FROM emptied))),
      of_tenant AS (UPDATE tenant_log l SET seq = n.seq FROM newest n WHERE l.tenant = $1 AND n.agent_id IS NULL AND l.seq < n.seq)
    SELECT count(*)::int AS events, max(position)::float8 AS last FROM old`,
};
/** The deltas of blocks whose end lies after $2, up to $3, and has the whole text. */
const COVERED = `FROM (SELECT e.* FROM event e WHERE e.tenant = $1 AND e.position > $2 AND e.position <= $3
      AND e.kind IN ('TEXT_CHUNK_END', 'THINK_CHUNK_END') AND e.payload ->> 'text' IS NOT NULL) e,
    LATERAL (SELECT coalesce((SELECT s.position FROM event s WHERE s.agent_id = e.agent_id AND s.position < e.position AND s.kind = replace(e.kind, '_END', '_START')
      AND s.payload ->> 'step' = e.payload ->> 'step' AND s.payload ->> 'block' = e.payload ->> 'block' ORDER BY s.position DESC LIMIT 1), 0) AS position) b,
    LATERAL (SELECT d.position FROM event d WHERE d.agent_id = e.agent_id AND d.position > b.position AND d.position < e.position
      AND d.kind = replace(e.kind, '_END', '') AND d.payload ->> 'step' = e.payload ->> 'step' AND d.payload ->> 'block' = e.payload ->> 'block') d`;
const COUNT_COVERED: Statement<{ deltas: number }, [tenant: string, after: number, last: number]> = {
  name: "retention_count_deltas",
  text: `SELECT count(*)::int AS deltas ${COVERED}`,
};
/** One statement, so that a missing delta is not mistaken for one that a failover lost (NewestEvents). */
const COMPACT: Statement<object, [tenant: string, after: number, last: number]> = {
  name: "retention_compact",
  text: `WITH covered AS (SELECT d.position ${COVERED}), moved AS (UPDATE tenant_log SET compacted = greatest(compacted, $3) WHERE tenant = $1)
    DELETE FROM event e USING covered WHERE e.tenant = $1 AND e.position = covered.position RETURNING 1`,
};

type Log = { readonly tenant: string; readonly floor: number; readonly compacted: number };
type Next = { readonly end: number | null; readonly last: number | null; readonly isWhole: boolean };

/** A consumer whose events stay until they are delivered: its name and its kinds. */
export type KnownConsumer = { readonly name: string; readonly kinds: readonly string[]; readonly tenant: string | null };

/** The policy, and the consumers whose events stay until they are delivered. The time is the database's. */
export type RetentionRun = { readonly policy: RetentionPolicy; readonly consumers: readonly KnownConsumer[] };

export async function planRetention(sql: Sql, run: RetentionRun): Promise<readonly Removal[]> {
  const removals: Removal[] = [];
  for (const log of await sql.query(LOGS, [])) {
    const newFloor = await floorOf(sql, log, run);
    const events = await eachOld(sql, COUNT, log.tenant, newFloor, NEVER);
    let deltas = 0;
    for await (const [after, last] of deltaChunks(sql, log, newFloor, run)) {
      const [row] = await sql.query(COUNT_COVERED, [log.tenant, after, last]);
      deltas += row?.deltas ?? 0;
    }
    removals.push({ tenant: log.tenant, floor: log.floor, newFloor, events, deltas });
  }
  return removals;
}

/**
 * Applies the policy. The floor moves first, so that no reader meets a hole unawares; rows are removed afterwards in
 * chunks, including those of interrupted runs. May run on several servers concurrently. Ends after the current
 * statement when `signal` aborts. A tenant's failure does not stop the others: the last error is thrown at the end.
 */
export async function applyRetention(sql: Sql, run: RetentionRun, signal: AbortSignal): Promise<readonly Removal[]> {
  const removals: Removal[] = [];
  let problem: unknown = null;
  for (const log of await sql.query(LOGS, [])) {
    if (signal.aborted) break;
    try {
      removals.push(await applyToLog(sql, log, run, signal));
    } catch (error) {
      problem = error;
    }
  }
  if (problem !== null) throw problem;
  return removals;
}

async function applyToLog(sql: Sql, log: Log, run: RetentionRun, signal: AbortSignal): Promise<Removal> {
  const newFloor = await floorOf(sql, log, run);
  if (newFloor > log.floor) await sql.query(MOVE_FLOOR, [log.tenant, newFloor]);
  const events = await eachOld(sql, REMOVE, log.tenant, newFloor, signal);
  let deltas = 0;
  for await (const [after, last] of deltaChunks(sql, log, newFloor, run)) {
    if (signal.aborted) break;
    deltas += (await sql.query(COMPACT, [log.tenant, after, last])).length;
  }
  return { tenant: log.tenant, floor: log.floor, newFloor, events, deltas };
}

async function eachOld(sql: Sql, statement: typeof COUNT, tenant: string, floor: number, signal: AbortSignal): Promise<number> {
  let events = 0;
  for (let after = 0; ;) {
    const [chunk] = await sql.query(statement, [tenant, after, floor]);
    events += chunk?.events ?? 0;
    if (chunk === undefined || chunk.last === null || signal.aborted) return events;
    after = chunk.last;
  }
}

const NEVER = new AbortController().signal;

/** The new floor: events before it are old, delivered, and no part of a text that is read from its deltas. */
async function floorOf(sql: Sql, { tenant, floor }: Log, { policy, consumers }: RetentionRun): Promise<number> {
  if (policy.eventsMs === null) return floor;
  const chunks = await collected(oldChunks(sql, tenant, floor, policy.eventsMs));
  const old = chunks.at(-1)?.[1] ?? floor;
  if (old === floor) return floor;
  const end = await deliveredUpTo(sql, tenant, old, consumers);
  const between = await betweenTexts(sql, tenant, chunks, end);
  if (between > floor) return between;
  const overdue = await collected(oldChunks(sql, tenant, floor, policy.eventsMs + OVERLAP_MS));
  return Math.max(floor, Math.min(end, overdue.at(-1)?.[1] ?? floor));
}

/**
 * The last position of the chunks, up to `end`, outside of every text that is read from its deltas. A text that would
 * be split moves it before the text's beginning, where it may split another one.
 */
async function betweenTexts(sql: Sql, tenant: string, chunks: readonly Chunk[], end: number): Promise<number> {
  let cut = end;
  for (const [after, last] of chunks.toReversed()) {
    let split: number | null = cut;
    while (split !== null && after < cut) {
      const [row] = await sql.query(SPLIT_BLOCK, [tenant, after, Math.min(last, cut), cut]);
      split = row?.position ?? null;
      if (split !== null) cut = split - 1;
    }
  }
  return cut;
}

async function* deltaChunks(sql: Sql, { tenant, compacted }: Log, newFloor: number, run: RetentionRun): Chunks {
  const from = Math.max(newFloor, compacted);
  for await (const [after, last] of oldChunks(sql, tenant, from, run.policy.deltasMs)) {
    const delivered = await deliveredUpTo(sql, tenant, last, deltasOnly(run.consumers));
    if (delivered > after) yield [after, delivered];
    if (delivered < last) return;
  }
}

function deltasOnly(consumers: RetentionRun["consumers"]): RetentionRun["consumers"] {
  return consumers.map((consumer) => ({ ...consumer, kinds: consumer.kinds.filter((kind) => DELTAS.has(kind)) }));
}

/** The last position up to `end` before the first event that a consumer wants and has not got. */
export async function deliveredUpTo(
  sql: Sql,
  tenant: string,
  end: number,
  consumers: RetentionRun["consumers"],
): Promise<number> {
  let delivered = end;
  for (const { name, kinds } of consumers.filter((consumer) => consumer.kinds.length > 0 && concerns(consumer, tenant))) {
    const [first] = await sql.query(UNDELIVERED, [tenant, name, delivered, kinds]);
    if (first !== undefined) delivered = Math.min(delivered, first.position - 1);
  }
  return delivered;
}

type Chunk = readonly [after: number, last: number];
type Chunks = AsyncGenerator<Chunk>;

async function collected(chunks: Chunks): Promise<readonly Chunk[]> {
  const all: Chunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

/** The chunks of the log after a position in which everything is older than the retention time; none for null. */
async function* oldChunks(sql: Sql, tenant: string, from: number, keptMs: number | null): Chunks {
  if (keptMs === null) return;
  let after = from;
  for (let looked = from; ;) {
    const [next] = await sql.query(NEXT, [tenant, looked, keptMs]);
    if (next === undefined || next.end === null) return;
    if (next.last !== null) {
      for (; next.last - after > CHUNK; after += CHUNK) yield [after, after + CHUNK];
      yield [after, next.last];
      after = next.last;
    }
    if (!next.isWhole) return;
    // If all times lie in the future, the events after them decide.
    looked = next.last ?? next.end;
  }
}
