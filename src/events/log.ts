import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { encodeChange, type Change } from "../db/change.ts";
import { patient } from "../db/outage.ts";
import {
  isConnectionLost,
  isContention,
  sqlState,
  storageError,
  StorageUnavailable,
  type Sql,
  type Statement,
} from "../db/sql.ts";
import { messageOf } from "../lib/text.ts";
import { decodeKnownEvent, encodeEvent, type EncodedEvent, type EventRow } from "./codec.ts";
import type { LogHead } from "./cursor.ts";
import type { EventDraft, TimelineEvent } from "./event.ts";
import { NewestEvents } from "./newest-events.ts";
import { inScope, type Scope } from "./scope.ts";
import { WAITING_LIMITS, WaitingEvents, type WaitingLimits } from "./waiting-events.ts";

/** The lease under which something is written: refused where the agent has another owner or epoch by then. */
export type Fence = { readonly owner: string; readonly epoch: number };

/** The events of one agent in an append; a null fence is for writers who hold no lease. */
export type AgentEvents = {
  readonly agentId: string;
  readonly createdBy: string;
  readonly fence: Fence | null;
  readonly events: readonly EventDraft[];
};

/** The same with its events as they are stored. */
export type EncodedPart = Omit<AgentEvents, "events"> & { readonly events: readonly EncodedEvent[] };

/** The part with its events as they are stored. Throws where one is too large to be an event. */
export function encodePart(part: AgentEvents): EncodedPart {
  return { agentId: part.agentId, createdBy: part.createdBy, fence: part.fence, events: part.events.map(encodeEvent) };
}

/** A failover lost commits of a tenant's log. Nothing of it is read or written before the operator has looked. */
export class CommitsLost extends Error {
  override readonly name = "CommitsLost";
  constructor(tenant: string) {
    super(`the log of tenant ${tenant} lost commits in a failover: stop all servers, and run \`npm run restored\``);
  }
}

/** What became of one agent's part of an append. */
export type AppendOutcome =
  { readonly outcome: "COMMITTED"; readonly events: readonly TimelineEvent[] } | { readonly outcome: "FENCED" };

/** The same of one try: of an agent whose row somebody else holds nothing was written. */
export type TriedAppend = AppendOutcome | { readonly outcome: "LOCKED" };

/** What became of a change. Everything but COMMITTED changed nothing. */
export type CommitOutcome =
  /** `position` is how far the log has come with it, null for a change without events; `signal` how often the agent had been signalled before it. */
  | {
      readonly outcome: "COMMITTED";
      readonly events: readonly TimelineEvent[];
      readonly position: number | null;
      readonly signal: number;
    }
  /** Another node holds the agent by now. */
  | { readonly outcome: "FENCED" }
  /** A row was not in the state that the change starts from. */
  | { readonly outcome: "CONFLICT"; readonly message: string }
  /** The idempotency key was used before. */
  | { readonly outcome: "KEY_USED" };

/** A piece of the log as of one snapshot. */
export type LogPage = {
  readonly head: LogHead;
  readonly events: readonly TimelineEvent[];
  /** Everything of the scope up to this position is in `events` or before them. */
  readonly covered: number;
  /** Whether the database was away when followers were given the page. */
  readonly outage: StorageOutage | null;
};

/** The database does not answer: since when, and how many events of this node wait to be committed. */
export type StorageOutage = { readonly since: Date; readonly bufferedEvents: number };

/** Is told what was committed, and whether that was a signal to an agent. */
export type CommitListener = (tenant: string, events: readonly TimelineEvent[], isSignal: boolean) => void;

/** The bounds of one read. */
const PAGE = { rows: 500, positions: 5_000, bytes: 256 * 1024 };

/** Waits between tries of an append whose answer was lost, in ms; what is fenced is tried on and on after the last. */
const RETRIES = [10, 50, 200, 500, 1_000];
const LAST_RETRY = 2_000;
/** The time between reports that a write is tried for long, in ms. */
const TELL_MS = 10_000;
/** The time between tries for a row that others hold for long, in ms. */
const LOCKED_RETRY = 250;

const APPEND: Statement = {
  name: "append_events",
  text: "SELECT agent, fenced, base_seq, base_position FROM append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
};
const COMMIT: Statement = {
  name: "commit_change",
  text: "SELECT agent, fenced, base_seq, base_position, signal FROM commit_change($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
};
const COLUMNS = "e.agent_id, e.position, e.seq, e.at, e.channel, e.kind, e.payload::text AS payload";
/** The last position of the log of a row `l` of tenant_log: that of its newest event, never less than its floor. `append_events` gives positions by the same rule. */
export const POSITION = "greatest(l.floor, (SELECT max(h.position) FROM event h WHERE h.tenant = l.tenant))";
const LOG = `SELECT l.tenant, coalesce(l.log_id, l.tenant) AS log_id, l.epoch, l.lost_at, l.floor, ${POSITION} AS position FROM tenant_log l WHERE l.tenant = $1`;
const HEAD = "log.position AS head, log.log_id, log.epoch, log.lost_at, log.floor";
/** The first of the rows, up to the page's bytes, each with how many rows there were. */
const BOUNDED = (rows: string): string =>
  `SELECT * FROM (SELECT r.*, count(*) OVER () AS found, sum(octet_length(r.payload)) OVER (ORDER BY r.position) - octet_length(r.payload) AS before
    FROM (${rows}) r) b WHERE b.before < ${PAGE.bytes}`;
const READ_TENANT: Statement = {
  name: "read_tenant",
  text: `WITH log AS (${LOG}) SELECT ${HEAD}, e.*, a.created_by
    FROM log LEFT JOIN LATERAL (${BOUNDED(`SELECT ${COLUMNS} FROM event e
      WHERE e.tenant = $1 AND e.position > $2 AND e.position <= least(log.position, $2::bigint + ${PAGE.positions})
        AND e.channel = ANY ($3) AND ($4::text[] IS NULL OR e.kind = ANY ($4))
        AND ($5::text IS NULL OR e.agent_id IN (SELECT id FROM agent WHERE tenant = $1 AND created_by = $5))
      ORDER BY e.position LIMIT ${PAGE.rows}`)}) e ON true
    LEFT JOIN agent a ON a.id = e.agent_id ORDER BY e.position`,
};
/** The agent's next rows are taken first and filtered after, so that a read is bounded whatever the filter. */
const READ_AGENT: Statement = {
  name: "read_agent",
  text: `WITH log AS (${LOG}) SELECT ${HEAD}, e.*, a.created_by
    FROM log LEFT JOIN LATERAL (${BOUNDED(`SELECT ${COLUMNS} FROM event e
      WHERE e.agent_id = $2 AND e.tenant = $1 AND e.position > $3 AND e.position <= log.position ORDER BY e.position LIMIT ${PAGE.rows}`)}) e ON true
    LEFT JOIN agent a ON a.id = e.agent_id ORDER BY e.position`,
};
/** The rows of a page of requests: each may be as large as an event. */
const OPEN_ROWS = 20;
/** The next PERMISSION_REQUIRED events of the approvals that are open, up to a moment, and the head, in one snapshot. */
const READ_OPEN: Statement = {
  name: "read_open",
  text: `WITH log AS (${LOG}) SELECT ${HEAD}, e.*
    FROM log LEFT JOIN LATERAL (SELECT ${COLUMNS}, a.created_by FROM approval p JOIN agent a ON a.id = p.agent_id
      JOIN event e ON e.kind = 'PERMISSION_REQUIRED' AND e.payload #>> '{request,approvalId}' = p.id
      WHERE p.tenant = $1 AND p.state = 'PENDING' AND ($2::text IS NULL OR p.agent_id = $2) AND ($3::text IS NULL OR a.created_by = $3)
        AND e.position > $4 AND ($5::bigint IS NULL OR e.position <= $5)
      ORDER BY e.position LIMIT ${OPEN_ROWS}) e ON true ORDER BY e.position`,
};
const READ_HEAD: Statement = { name: "read_head", text: LOG };
const READ_HEADS: Statement = {
  name: "read_heads",
  text: `SELECT l.tenant, ${POSITION} AS position FROM tenant_log l WHERE l.tenant = ANY ($1)`,
};
const BEGIN_LOG: Statement = {
  name: "begin_log",
  text: "INSERT INTO tenant_log (tenant, epoch) VALUES ($1, $2) ON CONFLICT DO NOTHING",
};
/**
 * An agent's events from the newest on, one by one as they are asked for: the planner must not look for what stands near
 * the end by reading all of them.
 */
const BACKWARDS = (before = "true"): string =>
  `SELECT position, kind, payload FROM event WHERE agent_id = $1 AND ${before} ORDER BY position DESC OFFSET 0`;
/** From where a block begins: what an agent said before that is not looked at. */
const BLOCK_TEXT: Statement = {
  name: "block_text",
  text: `SELECT string_agg(payload ->> 'delta', '' ORDER BY position) AS text FROM event
    WHERE agent_id = $1 AND kind = $5 AND position < $2 AND (payload ->> 'step')::int = $3 AND (payload ->> 'block')::int = $4
      AND position > coalesce((SELECT s.position FROM (${BACKWARDS("position < $2")}) s WHERE s.kind = $5 || '_START'
        AND (s.payload ->> 'step')::int = $3 AND (s.payload ->> 'block')::int = $4 LIMIT 1), 0)`,
};

/**
 * The blocks of text and of thinking of an agent's last step that have begun and not ended, with what was said of them. It
 * looks no further back than to the end of the last step that was completed.
 */
const OPEN_BLOCKS: Statement = {
  name: "open_blocks",
  text: `SELECT block, CASE WHEN kind LIKE 'THINK%' THEN 'thinking' ELSE 'text' END AS kind, coalesce(string_agg(delta, '' ORDER BY position), '') AS text FROM (
      SELECT position, kind, (payload ->> 'block')::int AS block, payload ->> 'delta' AS delta FROM event
      WHERE agent_id = $1 AND (payload ->> 'step')::int = $2
        AND position > coalesce((SELECT d.position FROM (${BACKWARDS()}) d WHERE d.kind IN ('STEP_COMPLETE', 'DONE') LIMIT 1), 0)
        AND kind IN ('TEXT_CHUNK_START', 'TEXT_CHUNK', 'TEXT_CHUNK_END', 'THINK_CHUNK_START', 'THINK_CHUNK', 'THINK_CHUNK_END')
    ) said GROUP BY 1, 2 HAVING count(*) FILTER (WHERE kind LIKE '%_END') = 0 ORDER BY block`,
};

type Placement = { agent: string; fenced: boolean | null; base_seq: number; base_position: string | number };
type HeadRow = { log_id: string; epoch: string; lost_at: Date | null; floor: string | number };
type PageRow = Partial<EventRow> & HeadRow & { head: string | number; found?: string | number };

/**
 * The event log of all tenants: one durable sequence of events a tenant, gap-free and in commit order (invariants 1
 * to 4). Every write is a single statement; every write has an id, so that one whose answer was lost is looked up
 * under the locks before it is done again.
 */
export class EventLog {
  /** What of this node's agents is not committed yet. */
  readonly waiting: WaitingEvents;
  readonly #sql: Sql;
  readonly #reads: Sql;
  readonly #begun = new Set<string>();
  #unknownEvents = 0;
  #retries = 0;
  readonly #newest = new NewestEvents();
  readonly #retryListeners = new Set<(problem: string, sinceMs: number) => void>();
  readonly #listeners = new Set<CommitListener>();

  /** Followers and pages read by `reads`, so that no commit waits for them. */
  constructor(sql: Sql, limits: WaitingLimits = WAITING_LIMITS, reads: Sql = sql) {
    this.#sql = sql;
    this.#reads = reads;
    this.waiting = new WaitingEvents(limits);
  }

  /** Whether the database is away now. */
  get outage(): StorageOutage | null {
    const { current } = this.#sql.outages;
    return current === null ? null : { since: current.since, bufferedEvents: this.waiting.events };
  }

  /** The number of events that were left out of reads since their kind is of a newer version: cursors pass them. */
  get unknownEvents(): number {
    return this.#unknownEvents;
  }

  /** The number of tries, after the first waits, of writes of the holders of leases. */
  get retries(): number {
    return this.#retries;
  }

  /** Calls the listener, each TELL_MS at most, with what the database says to a write that is tried for long, and since how many ms. */
  onLongRetry(listener: (problem: string, sinceMs: number) => void): void {
    this.#retryListeners.add(listener);
  }

  /** Calls the listener when an outage begins and when it is over. Returns the end of that. */
  onOutage(listener: () => void): () => void {
    return this.#sql.outages.onChange(listener);
  }

  /** Calls the listener with what this node commits, after the commit and in the order of the answers. */
  onCommitted(listener: CommitListener): void {
    this.#listeners.add(listener);
  }

  /** Appends events of several agents of one tenant. A fenced agent's events are not written; the others commit. */
  async append(tenant: string, parts: readonly AgentEvents[]): Promise<AppendOutcome[]> {
    const encoded = parts.map(encodePart);
    const tried = await this.tryAppend(tenant, encoded);
    return Promise.all(
      encoded.map(async (part, index) => {
        const outcome = tried[index];
        return outcome === undefined || outcome.outcome === "LOCKED" ? this.appendEncoded(tenant, part) : outcome;
      }),
    );
  }

  /**
   * Appends the events of one agent, of which nothing else is appended meanwhile. Waits for the agent's row where another
   * transaction holds it; who holds no lease does not do so for ever.
   */
  async appendEncoded(tenant: string, part: EncodedPart): Promise<AppendOutcome> {
    for (let attempt = 0; ; attempt += 1) {
      const [tried = { outcome: "LOCKED" }] = await this.tryAppend(tenant, [part]);
      if (tried.outcome !== "LOCKED") return tried;
      if (part.fence === null && attempt === RETRIES.length)
        throw new StorageUnavailable(`the row of agent ${part.agentId} is locked by others`);
      await delay(RETRIES[attempt] ?? LOCKED_RETRY);
    }
  }

  /** Tries to append events of several agents of one tenant and of one server's leases, each of which stands for itself. */
  async tryAppend(tenant: string, parts: readonly EncodedPart[]): Promise<TriedAppend[]> {
    const encoded = parts.map((part) => part.events);
    const owners = parts.flatMap((part, index) => part.events.map(() => index + 1));
    const append = randomUUID();
    const isHeld = parts.every(({ fence }) => fence !== null);
    const owner = parts.find(({ fence }) => fence !== null)?.fence?.owner ?? null;
    const rows = await this.#retrying(isHeld, (retry) =>
      this.#sql.query<Placement>(APPEND, [
        tenant,
        append,
        retry,
        owner,
        parts.map((part) => part.agentId),
        parts.map((part) => part.fence?.epoch ?? null),
        owners,
        ...columns(encoded.flat()),
      ]),
    );
    const placed = new Map(rows.map((row) => [row.agent, row]));
    let position = Number(rows.find((row) => row.fenced === false)?.base_position ?? 0);
    const outcomes = parts.map((part, number): TriedAppend => {
      const place = placed.get(part.agentId);
      if (place === undefined || place.fenced === true) return { outcome: "FENCED" };
      if (place.fenced === null) return { outcome: "LOCKED" };
      const events = (encoded[number] ?? []).map((event, index) =>
        placedEvent(tenant, part, event, position + index + 1, place.base_seq + index + 1),
      );
      position += events.length;
      return { outcome: "COMMITTED", events };
    });
    this.#announce(
      tenant,
      outcomes.flatMap((outcome) => (outcome.outcome === "COMMITTED" ? outcome.events : [])),
      false,
    );
    return outcomes;
  }

  /** Changes rows of one agent and appends the events that report it, or does neither. */
  async commit(tenant: string, part: AgentEvents, change: Change): Promise<CommitOutcome> {
    const append = randomUUID();
    const changed = encodeChange(change);
    const encoded = part.events.map(encodeEvent);
    try {
      const [place] = await this.#retrying(part.fence !== null, (retry) =>
        this.#sql.query<Placement & { signal: number }>(COMMIT, [
          tenant,
          append,
          retry,
          part.fence?.owner ?? null,
          part.agentId,
          part.fence?.epoch ?? null,
          changed,
          ...columns(encoded),
        ]),
      );
      if (place === undefined) throw new Error("commit_change answered no row");
      const base = Number(place.base_position);
      const events = encoded.map((event, index) =>
        placedEvent(tenant, part, event, base + index + 1, place.base_seq + index + 1),
      );
      this.#announce(tenant, events, change.wake === true);
      return { outcome: "COMMITTED", events, position: events.at(-1)?.position ?? null, signal: place.signal };
    } catch (error) {
      switch (sqlState(error)) {
        case "TP001":
          return { outcome: "FENCED" };
        case "TP002":
          return { outcome: "CONFLICT", message: messageOf(error) };
        case "TP003":
          return { outcome: "KEY_USED" };
        case "TP004":
          throw new CommitsLost(tenant);
        default:
          throw error;
      }
    }
  }

  /** The scope's events after `after`, in order, bounded in rows, positions and bytes; one statement, one snapshot. */
  async read(scope: Scope, after: number): Promise<LogPage> {
    await this.begin(scope.tenant);
    const rows =
      scope.agentId === null
        ? await this.#query<PageRow>(READ_TENANT, [scope.tenant, after, scope.channels, scope.kinds, scope.createdBy])
        : await this.#query<PageRow>(READ_AGENT, [scope.tenant, scope.agentId, after]);
    if (scope.agentId === null) return this.#decodePage(scope.tenant, rows, after, PAGE.positions);
    const page = this.#decodePage(scope.tenant, rows, after, Infinity);
    return { ...page, events: page.events.filter((event) => inScope(scope, event)) };
  }

  /**
   * The PERMISSION_REQUIRED events of open approvals of the scope after `after`, up to `moment` (null: now), in order.
   * The page covers `moment` when these were the last.
   */
  async readOpen(scope: Scope, after: number, moment: number | null): Promise<LogPage> {
    await this.begin(scope.tenant);
    const rows = await this.#query<PageRow>(READ_OPEN, [scope.tenant, scope.agentId, scope.createdBy, after, moment]);
    const head = headOf(scope.tenant, rows);
    const events = this.#decode(scope.tenant, rows.filter(isEventRow));
    const covered = events.length < OPEN_ROWS ? (moment ?? head.position) : (events.at(-1)?.position ?? after);
    return { head, events: events.filter((event) => inScope(scope, event)), covered, outage: null };
  }

  /** Where the tenant's log ends now. */
  async head(tenant: string): Promise<LogHead> {
    await this.begin(tenant);
    const [row] = await this.#query<HeadRow & { position: string }>(READ_HEAD, [tenant]);
    if (row === undefined) throw new Error(`the log of tenant ${tenant} has no row`);
    if (row.lost_at !== null) throw new CommitsLost(tenant);
    return { tenant, logId: row.log_id, epoch: row.epoch, position: Number(row.position), floor: Number(row.floor) };
  }

  /** The last position of each of the tenants' logs. */
  async positions(tenants: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.#query<{ tenant: string; position: string }>(READ_HEADS, [tenants]);
    return new Map(rows.map((row) => [row.tenant, Number(row.position)]));
  }

  /** The text of a block, joined from its deltas before `position`: for an end that could not hold it. */
  async blockText(
    kind: "TEXT_CHUNK" | "THINK_CHUNK",
    { agentId, position }: Pick<TimelineEvent, "agentId" | "position">,
    { step, block }: { readonly step: number; readonly block: number },
  ): Promise<string> {
    const [row] = await this.#query<{ text: string | null }>(BLOCK_TEXT, [agentId, position, step, block, kind]);
    return row?.text ?? "";
  }

  /** The blocks of a step that have begun and not ended: where a model call broke off with its server. Waits for the database. */
  async openBlocks(
    agentId: string,
    step: number,
  ): Promise<{ readonly kind: "text" | "thinking"; readonly block: number; readonly text: string }[]> {
    return patient(this.#sql).query(OPEN_BLOCKS, [agentId, step]);
  }

  /**
   * Compares the newest events that this node knows with those that the database has, after a connection was lost: it may
   * lead to another server by now. Logs that lost commits are marked. Gives their tenants.
   */
  compareNewest(): Promise<readonly string[]> {
    return this.#newest.compare(this.#sql);
  }

  /** Makes sure that the tenant has a log. */
  async begin(tenant: string): Promise<void> {
    if (this.#begun.has(tenant)) return;
    await this.#query(BEGIN_LOG, [tenant, randomUUID().slice(0, 8)], this.#sql);
    this.#begun.add(tenant);
  }

  #decodePage(tenant: string, rows: readonly PageRow[], after: number, window: number): LogPage {
    const head = headOf(tenant, rows);
    const found = rows.filter(isEventRow);
    const all = Number(rows[0]?.found ?? 0);
    const isCut = all > found.length || all === PAGE.rows;
    const last = found.at(-1);
    const covered = isCut ? Number(last?.position ?? after) : Math.max(after, Math.min(head.position, after + window));
    return { head, events: this.#decode(tenant, found), covered, outage: null };
  }

  #decode(tenant: string, rows: readonly EventRow[]): TimelineEvent[] {
    const known = rows.flatMap((row) => decodeKnownEvent(tenant, row) ?? []);
    this.#unknownEvents += rows.length - known.length;
    const last = known.at(-1);
    if (last !== undefined) this.#newest.saw(last);
    return known;
  }

  #announce(tenant: string, events: readonly TimelineEvent[], isSignal: boolean): void {
    const last = events.at(-1);
    if (last !== undefined) this.#newest.saw(last);
    if (events.length > 0) this.#listeners.forEach((listener) => listener(tenant, events, isSignal));
  }

  async #query<Row>(statement: Statement, values: readonly unknown[], sql: Sql = this.#reads): Promise<Row[]> {
    try {
      return await sql.query<Row>(statement, values);
    } catch (error) {
      throw storageError(error);
    }
  }

  /**
   * Tries a write until its outcome is known. What the holder of a lease writes waits for the database as long as it is
   * away, since its epoch says afterwards whether it still counts. What others ask for is refused: they may ask again.
   */
  async #retrying<Row>(isHeld: boolean, write: (retry: boolean) => Promise<Row[]>): Promise<Row[]> {
    let lost = false;
    const began = performance.now();
    let told = began;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await write(lost);
      } catch (error) {
        if (isConnectionLost(error)) lost = true;
        else if (!isContention(error)) throw error;
        if (!isHeld && (attempt === RETRIES.length || this.#sql.outages.current !== null)) throw storageError(error);
        if (attempt >= RETRIES.length) this.#retries += 1;
        if (performance.now() - told >= TELL_MS) {
          told = performance.now();
          this.#retryListeners.forEach((listener) => listener(messageOf(error), told - began));
        }
        await delay(RETRIES[attempt] ?? LAST_RETRY);
        if (isHeld) await this.#sql.outages.over();
      }
    }
  }
}

function columns(encoded: readonly EncodedEvent[]): string[][] {
  return [
    encoded.map((event) => event.channel),
    encoded.map((event) => event.kind),
    encoded.map((event) => event.payload),
    encoded.map((event) => event.at),
  ];
}

function placedEvent(
  tenant: string,
  part: Pick<AgentEvents, "agentId" | "createdBy">,
  encoded: EncodedEvent,
  position: number,
  seq: number,
): TimelineEvent {
  return {
    tenant,
    agentId: part.agentId,
    createdBy: part.createdBy,
    position,
    seq,
    at: new Date(encoded.at),
    channel: encoded.channel,
    bytes: encoded.payload.length,
    body: encoded.body,
  };
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
