import { withReader } from "../../db/connections/reader-limits.ts";
import { type LogHead, inScope, scopeKey, type Scope } from "../cursor.ts";
import { CHANNELS, type TimelineEvent } from "../event.ts";
import type { LogPage } from "../log-page.ts";
import type { EventLog } from "../log.ts";
import { Rerun } from "../../lib/rerun.ts";

/** The room of a tail, in bytes. Half of it is dropped when it is full. */
const KEPT_BYTES = 16 * 1024 * 1024;
/** The memory of an event without its payload's text, in bytes: its objects, date and strings. */
const EVENT_BYTES = 600;
const PAGE = { events: 500, bytes: 256 * 1024 };
/** A waiting feed without events is woken after this many positions, so that its cursor moves. */
const SKIPPED_POSITIONS = 10_000;
const SKIP_CHECK = 1_000;

export type TailBudget = {
  moved(tail: Tail, bytes: number): void;
  used(tail: Tail): void;
};

type Waiter = { readonly after: number; readonly wake: (page: LogPage) => void };
type Group = { readonly scope: Scope; readonly waiters: Set<Waiter> };

/**
 * The newest events of one tenant in memory: all of them from `floor` to `head`, without a hole. It grows by the
 * server's own commits and by reads of the log, one at a time for any number of followers. Feeds at the head wait here,
 * and are woken only for events of their scope (invariants 2 and 10).
 */
export class Tail {
  readonly #log: EventLog;
  readonly #budget: TailBudget;
  readonly #everything: Scope;
  #head: LogHead;
  #floor: number;
  #events: TimelineEvent[] = [];
  #bytes = 0;
  readonly #ahead = new Map<number, readonly TimelineEvent[]>();
  /** By owner of the events (an agent, those below one, a creator, or all), and by scope. */
  readonly #waiters = new Map<string, Map<string, Group>>();
  #isClosed = false;
  readonly #reads = new Map<string, Promise<LogPage>>();
  readonly #reading = new Rerun(() => this.#readOn());

  constructor(log: EventLog, head: LogHead, budget: TailBudget) {
    this.#log = log;
    this.#budget = budget;
    this.#head = head;
    this.#floor = head.position;
    this.#everything = {
      tenant: head.tenant,
      agentIds: null,
      withDescendants: false,
      createdBy: null,
      channels: CHANNELS,
      privateEventsOf: "EVERYBODY",
      kinds: null,
    };
  }

  get head(): LogHead {
    return this.#head;
  }

  /** Takes events that this server committed. If they do not follow the head, the hole is read from the log. */
  offer(events: readonly TimelineEvent[]): void {
    const [first] = events;
    if (first === undefined || first.position <= this.#head.position) return;
    this.#ahead.set(first.position - 1, events);
    this.#extend(this.#takeAhead(this.#head.position));
    // If it cannot be read, the poll will find the log ahead of the tail.
    if (this.#ahead.size > 0) this.refresh().catch(() => {});
  }

  /** Reads the log up to its head. Calls during a read share one further read. */
  refresh(): Promise<void> {
    return this.#reading.request();
  }

  /** A page of the scope after `after`: from memory if it is covered, else from the log, among the tenant's readers. */
  async read(scope: Scope, after: number): Promise<LogPage> {
    const isCovered = after >= this.#floor && after <= this.#head.position;
    if (!isCovered) return this.#readLog(scope, after);
    this.#budget.used(this);
    return this.#pageOf(this.#after(scope, after), Math.max(after, this.#head.position));
  }

  /** Shares an earlier read only if it did not reach the head, which may have moved since. */
  async #readLog(scope: Scope, after: number): Promise<LogPage> {
    const key = `${after} ${scopeKey(scope)}`;
    const underway = this.#reads.get(key);
    if (underway !== undefined) {
      const page = await underway;
      if (page.covered < page.head.position) return page;
    }
    return this.#reads.get(key) ?? this.#beginRead(key, scope, after);
  }

  #beginRead(key: string, scope: Scope, after: number): Promise<LogPage> {
    const read = withReader({ tenant: scope.tenant, signal: null }, () => this.#log.read(scope, after)).finally(() =>
      this.#reads.delete(key),
    );
    this.#reads.set(key, read);
    return read;
  }

  /**
   * The next page for a feed at the head: immediately if there is one, else at the next event of its scope. Empty after
   * SKIPPED_POSITIONS or `patience` ms, or when `signal` aborts. A feed that has read the log itself may be ahead of
   * the tail: then only later events count.
   */
  next(scope: Scope, after: number, patience: number, signal: AbortSignal): Promise<LogPage> {
    if (this.#head.position > after || signal.aborted) return this.read(scope, after);
    return new Promise((resolve) => {
      const settle = (page: LogPage): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#leave(scope, waiter);
        resolve(page);
      };
      const giveUp = (): void => settle(this.#emptyPage(after));
      const waiter: Waiter = { after, wake: settle };
      const timer = setTimeout(giveUp, patience);
      signal.addEventListener("abort", giveUp);
      this.#join(scope, waiter);
    });
  }

  wakeAll(): void {
    for (const groups of this.#waiters.values()) {
      for (const { waiters } of groups.values()) for (const waiter of waiters) waiter.wake(this.#emptyPage(waiter.after));
    }
  }

  #join(scope: Scope, waiter: Waiter): void {
    const key = scopeKey(scope);
    const owners = waiterKeysOf(scope);
    // One group, also for several agents: their events are one page.
    const group = this.#waiters.get(owners[0] ?? "")?.get(key) ?? { scope, waiters: new Set() };
    group.waiters.add(waiter);
    for (const whose of owners) {
      const groups = this.#waiters.get(whose) ?? new Map<string, Group>();
      groups.set(key, group);
      this.#waiters.set(whose, groups);
    }
  }

  #leave(scope: Scope, waiter: Waiter): void {
    const key = scopeKey(scope);
    for (const whose of waiterKeysOf(scope)) {
      const groups = this.#waiters.get(whose);
      const group = groups?.get(key);
      group?.waiters.delete(waiter);
      if (group?.waiters.size === 0) groups?.delete(key);
      if (groups?.size === 0) this.#waiters.delete(whose);
    }
  }

  async #readOn(): Promise<void> {
    const from = this.#head.position;
    const page = await this.#log.read(this.#everything, from);
    if (this.#isClosed) return;
    // Retention may have moved the log's floor: waiting feeds below it must learn that.
    this.#head = { ...page.head, position: this.#head.position };
    this.#forget(page.head.erased);
    const news = page.events.filter((event) => event.position > this.#head.position);
    if (page.covered - this.#head.position > news.length) this.#startAfter(page.covered, news);
    else this.#extend([...news, ...this.#takeAhead(Math.max(page.covered, this.#head.position))]);
    if (page.covered < page.head.position) void this.refresh();
  }

  #takeAhead(position: number): TimelineEvent[] {
    const joined: TimelineEvent[] = [];
    for (let end = position; ;) {
      const events = this.#ahead.get(end);
      if (events === undefined) break;
      this.#ahead.delete(end);
      joined.push(...events);
      end += events.length;
    }
    for (const after of this.#ahead.keys()) if (after < position) this.#ahead.delete(after);
    return joined;
  }

  #extend(events: readonly TimelineEvent[]): void {
    const last = events.at(-1);
    if (last === undefined) return;
    const before = this.#head.position;
    this.#events.push(...events);
    this.#head = { ...this.#head, position: last.position };
    this.#move(events.reduce((sum, event) => sum + heldBytes(event), 0));
    if (this.#bytes > KEPT_BYTES) this.#drop();
    const gone = events.flatMap((event) => (event.body.kind === "AGENT_DELETED" ? [event] : []));
    if (gone.length > 0) this.#takeDeleted(gone);
    this.#wake(events);
    if (Math.floor(before / SKIP_CHECK) !== Math.floor(last.position / SKIP_CHECK)) this.#wakeSkipped();
  }

  /** Events up to this position were erased since, or may have been. */
  #forget(erased: number): void {
    this.#dropFirst(Math.max(0, Math.min(erased - this.#floor, this.#events.length)));
  }

  /** Forgets the events of deleted agents, and wakes their feeds: the streams end. */
  #takeDeleted(gone: readonly TimelineEvent[]): void {
    const erased = Math.max(this.#head.erased, ...gone.map(({ position }) => position));
    this.#head = { ...this.#head, erased };
    this.#forget(erased);
    for (const { body } of gone)
      for (const id of body.kind === "AGENT_DELETED" ? body.agentIds : [])
        for (const whose of [`agent ${id}`, `below ${id}`])
          for (const { waiters } of this.#waiters.get(whose)?.values() ?? [])
            for (const waiter of waiters) waiter.wake(this.#emptyPage(waiter.after));
  }

  #dropFirst(count: number): void {
    const dropped = this.#events.slice(0, count);
    this.#events = this.#events.slice(count);
    this.#floor += count;
    this.#move(-dropped.reduce((sum, event) => sum + heldBytes(event), 0));
  }

  /** If the log has holes left by retention, events before their end are not kept in memory. */
  #startAfter(position: number, events: readonly TimelineEvent[]): void {
    this.#head = { ...this.#head, position };
    this.dropAll();
    this.#wake(events);
  }

  /** Without followers, nothing more is read or kept, also of a read under way. */
  close(): void {
    this.#isClosed = true;
    this.dropAll();
  }

  dropAll(): void {
    this.#events = [];
    this.#floor = this.#head.position;
    this.#move(-this.#bytes);
  }

  #move(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.moved(this, bytes);
  }

  #drop(): void {
    let count = 0;
    let freed = 0;
    for (const event of this.#events) {
      if (this.#bytes - freed <= KEPT_BYTES / 2) break;
      freed += heldBytes(event);
      count += 1;
    }
    this.#dropFirst(count);
  }

  #wake(events: readonly TimelineEvent[]): void {
    const found = new Map<Group, TimelineEvent[]>();
    for (const event of events) {
      for (const whose of ownersOf(event)) {
        const groups = this.#waiters.get(whose);
        for (const group of groups?.values() ?? []) {
          if (!inScope(group.scope, event)) continue;
          const own = found.get(group);
          if (own === undefined) found.set(group, [event]);
          else if (own.at(-1) !== event) own.push(event);
        }
      }
    }
    for (const [group, own] of found) {
      const page = this.#pageOf(own, this.#head.position);
      const first = own[0]?.position ?? 0;
      for (const waiter of group.waiters) {
        if (waiter.after >= first) this.#wakeAhead(waiter, own);
        else waiter.wake(page);
      }
    }
  }

  #wakeAhead(waiter: Waiter, own: readonly TimelineEvent[]): void {
    const events = own.filter((event) => event.position > waiter.after);
    if (events.length > 0) waiter.wake(this.#pageOf(events, this.#head.position));
  }

  #wakeSkipped(): void {
    for (const groups of this.#waiters.values()) {
      for (const { waiters } of groups.values()) {
        for (const waiter of waiters)
          if (this.#head.position - waiter.after >= SKIPPED_POSITIONS) waiter.wake(this.#emptyPage(waiter.after));
      }
    }
  }

  *#after(scope: Scope, after: number): Generator<TimelineEvent, void> {
    for (let index = after - this.#floor; index < this.#events.length; index += 1) {
      const event = this.#events[index];
      if (event !== undefined && inScope(scope, event)) yield event;
    }
  }

  /** The events that fit into a page, at least one. It covers `covered`, or the positions before the next event. */
  #pageOf(all: Iterable<TimelineEvent>, covered: number): LogPage {
    const events: TimelineEvent[] = [];
    let bytes = 0;
    for (const event of all) {
      bytes += event.bytes;
      if (events.length > 0 && (events.length === PAGE.events || bytes > PAGE.bytes))
        return { head: this.#head, events, covered: event.position - 1, outage: null };
      events.push(event);
    }
    return { head: this.#head, events, covered, outage: null };
  }

  #emptyPage(after: number): LogPage {
    return { head: this.#head, events: [], covered: Math.max(after, this.#head.position), outage: null };
  }
}

const EVERYBODY = "everybody";

function ownersOf({ agentId, createdBy, ancestors }: TimelineEvent): readonly string[] {
  return [`agent ${agentId}`, ...ancestors.map((id) => `below ${id}`), `creator ${createdBy}`, EVERYBODY];
}

const waiterKeys = new WeakMap<Scope, readonly string[]>();

function waiterKeysOf(scope: Scope): readonly string[] {
  const known = waiterKeys.get(scope);
  if (known !== undefined) return known;
  const { agentIds, withDescendants, createdBy } = scope;
  const found = agentIds?.flatMap((id) => (withDescendants ? [`agent ${id}`, `below ${id}`] : [`agent ${id}`])) ?? [
    createdBy === null ? EVERYBODY : `creator ${createdBy}`,
  ];
  waiterKeys.set(scope, found);
  return found;
}

function heldBytes({ bytes }: TimelineEvent): number {
  return bytes * 2 + EVENT_BYTES;
}
