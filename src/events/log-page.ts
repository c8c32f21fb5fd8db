import type { Sql, Statement } from "../db/sql.ts";
import { decodeKnownEvent, type EventRow } from "./codec.ts";
import { type LogHead, inScope, type Scope } from "./cursor.ts";
import type { TimelineEvent } from "./event.ts";

/** A failover lost commits of a tenant's log. It is neither read nor written before an operator confirms it. */
export class CommitsLost extends Error {
  override readonly name = "CommitsLost";
  constructor(tenant: string) {
    super(`the log of tenant ${tenant} lost commits in a failover: stop all servers, and run \`npm run restored\``);
  }
}

export type LogPage = {
  readonly head: LogHead;
  readonly events: readonly TimelineEvent[];
  /** All events of the scope up to this position are in `events` or precede them. */
  readonly covered: number;
  readonly outage: StorageOutage | null;
};

/** An outage of the database: its start, and how many events of this server wait to be committed. */
export type StorageOutage = { readonly since: Date; readonly bufferedEvents: number };

/** A page as it was read; `leftOut` counts rows with kinds of newer versions. */
export type FoundPage = Omit<LogPage, "outage"> & { readonly leftOut: number };

type HeadRow = { log_id: string; epoch: string; lost_at: Date | null; floor: string | number };
type PageRow = Partial<EventRow> & HeadRow & { head: string | number; found?: string | number };

const PAGE = { rows: 500, positions: 5_000, bytes: 256 * 1024 };

const COLUMNS = "e.agent_id, e.position, e.seq, e.at, e.channel, e.kind, e.payload";
/**
 * The last position of the log of a row `l` of tenant_log: that of its newest event, at least its floor.
 * `append_events` gives positions by the same rule.
 */
export const POSITION = "greatest(l.floor, (SELECT max(h.position) FROM event h WHERE h.tenant = l.tenant))";
const LOG = `SELECT l.tenant, coalesce(l.log_id, l.tenant) AS log_id, l.epoch, l.lost_at, l.floor, ${POSITION} AS position FROM tenant_log l WHERE l.tenant = $1`;
/** Of a materialized `log`: otherwise the position would be computed for every row of the page. */
const HEAD = "log.position AS head, log.log_id, log.epoch, log.lost_at, log.floor";
const BEFORE = (size: string, direction: Direction): string => `sum(${size}) OVER (ORDER BY r.position ${direction}) - ${size}`;
/**
 * The first rows, or the last for `DESC`, up to the page's bytes, each with the number of rows. Stored sizes are known
 * without reading payloads. Only payloads that may fit are read, and then counted as text.
 */
const BOUNDED = (rows: string, direction: Direction): string =>
  `SELECT * FROM (SELECT r.*, ${BEFORE("octet_length(r.payload)", direction)} AS before
    FROM (SELECT r.agent_id, r.position, r.seq, r.at, r.channel, r.kind, r.found, r.payload::text AS payload
      FROM (SELECT r.*, count(*) OVER () AS found, ${BEFORE("pg_column_size(r.payload)", direction)} AS stored FROM (${rows}) r) r
      WHERE r.stored < ${PAGE.bytes}) r) r WHERE r.before < ${PAGE.bytes}`;
type Direction = "ASC" | "DESC";
type TenantValues = [
  tenant: string,
  after: number,
  channels: readonly string[],
  kinds: readonly string[] | null,
  createdBy: string | null,
  agentIds: readonly string[] | null,
];
const PAGE_OF = (rows: string, direction: Direction): string =>
  `WITH log AS MATERIALIZED (${LOG}) SELECT ${HEAD}, e.*, a.created_by
    FROM log LEFT JOIN LATERAL (${BOUNDED(rows, direction)}) e ON true
    LEFT JOIN agent a ON a.id = e.agent_id ORDER BY e.position`;
/** Events of approvals are few, and have their own index for readers of nothing else. */
const CONTROL_ALONE = "AND e.channel = 'CONTROL'";
const OF_TENANT = (places: string, direction: Direction, alone: typeof CONTROL_ALONE | "" = ""): string =>
  PAGE_OF(
    `SELECT ${COLUMNS} FROM event e WHERE e.tenant = $1 AND ${places} ${alone}
        AND e.channel = ANY ($3) AND ($4::text[] IS NULL OR e.kind = ANY ($4))
        AND ($5::text IS NULL OR e.agent_id IN (SELECT id FROM agent WHERE tenant = $1 AND created_by = $5))
        AND ($6::text[] IS NULL OR e.agent_id = ANY ($6))
      ORDER BY e.position ${direction} LIMIT ${PAGE.rows}`,
    direction,
  );
/** The agent's rows are limited first and filtered afterwards, so that a read is bounded for every filter. */
const OF_AGENT = (end: string, direction: Direction): string =>
  PAGE_OF(
    `SELECT ${COLUMNS} FROM event e
      WHERE e.agent_id = $2 AND e.tenant = $1 AND e.position > $3 AND e.position <= ${end} ORDER BY e.position ${direction} LIMIT ${PAGE.rows}`,
    direction,
  );
const NEXT_PLACES = `e.position > $2 AND e.position <= least(log.position, $2::bigint + ${PAGE.positions})`;
const PAST_PLACES = `e.position > greatest($2, $7::bigint - ${PAGE.positions}) AND e.position <= $7`;
const READ_TENANT: Statement<PageRow, TenantValues> = { name: "read_tenant", text: OF_TENANT(NEXT_PLACES, "ASC") };
const READ_CONTROL: Statement<PageRow, TenantValues> = {
  name: "read_control",
  text: OF_TENANT(NEXT_PLACES, "ASC", CONTROL_ALONE),
};
const READ_TENANT_PAST: Statement<PageRow, [...TenantValues, upTo: number]> = {
  name: "read_tenant_past",
  text: OF_TENANT(PAST_PLACES, "DESC"),
};
const READ_CONTROL_PAST: Statement<PageRow, [...TenantValues, upTo: number]> = {
  name: "read_control_past",
  text: OF_TENANT(PAST_PLACES, "DESC", CONTROL_ALONE),
};
const READ_AGENT: Statement<PageRow, [tenant: string, agentId: string, after: number]> = {
  name: "read_agent",
  text: OF_AGENT("log.position", "ASC"),
};
const READ_AGENT_PAST: Statement<PageRow, [tenant: string, agentId: string, after: number, upTo: number]> = {
  name: "read_agent_past",
  text: OF_AGENT("$4", "DESC"),
};
/** The rows of a page of open requests: each may be as large as an event. */
const OPEN_ROWS = 20;
/** The next PERMISSION_REQUIRED events of open approvals, up to a moment, and the head, in one snapshot. */
const READ_OPEN: Statement<
  PageRow,
  [tenant: string, agentIds: readonly string[] | null, createdBy: string | null, after: number, moment: number | null]
> = {
  name: "read_open",
  text: `WITH log AS MATERIALIZED (${LOG}) SELECT ${HEAD}, e.*
    FROM log LEFT JOIN LATERAL (SELECT ${COLUMNS}::text AS payload, a.created_by FROM approval p JOIN agent a ON a.id = p.agent_id
      JOIN event e ON e.kind = 'PERMISSION_REQUIRED' AND e.payload #>> '{request,approvalId}' = p.id
      WHERE p.tenant = $1 AND p.state = 'PENDING' AND ($2::text[] IS NULL OR p.agent_id = ANY ($2)) AND ($3::text IS NULL OR a.created_by = $3)
        AND e.position > $4 AND ($5::bigint IS NULL OR e.position <= $5)
      ORDER BY e.position LIMIT ${OPEN_ROWS}) e ON true ORDER BY e.position`,
};
const READ_HEAD: Statement<PageRow, [tenant: string]> = {
  name: "read_head",
  text: `WITH log AS MATERIALIZED (${LOG}) SELECT ${HEAD} FROM log`,
};
/**
 * The position before the first event at or after a time, found by bisection: events up to `low` are earlier, events
 * after `high` are not. A position without an event (removed by retention) is passed to the next one.
 */
const READ_PLACE_AT: Statement<PageRow & { place: string | number }, [tenant: string, time: Date]> = {
  name: "read_place_at",
  text: `WITH RECURSIVE log AS MATERIALIZED (${LOG}), search(low, high) AS (
      SELECT floor::bigint, position::bigint FROM log
      UNION ALL
      SELECT CASE WHEN e.at < $2 THEN e.position ELSE s.low END, CASE WHEN e.at < $2 THEN s.high ELSE (s.low + s.high) / 2 END
      FROM search s LEFT JOIN LATERAL (SELECT e.position, e.at FROM event e
        WHERE e.tenant = $1 AND e.position > (s.low + s.high) / 2 AND e.position <= s.high ORDER BY e.position LIMIT 1) e ON true
      WHERE s.low < s.high
    ) SELECT ${HEAD}, s.low AS place FROM log, search s WHERE s.low = s.high`,
};
const READ_HEADS: Statement<{ tenant: string; position: string }, [tenants: readonly string[]]> = {
  name: "read_heads",
  text: `SELECT l.tenant, ${POSITION} AS position FROM tenant_log l WHERE l.tenant = ANY ($1)`,
};

/**
 * The tenant's next events after `after`, or the agent's for a scope of one agent, filtered by channel and kind.
 * Bounded in rows, positions and bytes; one statement, one snapshot.
 */
export async function readPage(sql: Sql, scope: Scope, after: number): Promise<FoundPage> {
  const { tenant, agentIds, createdBy, channels, kinds } = scope;
  const [only] = agentIds ?? [];
  if (only !== undefined && agentIds?.length === 1)
    return foundPage(tenant, await sql.query(READ_AGENT, [tenant, only, after]), after, Infinity);
  const rows = await sql.query(isControlAlone(scope) ? READ_CONTROL : READ_TENANT, [
    tenant,
    after,
    channels,
    kinds,
    createdBy,
    agentIds,
  ]);
  return foundPage(scope.tenant, rows, after, PAGE.positions);
}

/** A part of the log read backwards: all events of the scope after `start` are in `events`. */
export type PastPage = { readonly head: LogHead; readonly events: readonly TimelineEvent[]; readonly start: number };

/** A read that finds few events of its scope continues for at most this many pages. */
const PAST_PAGES = 20;

export type PastRequest = { readonly scope: Scope; readonly after: number; readonly upTo: number; readonly most: number };

/**
 * The newest events of the scope, in order: at most `most`, and fewer if they lie far apart. It includes all events of
 * the scope after `start`.
 */
export async function readPast(sql: Sql, { scope, after, upTo, most }: PastRequest): Promise<PastPage> {
  const pages: (readonly TimelineEvent[])[] = [];
  let found = 0;
  let page: PastPage;
  let place = upTo;
  do {
    page = await readPastPage(sql, scope, after, place);
    const events = page.events.filter((event) => inScope(scope, event));
    pages.unshift(events);
    found += events.length;
    place = page.start;
  } while (found < most && place > Math.max(after, page.head.floor) && pages.length < PAST_PAGES);
  // Retention may remove events meanwhile, which ends the page.
  const lowest = Math.max(after, page.head.floor);
  const events = pages.flat().filter(({ position }) => position > lowest);
  const newest = events.slice(-most);
  const [first] = newest;
  const isCut = newest.length < events.length && first !== undefined;
  return { head: page.head, events: newest, start: isCut ? first.position - 1 : Math.max(page.start, lowest) };
}

async function readPastPage(sql: Sql, scope: Scope, after: number, upTo: number): Promise<PastPage> {
  const { tenant, agentIds, createdBy, channels, kinds } = scope;
  const [only] = agentIds ?? [];
  if (only !== undefined && agentIds?.length === 1)
    return pastPage(tenant, await sql.query(READ_AGENT_PAST, [tenant, only, after, upTo]), after);
  const statement = isControlAlone(scope) ? READ_CONTROL_PAST : READ_TENANT_PAST;
  const rows = await sql.query(statement, [tenant, after, channels, kinds, createdBy, agentIds, upTo]);
  return pastPage(tenant, rows, Math.max(after, upTo - PAGE.positions));
}

function isControlAlone({ channels }: Scope): boolean {
  return channels.every((channel) => channel === "CONTROL");
}

/** The PERMISSION_REQUIRED events of open approvals after `after`, up to `moment` (null: the present), in order. */
export async function readOpenPage(sql: Sql, scope: Scope, after: number, moment: number | null): Promise<FoundPage> {
  const rows = await sql.query(READ_OPEN, [scope.tenant, scope.agentIds, scope.createdBy, after, moment]);
  const head = headOf(scope.tenant, rows);
  const found = rows.filter(isEventRow);
  const covered = found.length < OPEN_ROWS ? (moment ?? head.position) : Number(found.at(-1)?.position ?? after);
  return { head, ...decoded(scope.tenant, found), covered };
}

export async function readHead(sql: Sql, tenant: string): Promise<LogHead> {
  return headOf(tenant, await sql.query(READ_HEAD, [tenant]));
}

/** The position before the first event at or after a time; the end of the log if there is none. */
export async function readPlaceAt(
  sql: Sql,
  tenant: string,
  time: Date,
): Promise<{ readonly head: LogHead; readonly position: number }> {
  const rows = await sql.query(READ_PLACE_AT, [tenant, time]);
  return { head: headOf(tenant, rows), position: Number(rows[0]?.place) };
}

export async function readPositions(sql: Sql, tenants: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql.query(READ_HEADS, [tenants]);
  return new Map(rows.map((row) => [row.tenant, Number(row.position)]));
}

function pastPage(tenant: string, rows: readonly PageRow[], floor: number): PastPage {
  const found = rows.filter(isEventRow);
  const all = Number(rows[0]?.found ?? 0);
  const isCut = all > found.length || all === PAGE.rows;
  const [oldest] = found;
  const start = isCut && oldest !== undefined ? Number(oldest.position) - 1 : floor;
  return { head: headOf(tenant, rows), events: decoded(tenant, found).events, start };
}

function foundPage(tenant: string, rows: readonly PageRow[], after: number, window: number): FoundPage {
  const head = headOf(tenant, rows);
  const found = rows.filter(isEventRow);
  const all = Number(rows[0]?.found ?? 0);
  const isCut = all > found.length || all === PAGE.rows;
  const last = found.at(-1);
  const covered = isCut ? Number(last?.position ?? after) : Math.max(after, Math.min(head.position, after + window));
  return { head, ...decoded(tenant, found), covered };
}

function decoded(tenant: string, rows: readonly EventRow[]): Pick<FoundPage, "events" | "leftOut"> {
  const events = rows.flatMap((row) => decodeKnownEvent(tenant, row) ?? []);
  return { events, leftOut: rows.length - events.length };
}

function headOf(tenant: string, rows: readonly PageRow[]): LogHead {
  const [first] = rows;
  if (first === undefined) throw new Error(`the log of tenant ${tenant} has no row`);
  if (first.lost_at !== null) throw new CommitsLost(tenant);
  return { tenant, logId: first.log_id, epoch: first.epoch, position: Number(first.head), floor: Number(first.floor) };
}

function isEventRow(row: PageRow): row is PageRow & EventRow {
  return row.payload !== undefined && row.payload !== null;
}
