import type { Sql } from "../db/sql.ts";
import { decodeKnownEvent, type EventRow } from "./codec.ts";
import { type LogHead, inScope, type Scope } from "./cursor.ts";
import type { TimelineEvent } from "./event.ts";
import {
  OPEN_ROWS,
  openStatement,
  PAGE,
  pageStatement,
  type PageRow,
  pastStatement,
  READ_AGENT,
  READ_AGENT_PAST,
  READ_HEAD,
  COUNT_AGENTS,
  READ_HEADS,
  READ_PLACE_AT,
} from "./log-statements.ts";

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

/**
 * The tenant's next events after `after`, or the agent's for a scope of one agent, filtered by channel and kind.
 * Bounded in rows, positions and bytes; one statement, one snapshot.
 */
export async function readPage(sql: Sql, scope: Scope, after: number): Promise<FoundPage> {
  const { tenant, agentIds, createdBy, channels, kinds } = scope;
  const only = onlyAgent(scope);
  if (only !== null) return foundPage(tenant, await sql.query(READ_AGENT, [tenant, only, after]), after, Infinity);
  const rows = await sql.query(pageStatement(scope), [tenant, after, channels, kinds, createdBy, agentIds]);
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
  const only = onlyAgent(scope);
  if (only !== null) return pastPage(tenant, await sql.query(READ_AGENT_PAST, [tenant, only, after, upTo]), after);
  const rows = await sql.query(pastStatement(scope), [tenant, after, channels, kinds, createdBy, agentIds, upTo]);
  return pastPage(tenant, rows, Math.max(after, upTo - PAGE.positions));
}

/** The agent of a scope of one; null for every other scope. */
function onlyAgent({ agentIds, withDescendants }: Scope): string | null {
  return agentIds?.length === 1 && !withDescendants ? (agentIds[0] ?? null) : null;
}

/** The PERMISSION_REQUIRED events of open approvals after `after`, up to `moment` (null: the present), in order. */
export async function readOpenPage(sql: Sql, scope: Scope, after: number, moment: number | null): Promise<FoundPage> {
  const rows = await sql.query(openStatement(scope), [scope.tenant, scope.agentIds, scope.createdBy, after, moment]);
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

export type Positions = Pick<LogHead, "tenant" | "position" | "erased">;

export async function readPositions(sql: Sql, tenants: readonly string[]): Promise<readonly Positions[]> {
  const rows = await sql.query(READ_HEADS, [tenants]);
  return rows.map(({ tenant, position, erased }) => ({ tenant, position: Number(position), erased: Number(erased) }));
}

/** True if the tenant has all these agents. */
export async function areThere(sql: Sql, tenant: string, agentIds: readonly string[]): Promise<boolean> {
  const [row] = await sql.query(COUNT_AGENTS, [tenant, agentIds]);
  return row?.agents === new Set(agentIds).size;
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

/** Events of deleted agents are passed: their rows go in chunks, and their agents are not of the tenant any more. */
function decoded(tenant: string, rows: readonly EventRow[]): Pick<FoundPage, "events" | "leftOut"> {
  const present = rows.filter((row) => row.agent_id === null || row.created_by !== null);
  const events = present.flatMap((row) => decodeKnownEvent(tenant, row) ?? []);
  return { events, leftOut: present.length - events.length };
}

function headOf(tenant: string, rows: readonly PageRow[]): LogHead {
  const [first] = rows;
  if (first === undefined) throw new Error(`the log of tenant ${tenant} has no row`);
  if (first.lost_at !== null) throw new CommitsLost(tenant);
  const { log_id: logId, epoch, head, floor, erased } = first;
  return { tenant, logId, epoch, position: Number(head), floor: Number(floor), erased: Number(erased) };
}

function isEventRow(row: PageRow): row is PageRow & EventRow {
  return row.payload !== undefined && row.payload !== null;
}
