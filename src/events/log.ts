import { setTimeout as delay } from "node:timers/promises";
import type { OutsideChange, OwnerChange } from "../db/commit/change.ts";
import type { TenantChange } from "../db/commit/tenant-change.ts";
import { encodeChange } from "../db/commit/parts.ts";
import { composeCommit } from "../db/commit/composed-commit.ts";
import type { Sql, Statement } from "../db/sql.ts";
import { StorageUnavailable } from "../db/storage-error.ts";
import { detached, forTenant } from "../db/connections/reader-limits.ts";
import { KeyedSemaphore } from "../lib/keyed-semaphore.ts";
import { commitAgent, type AgentCommitServices, type WrittenChange, commitTenant, type TenantCommitServices } from "./commits.ts";
import {
  columns,
  encodePart,
  type EventColumns,
  placedEvent,
  type AgentEvents,
  type EncodedPart,
  type FencedEvents,
  type AppendOutcome,
  type OutsideOutcome,
  type OwnerOutcome,
  type TenantOutcome,
  type TriedAppend,
  FIRST_WAITS,
  newWrite,
  WriteTries,
  type Write,
} from "./write.ts";
import { type LogHead, inScope, type Scope } from "./cursor.ts";
import type { TenantEventDraft, TimelineEvent } from "./event.ts";
import {
  areThere,
  readHead,
  readOpenPage,
  readPage,
  readPositions,
  type FoundPage,
  type LogPage,
  type Positions,
  type StorageOutage,
} from "./log-page.ts";
import { LogBeginnings } from "./log-beginnings.ts";
import { NewestEvents } from "./newest-events.ts";
import { WAITING_LIMITS, WaitingEvents, type WaitingLimits } from "./waiting-events.ts";

export type CommitListener = (tenant: string, events: readonly TimelineEvent[], isSignal: boolean) => void;

const COMMANDS_OF_AGENT = 2;
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
  text: "SELECT agent, fenced, base_seq, base_position, ancestors FROM append_events($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
};
type Placement = {
  agent: string;
  fenced: boolean | null;
  base_seq: number;
  base_position: string | number;
  ancestors: readonly string[] | null;
};

/**
 * The event log of all tenants: one durable sequence of events a tenant, gap-free and in commit order (invariants 1 to
 * 4). Every write is a single statement with an id. If its answer is lost, the id is looked up under the locks before
 * the write is repeated.
 */
export class EventLog {
  readonly waiting: WaitingEvents;
  readonly #commits: Sql;
  readonly #reads: Sql;
  readonly #beginnings: LogBeginnings;
  /** A row in high demand occupies only a few connections (invariant 13). */
  readonly #turnsOfAgent = new KeyedSemaphore(COMMANDS_OF_AGENT);
  readonly #committing = new Map<string, number>();
  #unknownEvents = 0;
  readonly #newest = new NewestEvents();
  readonly #tries: WriteTries;
  readonly #listeners = new Set<CommitListener>();
  readonly #dueListeners = new Set<() => void>();

  /** `commits` carries only commits and appends; `reads` carries everything else, so that no commit waits for it. */
  constructor(commits: Sql, limits: WaitingLimits = WAITING_LIMITS, reads: Sql = commits) {
    this.#commits = commits;
    this.#reads = reads;
    this.#beginnings = new LogBeginnings(commits);
    this.#tries = new WriteTries(commits.outages);
    this.waiting = new WaitingEvents(limits);
  }

  get outage(): StorageOutage | null {
    const { current } = this.#commits.outages;
    return current === null ? null : { since: current.since, bufferedEvents: this.waiting.events };
  }

  /** The number of events left out of reads because a newer version wrote their kind: cursors pass them. */
  get unknownEvents(): number {
    return this.#unknownEvents;
  }

  get retries(): number {
    return this.#tries.count;
  }

  /**
   * Calls the listener, at most every 10 s, with the database's answer to a write under long retry, and the ms since
   * its first try.
   */
  onLongRetry(listener: (problem: string, sinceMs: number) => void): void {
    this.#tries.onLong(listener);
  }

  /** Resolves when the database answers. Rejects when this server has given up waiting for it. */
  outageOver(): Promise<void> {
    return this.#commits.outages.over();
  }

  onOutage(listener: () => void): () => void {
    return this.#commits.outages.onChange(listener);
  }

  /** Calls the listener with this server's commits, in the order of their answers. */
  onCommitted(listener: CommitListener): void {
    this.#listeners.add(listener);
  }

  /** Calls the listener after a commit of this server that may have made a wait due, or given one a time. */
  onDue(listener: () => void): void {
    this.#dueListeners.add(listener);
  }

  onBegun(listener: (tenant: string) => void): void {
    this.#beginnings.onBegun(listener);
  }

  /** Appends events of several agents of one tenant. A fenced agent's events are dropped; the others commit. */
  async append(tenant: string, parts: readonly (AgentEvents | FencedEvents)[]): Promise<AppendOutcome[]> {
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
   * Appends the events of one agent, which has no other append under way. Waits for a locked row; without a lease only
   * for a limited time. `write` is that of an earlier, joint try.
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
        placedEvent(
          tenant,
          { ...part, ancestors: place.ancestors ?? [] },
          event,
          position + index + 1,
          place.base_seq + index + 1,
        ),
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

  isCommitting(tenant: string): boolean {
    return this.#committing.has(tenant);
  }

  /** Changes rows of one agent and appends its events, or neither: for writers other than its owner. */
  async commit(tenant: string, part: AgentEvents, change: OutsideChange, write = newWrite()): Promise<OutsideOutcome> {
    const written = { composed: null, encoded: () => encodeChange(change) };
    const outcome = await this.#commit(tenant, part, written, "wake" in change, write);
    this.#rouse(change);
    if (outcome.outcome === "FENCED") throw new Error("who holds no lease cannot be fenced");
    return outcome;
  }

  async commitHeld(tenant: string, part: FencedEvents, change: OwnerChange): Promise<OwnerOutcome> {
    const composed = this.#commits.keepsPrepared ? composeCommit(change) : null;
    const outcome = await this.#commit(tenant, part, { composed, encoded: () => encodeChange(change) }, false, newWrite());
    this.#rouse(change);
    if (outcome.outcome === "KEY_USED") throw new Error("an owner uses no idempotency keys");
    return outcome;
  }

  /** Changes rows of the tenant that belong to no agent, and appends its events, or neither. */
  async commitTenant(
    tenant: string,
    events: readonly TenantEventDraft[],
    change: TenantChange,
    tried = newWrite(),
  ): Promise<TenantOutcome> {
    await this.begin(tenant);
    const write: TenantCommitServices["write"] = (of, statement, values) => this.#write(of, statement, values);
    const announce = (placed: readonly TimelineEvent[]): void => this.#announce(tenant, placed, false);
    const outcome = await commitTenant({ tries: this.#tries, write, announce }, tenant, events, change, tried);
    this.#rouse(change);
    return outcome;
  }

  #rouse(change: OutsideChange | OwnerChange | TenantChange): void {
    const isDue =
      change.waits?.some(({ due }) => due !== null) ||
      ("returns" in change && change.returns) ||
      "schedulesMoved" in change ||
      "watch" in change ||
      "budgetRaise" in change ||
      "setBudget" in change ||
      "revokeBudget" in change ||
      ("archive" in change && change.archive.at === null) ||
      ("transitions" in change && change.transitions?.some(({ from }) => from === "WAITING"));
    if (isDue ?? false) this.#dueListeners.forEach((listener) => listener());
  }

  async #commit(
    tenant: string,
    part: AgentEvents | FencedEvents,
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

  async read(scope: Scope, after: number): Promise<LogPage> {
    await this.begin(scope.tenant);
    return this.#within(scope, await readPage(this.#reads, scope, after));
  }

  async readOpen(scope: Scope, after: number, moment: number | null): Promise<LogPage> {
    await this.begin(scope.tenant);
    return this.#within(scope, await readOpenPage(this.#reads, scope, after, moment));
  }

  async head(tenant: string): Promise<LogHead> {
    await this.begin(tenant);
    return readHead(this.#reads, tenant);
  }

  positions(tenants: readonly string[]): Promise<readonly Positions[]> {
    return readPositions(this.#reads, tenants);
  }

  areThere(tenant: string, agentIds: readonly string[]): Promise<boolean> {
    return areThere(this.#reads, tenant, agentIds);
  }

  /** Compares the newest known events with the database after a lost connection. Marks logs that lost commits: their tenants. */
  compareNewest(): Promise<readonly string[]> {
    return this.#newest.compare(this.#reads);
  }

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

  #within(scope: Scope, { head, events, covered, leftOut }: FoundPage): LogPage {
    this.#unknownEvents += leftOut;
    const last = events.at(-1);
    this.#saw(last);
    return { head, events: events.filter((event) => inScope(scope, event)), covered, outage: null };
  }

  /** The newest event is remembered, unless the database may be another one: it is compared first. */
  #saw(newest: TimelineEvent | undefined): void {
    if (newest !== undefined && !this.#commits.outages.isSuspected) this.#newest.saw(newest);
  }

  #announce(tenant: string, events: readonly TimelineEvent[], isSignal: boolean): void {
    const last = events.at(-1);
    this.#saw(last);
    // Listeners run detached from the reader whose command this was, who may leave.
    if (events.length > 0) detached(() => this.#listeners.forEach((listener) => listener(tenant, events, isSignal)));
  }
}
