import type { Sql, Statement } from "../db/sql.ts";

/** How long things are kept, in ms; null for ever. */
export type RetentionPolicy = {
  /** Events: what is older is removed, and its cursors expire. */
  readonly eventsMs: number | null;
  /** Deltas of texts that are complete: what is older is left to the text of its TEXT_CHUNK_END. */
  readonly deltasMs: number | null;
  /** Whole outputs of which models read a part: files of this server. */
  readonly outputsMs: number | null;
};

/** What is removed of one tenant's log, or would be. */
export type Removal = {
  readonly tenant: string;
  /** Where the log begins now, and after it. */
  readonly floor: number;
  readonly newFloor: number;
  readonly events: number;
  readonly deltas: number;
};

/** Positions that are looked at, or removed, at once. */
const CHUNK = 5_000;

const LOGS: Statement = {
  name: "retention_logs",
  text: "SELECT tenant, floor::float8 AS floor, compacted::float8 AS compacted, position::float8 AS position FROM tenant_log ORDER BY tenant",
};
/** The next positions, and whether all of them are older. */
const NEXT: Statement = {
  name: "retention_next",
  text: `SELECT max(position)::float8 AS last, count(*)::int AS events, max(at) < $3 AS "isOld"
    FROM (SELECT position, at FROM event WHERE tenant = $1 AND position > $2 ORDER BY position LIMIT ${CHUNK}) e`,
};
const MOVE_FLOOR: Statement = {
  name: "retention_floor",
  text: "UPDATE tenant_log SET floor = greatest(floor, $2), compacted = greatest(compacted, $2) WHERE tenant = $1",
};
/** What asks for an approval that is still open is read by its readers, and goes when it is closed. */
const REMOVE: Statement = {
  name: "retention_remove",
  text: `WITH old AS (
      SELECT e.position FROM event e JOIN tenant_log l ON l.tenant = e.tenant WHERE e.tenant = $1 AND e.position <= l.floor
        AND NOT (e.kind = 'PERMISSION_REQUIRED' AND EXISTS (SELECT FROM approval p WHERE p.id = e.payload #>> '{request,approvalId}' AND p.state = 'PENDING'))
      ORDER BY e.position LIMIT ${CHUNK}
    ) DELETE FROM event e USING old WHERE e.tenant = $1 AND e.position = old.position RETURNING 1`,
};
/** Deltas after $2, up to $3, whose block has an end that says its whole text. */
const COVERED = `FROM event d WHERE d.tenant = $1 AND d.position > $2 AND d.position <= $3 AND d.kind IN ('TEXT_CHUNK', 'THINK_CHUNK')
    AND EXISTS (SELECT FROM event e WHERE e.agent_id = d.agent_id AND e.position > d.position AND e.kind = d.kind || '_END'
      AND e.payload ->> 'text' IS NOT NULL AND e.payload ->> 'step' = d.payload ->> 'step' AND e.payload ->> 'block' = d.payload ->> 'block')`;
const COUNT_COVERED: Statement = { name: "retention_count_deltas", text: `SELECT count(*)::int AS deltas ${COVERED}` };
const COMPACT: Statement = {
  name: "retention_compact",
  text: `WITH covered AS (SELECT d.position ${COVERED}) DELETE FROM event e USING covered WHERE e.tenant = $1 AND e.position = covered.position RETURNING 1`,
};
const MOVE_COMPACTED: Statement = {
  name: "retention_compacted",
  text: "UPDATE tenant_log SET compacted = greatest(compacted, $2) WHERE tenant = $1",
};

type Log = { readonly tenant: string; readonly floor: number; readonly compacted: number; readonly position: number };
type Next = { readonly last: number | null; readonly events: number; readonly isOld: boolean | null };

/** What the policy would remove now. Changes nothing. */
export async function planRetention(sql: Sql, policy: RetentionPolicy, now: Date): Promise<readonly Removal[]> {
  const removals: Removal[] = [];
  for (const log of await sql.query<Log>(LOGS, [])) {
    const { end: newFloor, events } = await oldUpTo(sql, log.tenant, log.floor, cutoff(policy.eventsMs, now));
    let deltas = 0;
    const from = Math.max(newFloor, log.compacted);
    for await (const [after, last] of oldChunks(sql, log.tenant, from, cutoff(policy.deltasMs, now))) {
      const [row] = await sql.query<{ deltas: number }>(COUNT_COVERED, [log.tenant, after, last]);
      deltas += row?.deltas ?? 0;
    }
    removals.push({ tenant: log.tenant, floor: log.floor, newFloor, events, deltas });
  }
  return removals;
}

/**
 * Removes what the policy does not keep. The floor moves first, so that no reader meets a hole unawares; rows are removed
 * afterwards, a chunk a statement, and what is left of an earlier time goes along. May run on several nodes at once.
 */
export async function applyRetention(sql: Sql, policy: RetentionPolicy, now: Date): Promise<readonly Removal[]> {
  const removals: Removal[] = [];
  for (const log of await sql.query<Log>(LOGS, [])) {
    const { end: newFloor } = await oldUpTo(sql, log.tenant, log.floor, cutoff(policy.eventsMs, now));
    if (newFloor > log.floor) await sql.query(MOVE_FLOOR, [log.tenant, newFloor]);
    const events = newFloor === 0 ? 0 : await removeBelowFloor(sql, log.tenant);
    let deltas = 0;
    for await (const [after, last] of oldChunks(
      sql,
      log.tenant,
      Math.max(newFloor, log.compacted),
      cutoff(policy.deltasMs, now),
    )) {
      deltas += (await sql.query(COMPACT, [log.tenant, after, last])).length;
      await sql.query(MOVE_COMPACTED, [log.tenant, last]);
    }
    removals.push({ tenant: log.tenant, floor: log.floor, newFloor, events, deltas });
  }
  return removals;
}

async function removeBelowFloor(sql: Sql, tenant: string): Promise<number> {
  let events = 0;
  for (;;) {
    const removed = (await sql.query(REMOVE, [tenant])).length;
    events += removed;
    if (removed < CHUNK) return events;
  }
}

function cutoff(keptMs: number | null, now: Date): Date | null {
  return keptMs === null ? null : new Date(now.getTime() - keptMs);
}

/** Up to where everything is older, and how many events that are. */
async function oldUpTo(sql: Sql, tenant: string, floor: number, before: Date | null): Promise<{ end: number; events: number }> {
  let [end, events] = [floor, 0];
  for await (const [, last, count] of oldChunks(sql, tenant, floor, before)) [end, events] = [last, events + count];
  return { end, events };
}

/** The whole chunks of the log after a position in which everything is older: after which position, up to which, how many. */
async function* oldChunks(
  sql: Sql,
  tenant: string,
  from: number,
  before: Date | null,
): AsyncGenerator<readonly [number, number, number]> {
  if (before === null) return;
  for (let after = from; ;) {
    const [next] = await sql.query<Next>(NEXT, [tenant, after, before]);
    if (next === undefined || next.last === null || next.isOld !== true) return;
    yield [after, next.last, next.events];
    after = next.last;
  }
}
