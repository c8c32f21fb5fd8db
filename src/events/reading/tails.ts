import { every } from "../../lib/time.ts";
import { detached, withReader } from "../../db/connections/reader-limits.ts";
import type { Logger } from "../../telemetry/log.ts";
import { withCause } from "../../lib/text.ts";
import type { Bell } from "../bell/bell.ts";
import type { TimelineEvent } from "../event.ts";
import type { LogPage, StorageOutage } from "../log-page.ts";
import type { LogHead, Scope } from "../cursor.ts";
import type { EventLog } from "../log.ts";
import { TickBudget } from "./tick-budget.ts";
import { Tail, type TailBudget } from "./tail.ts";

/** The time between comparisons of the logs' positions with the tails', in ms, while the bell works and while it does not. */
const POLL_MS = { heard: 1_000, unheard: 250 };

const MOST_BYTES = 192 * 1024 * 1024;

type FollowedTail = { readonly tail: Promise<Tail>; feeds: number };

/**
 * The tails of the tenants that are followed on this server. Own commits, the bell, and one polling statement for all
 * of them (the bell may be lost) keep them up to date.
 */
export class Tails {
  readonly tickBudget = new TickBudget();
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #mostBytes: number;
  readonly #onShorter: () => Promise<void>;
  readonly #followed = new Map<string, FollowedTail>();
  /** The tails in order of use, the latest at the end, with their memory. */
  readonly #held = new Map<Tail, number>();
  #bytes = 0;
  readonly #budget: TailBudget = {
    moved: (tail, bytes) => this.#moved(tail, bytes),
    used: (tail) => this.#used(tail),
  };
  readonly #closing = new AbortController();
  readonly #ends: readonly (() => void)[];
  readonly #polling: Promise<void>;

  /** `onShorter` is called for a log that became shorter; all tails together hold at most `mostBytes`. */
  constructor(
    log: EventLog,
    bell: Bell,
    logger: Logger,
    onShorter: () => Promise<void> = async () => {},
    mostBytes = MOST_BYTES,
  ) {
    this.#onShorter = onShorter;
    this.#mostBytes = mostBytes;
    this.#log = log;
    this.#logger = logger;
    log.onCommitted((tenant, events) => this.#offer(tenant, events));
    this.#ends = [
      bell.listen((rings) => {
        const tenants = rings.length === 0 ? this.#followed.keys() : rings.map(({ tenant }) => tenant);
        for (const tenant of tenants) void this.#refresh(tenant);
      }),
      log.onOutage(() => this.#wakeAll()),
    ];
    this.#polling = every(
      {
        pauseMs: () => (bell.isConnected() ? POLL_MS.heard : POLL_MS.unheard),
        task: () => this.#poll(),
        onFailure: (error) => logger.warn(`the logs' positions could not be read (${withCause(error)}); trying again`),
      },
      this.#closing.signal,
    );
  }

  get feeds(): number {
    return [...this.#followed.values()].reduce((sum, { feeds }) => sum + feeds, 0);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The tenant's tail, followed until `release` was called as often as `keep`. */
  async keep(tenant: string): Promise<{ readonly tail: Tail; readonly release: () => void }> {
    // It stays for others when the first reader has left.
    const followed = this.#followed.get(tenant) ?? {
      tail: detached(() => this.#log.head(tenant).then((head) => new Tail(this.#log, head, this.#budget))),
      feeds: 0,
    };
    this.#followed.set(tenant, followed);
    followed.feeds += 1;
    const release = (): void => {
      followed.feeds -= 1;
      if (followed.feeds > 0 || this.#followed.get(tenant) !== followed) return;
      this.#followed.delete(tenant);
      void followed.tail.then(
        (tail) => tail.close(),
        () => {},
      );
    };
    try {
      const tail = await followed.tail;
      return { tail, release };
    } catch (error) {
      if (this.#followed.get(tenant) === followed) this.#followed.delete(tenant);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#ends.forEach((end) => end());
    await this.#polling;
  }

  get outage(): StorageOutage | null {
    return this.#log.outage;
  }

  /** Resolves when the database answers. Rejects when this server has given up waiting for it. */
  outageOver(): Promise<void> {
    return this.#log.outageOver();
  }

  readOpen(scope: Scope, after: number, moment: number | null): Promise<LogPage> {
    return withReader({ tenant: scope.tenant, signal: null }, () => this.#log.readOpen(scope, after, moment));
  }

  /** False if an agent that the scope names is gone. */
  async areThere({ tenant, agentIds }: Scope): Promise<boolean> {
    if (agentIds === null) return true;
    return withReader({ tenant, signal: null }, () => this.#log.areThere(tenant, agentIds));
  }

  /** If all tails hold too much, the least recently used are emptied: their feeds read the log. */
  #moved(tail: Tail, bytes: number): void {
    this.#bytes += bytes;
    const held = (this.#held.get(tail) ?? 0) + bytes;
    if (held === 0) this.#held.delete(tail);
    else this.#held.set(tail, held);
    while (this.#bytes > this.#mostBytes) {
      const [oldest] = this.#held.keys();
      if (oldest === undefined) return;
      oldest.dropAll();
    }
  }

  #used(tail: Tail): void {
    const held = this.#held.get(tail);
    if (held === undefined) return;
    this.#held.delete(tail);
    this.#held.set(tail, held);
  }

  #wakeAll(): void {
    for (const { tail } of this.#followed.values())
      tail.then(
        (followed) => followed.wakeAll(),
        () => {},
      );
  }

  #offer(tenant: string, events: readonly TimelineEvent[]): void {
    void this.#followed.get(tenant)?.tail.then(
      (tail) => tail.offer(events),
      () => {},
    );
  }

  async #refresh(tenant: string): Promise<void> {
    if (this.outage !== null) return;
    try {
      await (await this.#followed.get(tenant)?.tail)?.refresh();
    } catch (error) {
      this.#logger.warn(`the log of tenant ${tenant} could not be read (${withCause(error)}); the next poll tries again`);
    }
  }

  async #heads(): Promise<ReadonlyMap<string, LogHead>> {
    const tails = await Promise.allSettled([...this.#followed].map(async ([tenant, { tail }]) => [tenant, await tail] as const));
    return new Map(tails.flatMap((tail) => (tail.status === "fulfilled" ? [[tail.value[0], tail.value[1].head] as const] : [])));
  }

  async #poll(): Promise<void> {
    if (this.#followed.size === 0 || this.outage !== null) return;
    const before = await this.#heads();
    const positions = await this.#log.positions([...before.keys()]);
    for (const { tenant, position, erased } of positions) {
      const known = before.get(tenant);
      if (known !== undefined && (position > known.position || erased > known.erased)) void this.#refresh(tenant);
    }
    // A log never becomes shorter by itself.
    if (positions.some(({ tenant, position }) => position < (before.get(tenant)?.position ?? 0))) await this.#onShorter();
  }
}
