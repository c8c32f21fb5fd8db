import { setTimeout as delay } from "node:timers/promises";
import type { OutsideChange, OwnerChange, TenantChange } from "../db/commit/change.ts";
import { encodeChange } from "../db/commit/parts.ts";
import { composeCommit } from "../db/commit/composed-commit.ts";
import type { Sql, Statement } from "../db/sql.ts";
import { StorageUnavailable } from "../db/storage-error.ts";
import { forNobody } from "../db/connections/reader-limits.ts";
import { forTenant } from "../db/connections/tenant-turns.ts";
import { Turns } from "../lib/turns.ts";
import { commitAgent, type AgentCommitServices, type WrittenChange } from "./agent-commits.ts";
import {
  columns,
  encodePart,
  type EventColumns,
  placedEvent,
  type AgentEvents,
  type EncodedPart,
  type HeldEvents,
} from "./agent-events.ts";
import type { LogHead } from "./cursor.ts";
import type { TenantEventDraft, TimelineEvent } from "./event.ts";
import { readHead, readOpenPage, readPage, readPositions, type FoundPage, type LogPage, type StorageOutage } from "./log-page.ts";
import { LogBeginnings } from "./log-beginnings.ts";
import { NewestEvents } from "./newest-events.ts";
import type { AppendOutcome, OutsideOutcome, OwnerOutcome, TenantOutcome, TriedAppend } from "./outcome.ts";
import { commitTenant, type TenantCommitServices } from "./tenant-commits.ts";
import { inScope, type Scope } from "./scope.ts";
import { FIRST_WAITS, newWrite, WriteTries, type Write } from "./write.ts";
import { WAITING_LIMITS, WaitingEvents, type WaitingLimits } from "./waiting-events.ts";

/** Is told what was committed, and whether that was a signal to an agent. */
export type CommitListener = (tenant: string, events: readonly TimelineEvent[], isSignal: boolean) => void;

/** The most commands for one agent at once: they wait for the same row. */
const COMMANDS_OF_AGENT = 2;
/** The time between tries for a row that others hold for long, in ms. */
const LOCKED_RETRY = 250;

const APPEND: Statement<
  Placement,
  [
    tenant: string,
    writeId: string,
    isLost: boolean,
    owner: string | null,
    agentIds: readonly string[],
    epochs: readonly (number | null)[],
    owners: readonly number[],
    ...EventColumns,
  ]
> = {
  name: "append_events",
  text: "SELECT agent, fenced, base_seq, base_position FROM append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
};
type Placement = { agent: string; fenced: boolean | null; base_seq: number; base_position: string | number };

/**
 * The event log of all tenants: one durable sequence of events a tenant, gap-free and in commit order (invariants 1
 * to 4). Every write is a single statement; every write has an id, so that one whose answer was lost is looked up
 * under the locks before it is done again.
 */
export class EventLog {
  /** The events of this server's agents that are not committed yet. */
  readonly waiting: WaitingEvents;
  readonly #commits: Sql;
  readonly #reads: Sql;
  readonly #beginnings: LogBeginnings;
  /** A row for which many wait takes a few of the connections, and leaves the others to others (invariant 13). */
  readonly #turnsOfAgent = new Turns(COMMANDS_OF_AGENT);
  /** The number of commits under way of each tenant. */
  readonly #committing = new Map<string, number>();
  #unknownEvents = 0;
  readonly #newest = new NewestEvents();
  readonly #tries: WriteTries;
  readonly #listeners = new Set<CommitListener>();

  /** Commits and appends go by `commits`, and nothing else; all else by `reads`, so that no commit waits for it. */
  constructor(commits: Sql, limits: WaitingLimits = WAITING_LIMITS, reads: Sql = commits) {
    this.#commits = commits;
    this.#reads = reads;
    this.#beginnings = new LogBeginnings(commits);
    this.#tries = new WriteTries(commits.outages);
    this.waiting = new WaitingEvents(limits);
  }

  /** The outage of the database that lasts now; null if there is none. */
  get outage(): StorageOutage | null {
    const { current } = this.#commits.outages;
    return current === null ? null : { since: current.since, bufferedEvents: this.waiting.events };
  }

  /** The number of events that were left out of reads since their kind is of a newer version: cursors pass them. */
  get unknownEvents(): number {
    return this.#unknownEvents;
  }

  /** The number of tries, after the first waits, of writes of the holders of leases. */
  get retries(): number {
    return this.#tries.count;
  }

  /** Calls the listener, each 10 s at most, with what the database says to a write that is tried for long, and since how many ms. */
  onLongRetry(listener: (problem: string, sinceMs: number) => void): void {
    this.#tries.onLong(listener);
  }

  /** Resolves when the database answers, at once if it does. Rejects when this server has given up waiting for it. */
  outageOver(): Promise<void> {
    return this.#commits.outages.over();
  }

  /** Calls the listener when an outage begins and when it is over. Returns the end of that. */
  onOutage(listener: () => void): () => void {
    return this.#commits.outages.onChange(listener);
  }

  /** Calls the listener with what this server commits, after the commit and in the order of the answers. */
  onCommitted(listener: CommitListener): void {
    this.#listeners.add(listener);
  }

  /** Calls the listener with each tenant whose log this server begins. */
  onBegun(listener: (tenant: string) => void): void {
    this.#beginnings.onBegun(listener);
  }

  /** Appends events of several agents of one tenant. A fenced agent's events are not written; the others commit. */
  async append(tenant: string, parts: readonly (AgentEvents | HeldEvents)[]): Promise<AppendOutcome[]> {
    const encoded = parts.map(encodePart);
    const write = newWrite();
    const tried = await this.tryAppend(tenant, encoded, write);
    return Promise.all(
      encoded.map(async (part, index) => {
        const outcome = tried[index];
        return outcome === undefined || outcome.outcome === "LOCKED" ? this.appendEncoded(tenant, part, write) : outcome;
      }),
    );
  }

  /**
   * Appends the events of one agent, of which nothing else is appended meanwhile. Waits for the agent's row where another
   * transaction holds it; who holds no lease does not do so for ever. `write` is that of an earlier try, with others.
   */
  async appendEncoded(tenant: string, part: EncodedPart, write: Write): Promise<AppendOutcome> {
    for (let attempt = 0; ; attempt += 1) {
      const [tried = { outcome: "LOCKED" }] = await this.tryAppend(tenant, [part], write);
      if (tried.outcome !== "LOCKED") return tried;
      if (part.fence === null && attempt === FIRST_WAITS.length)
        throw new StorageUnavailable(`the row of agent ${part.agentId} is locked by others`);
      await delay(FIRST_WAITS[attempt] ?? LOCKED_RETRY);
    }
  }

  /** Tries to append events of several agents of one tenant and of one server's leases, each of which stands for itself. */
  async tryAppend(tenant: string, parts: readonly EncodedPart[], write: Write): Promise<TriedAppend[]> {
    const encoded = parts.map((part) => part.events);
    const owners = parts.flatMap((part, index) => part.events.map(() => index + 1));
    const isHeld = parts.every(({ fence }) => fence !== null);
    const owner = parts.find(({ fence }) => fence !== null)?.fence?.owner ?? null;
    const rows = await this.#tries.untilKnown(tenant, isHeld, write, () =>
      this.#write(tenant, APPEND, [
        tenant,
        write.id,
        write.isLost,
        owner,
        parts.map((part) => part.agentId),
        parts.map((part) => part.fence?.epoch ?? null),
        owners,
        ...columns(encoded.flat()),
      ]),
    );
    const placed = new Map(rows.map((row) => [row.agent, row]));
    let position = Math.min(...rows.flatMap((row) => (row.fenced === false ? [Number(row.base_position)] : [])));
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

  /** True while a commit of the tenant is under way on this server. */
  isCommitting(tenant: string): boolean {
    return this.#committing.has(tenant);
  }

  /** Changes rows of one agent and appends the events that report it, or does neither: for others than its owner. */
  async commit(tenant: string, part: AgentEvents, change: OutsideChange, write = newWrite()): Promise<OutsideOutcome> {
    const written = { composed: null, encoded: () => encodeChange(change) };
    const outcome = await this.#commit(tenant, part, written, "wake" in change, write);
    if (outcome.outcome === "FENCED") throw new Error("who holds no lease cannot be fenced");
    return outcome;
  }

  /** The same for the owner of the agent, under its lease. */
  async commitHeld(tenant: string, part: HeldEvents, change: OwnerChange): Promise<OwnerOutcome> {
    const composed = this.#commits.keepsPrepared ? composeCommit(change) : null;
    const outcome = await this.#commit(tenant, part, { composed, encoded: () => encodeChange(change) }, false, newWrite());
    if (outcome.outcome === "KEY_USED") throw new Error("an owner uses no idempotency keys");
    return outcome;
  }

  /** Changes rows of the tenant that are no agent's, and appends the events that report it, or does neither. */
  async commitTenant(
    tenant: string,
    events: readonly TenantEventDraft[],
    change: TenantChange,
    tried = newWrite(),
  ): Promise<TenantOutcome> {
    await this.begin(tenant);
    const write: TenantCommitServices["write"] = (of, statement, values) => this.#write(of, statement, values);
    const announce = (placed: readonly TimelineEvent[]): void => this.#announce(tenant, placed, false);
    return commitTenant({ tries: this.#tries, write, announce }, tenant, events, change, tried);
  }

  async #commit(
    tenant: string,
    part: AgentEvents | HeldEvents,
    change: WrittenChange,
    isSignal: boolean,
    write: Write,
  ): Promise<OwnerOutcome | OutsideOutcome> {
    const services: AgentCommitServices = {
      tries: this.#tries,
      write: (of, statement, values) => this.#write(of, statement, values),
      inTurn: (agentId, work) => this.#turnsOfAgent.run(agentId, work),
      announce: (events) => this.#announce(tenant, events, isSignal),
    };
    this.#committing.set(tenant, (this.#committing.get(tenant) ?? 0) + 1);
    try {
      return await commitAgent(services, tenant, encodePart(part), change, write);
    } finally {
      const left = (this.#committing.get(tenant) ?? 0) - 1;
      if (left > 0) this.#committing.set(tenant, left);
      else this.#committing.delete(tenant);
    }
  }

  /** The scope's events after `after`, in order, bounded in rows, positions and bytes; one statement, one snapshot. */
  async read(scope: Scope, after: number): Promise<LogPage> {
    await this.begin(scope.tenant);
    return this.#within(scope, await readPage(this.#reads, scope, after));
  }

  /**
   * The PERMISSION_REQUIRED events of open approvals of the scope after `after`, up to `moment` (null: now), in order.
   * The page covers `moment` when these were the last.
   */
  async readOpen(scope: Scope, after: number, moment: number | null): Promise<LogPage> {
    await this.begin(scope.tenant);
    return this.#within(scope, await readOpenPage(this.#reads, scope, after, moment));
  }

  /** The end of the tenant's log now. */
  async head(tenant: string): Promise<LogHead> {
    await this.begin(tenant);
    return readHead(this.#reads, tenant);
  }

  /** The last position of each of the tenants' logs. */
  positions(tenants: readonly string[]): Promise<Map<string, number>> {
    return readPositions(this.#reads, tenants);
  }

  /**
   * Compares the newest events that this server knows with those that the database has, after a connection was lost: it may
   * lead to another server now. Logs that lost commits are marked. Gives their tenants.
   */
  compareNewest(): Promise<readonly string[]> {
    return this.#newest.compare(this.#reads);
  }

  /** Makes sure that the tenant has a log. */
  begin(tenant: string): Promise<void> {
    return this.#beginnings.begin(tenant);
  }

  #write<Row, Values extends readonly unknown[]>(
    tenant: string,
    statement: Statement<Row, Values>,
    values: Values,
  ): Promise<Row[]> {
    return forTenant(tenant, () => this.#commits.query(statement, values));
  }

  /** Of what was read, the events of the scope. */
  #within(scope: Scope, { head, events, covered, leftOut }: FoundPage): LogPage {
    this.#unknownEvents += leftOut;
    const last = events.at(-1);
    this.#saw(last);
    return { head, events: events.filter((event) => inScope(scope, event)), covered, outage: null };
  }

  /** The newest event is remembered, save from a database that may be another one: it is compared first. */
  #saw(newest: TimelineEvent | undefined): void {
    if (newest !== undefined && !this.#commits.outages.isSuspected) this.#newest.saw(newest);
  }

  #announce(tenant: string, events: readonly TimelineEvent[], isSignal: boolean): void {
    const last = events.at(-1);
    this.#saw(last);
    // What listeners begin goes on when the reader whose command this was has left.
    if (events.length > 0) forNobody(() => this.#listeners.forEach((listener) => listener(tenant, events, isSignal)));
  }
}
