import type { Statement } from "../db/sql.ts";
import type { EventRow } from "./codec.ts";
import type { Scope } from "./cursor.ts";

type HeadRow = { log_id: string; epoch: string; lost_at: Date | null; floor: string | number; erased: string | number };
export type PageRow = Partial<EventRow> & HeadRow & { head: string | number; found?: string | number };

export const PAGE = { rows: 500, positions: 5_000, bytes: 256 * 1024 };

const COLUMNS = "e.agent_id, e.position, e.seq, e.at, e.channel, e.kind, e.payload";
/**
 * The last position of the log of a row `l` of tenant_log: that of its newest event, at least its floor.
 * `append_events` gives positions by the same rule.
 */
export const POSITION = "greatest(l.floor, (SELECT max(h.position) FROM event h WHERE h.tenant = l.tenant))";
const LOG = `SELECT l.tenant, coalesce(l.log_id, l.tenant) AS log_id, l.epoch, l.lost_at, l.floor, l.erased, ${POSITION} AS position FROM tenant_log l WHERE l.tenant = $1`;
/** Of a materialized `log`: otherwise the position would be computed for every row of the page. */
const HEAD = "log.position AS head, log.log_id, log.epoch, log.lost_at, log.floor, log.erased";
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
  `WITH log AS MATERIALIZED (${LOG}) SELECT ${HEAD}, e.*, a.created_by, a.ancestors
    FROM log LEFT JOIN LATERAL (${BOUNDED(rows, direction)}) e ON true
    LEFT JOIN agent a ON a.id = e.agent_id AND a.tenant = log.tenant ORDER BY e.position`;
/** Events of approvals are few, and have their own index for readers of nothing else. */
const CONTROL_ALONE = "AND e.channel = 'CONTROL'";
const OF_AGENTS = "AND ($6::text[] IS NULL OR e.agent_id = ANY ($6))";
/** The agents of a list, and all below them. The fence (OFFSET 0) keeps a planner without statistics from reading all agents. */
const TREES = (agents: string): string =>
  `SELECT unnest(${agents}) UNION SELECT d.id FROM agent a CROSS JOIN LATERAL (
      SELECT b.id FROM agent b WHERE b.root_id = coalesce(a.root_id, a.id) AND b.ancestors && ${agents} OFFSET 0) d
    WHERE a.id = ANY (${agents})`;
const OF_TREES = `AND e.agent_id IN (${TREES("$6::text[]")})`;
const OF_TENANT = (places: string, direction: Direction, agents: string, alone: typeof CONTROL_ALONE | "" = ""): string =>
  PAGE_OF(
    `SELECT ${COLUMNS} FROM event e WHERE e.tenant = $1 AND ${places} ${alone}
        AND e.channel = ANY ($3) AND ($4::text[] IS NULL OR e.kind = ANY ($4))
        AND ($5::text IS NULL OR e.agent_id IN (SELECT id FROM agent WHERE tenant = $1 AND created_by = $5))
        ${agents}
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
const READ_TENANT: Statement<PageRow, TenantValues> = { name: "read_tenant", text: OF_TENANT(NEXT_PLACES, "ASC", OF_AGENTS) };
const READ_TREES: Statement<PageRow, TenantValues> = { name: "read_tree", text: OF_TENANT(NEXT_PLACES, "ASC", OF_TREES) };
const READ_CONTROL: Statement<PageRow, TenantValues> = {
  name: "read_control",
  text: OF_TENANT(NEXT_PLACES, "ASC", OF_AGENTS, CONTROL_ALONE),
};
const READ_TENANT_PAST: Statement<PageRow, [...TenantValues, upTo: number]> = {
  name: "read_tenant_past",
  text: OF_TENANT(PAST_PLACES, "DESC", OF_AGENTS),
};
const READ_TREES_PAST: Statement<PageRow, [...TenantValues, upTo: number]> = {
  name: "read_tree_past",
  text: OF_TENANT(PAST_PLACES, "DESC", OF_TREES),
};
const READ_CONTROL_PAST: Statement<PageRow, [...TenantValues, upTo: number]> = {
  name: "read_control_past",
  text: OF_TENANT(PAST_PLACES, "DESC", OF_AGENTS, CONTROL_ALONE),
};
export const READ_AGENT: Statement<PageRow, [tenant: string, agentId: string, after: number]> = {
  name: "read_agent",
  text: OF_AGENT("log.position", "ASC"),
};
export const READ_AGENT_PAST: Statement<PageRow, [tenant: string, agentId: string, after: number, upTo: number]> = {
  name: "read_agent_past",
  text: OF_AGENT("$4", "DESC"),
};
/** The rows of a page of open requests: each may be as large as an event. */
export const OPEN_ROWS = 20;
/** The next PERMISSION_REQUIRED events of open approvals, up to a moment, and the head, in one snapshot. */
const OPEN = (agents: string): string =>
  `WITH log AS MATERIALIZED (${LOG}) SELECT ${HEAD}, e.*
    FROM log LEFT JOIN LATERAL (SELECT ${COLUMNS}::text AS payload, a.created_by, a.ancestors FROM approval p JOIN agent a ON a.id = p.agent_id
      JOIN event e ON e.kind = 'PERMISSION_REQUIRED' AND e.payload #>> '{request,approvalId}' = p.id
      WHERE p.tenant = $1 AND p.state = 'PENDING' ${agents} AND ($3::text IS NULL OR a.created_by = $3)
        AND e.position > $4 AND ($5::bigint IS NULL OR e.position <= $5)
      ORDER BY e.position LIMIT ${OPEN_ROWS}) e ON true ORDER BY e.position`;
type OpenValues = [
  tenant: string,
  agentIds: readonly string[] | null,
  createdBy: string | null,
  after: number,
  moment: number | null,
];
const READ_OPEN: Statement<PageRow, OpenValues> = {
  name: "read_open",
  text: OPEN("AND ($2::text[] IS NULL OR p.agent_id = ANY ($2))"),
};
const READ_OPEN_TREES: Statement<PageRow, OpenValues> = {
  name: "read_open_tree",
  text: OPEN(`AND p.agent_id IN (${TREES("$2::text[]")})`),
};
export const READ_HEAD: Statement<PageRow, [tenant: string]> = {
  name: "read_head",
  text: `WITH log AS MATERIALIZED (${LOG}) SELECT ${HEAD} FROM log`,
};
/**
 * The position before the first event at or after a time, found by bisection: events up to `low` are earlier, events
 * after `high` are not. A position without an event (removed by retention) is passed to the next one.
 */
export const READ_PLACE_AT: Statement<PageRow & { place: string | number }, [tenant: string, time: Date]> = {
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
export const COUNT_AGENTS: Statement<{ agents: number }, [tenant: string, ids: readonly string[]]> = {
  name: "count_agents_of_scope",
  text: "SELECT count(*)::int AS agents FROM agent WHERE id = ANY ($2) AND tenant = $1",
};
export const READ_HEADS: Statement<{ tenant: string; position: string; erased: string }, [tenants: readonly string[]]> = {
  name: "read_heads",
  text: `SELECT l.tenant, ${POSITION} AS position, l.erased FROM tenant_log l WHERE l.tenant = ANY ($1)`,
};

export function pageStatement(scope: Scope): typeof READ_TENANT {
  if (scope.withDescendants) return READ_TREES;
  return isControlAlone(scope) ? READ_CONTROL : READ_TENANT;
}

export function pastStatement(scope: Scope): typeof READ_TENANT_PAST {
  if (scope.withDescendants) return READ_TREES_PAST;
  return isControlAlone(scope) ? READ_CONTROL_PAST : READ_TENANT_PAST;
}

function isControlAlone({ channels }: Scope): boolean {
  return channels.every((channel) => channel === "CONTROL");
}

export function openStatement({ withDescendants }: Scope): typeof READ_OPEN {
  return withDescendants ? READ_OPEN_TREES : READ_OPEN;
}
