import { setTimeout as delay } from "node:timers/promises";
import { patient, type Outage } from "../db/outage.ts";
import type { Ring } from "../events/bell.ts";
import { Deadline } from "../lib/deadline.ts";
import { withCause } from "../lib/text.ts";
import { expireApprovals } from "./expiry.ts";
import { reportOutage } from "./outage-report.ts";
import type { Hold } from "./hold.ts";
import {
  claim,
  endBeyond,
  leasesBeyond,
  release,
  renew,
  runOutAgents,
  signals,
  stillHeld,
  unlockedAgents,
  unownedAgents,
  type BeyondLease,
  type Free,
  type Lease,
} from "./lease.ts";
import { Loop } from "./loop.ts";
import type { AgentParts } from "./parts.ts";

/** How often the node looks for agents that nobody advances, in ms, while the bell is heard and while it is not. */
const SWEEP_MS = { heard: 1_000, unheard: 250 };
/** How often the node looks for approvals that nobody decided in time, in ms. */
const EXPIRY_MS = 1_000;
/** How long running tools may go on when the node closes, in ms. */
const CLOSING_MS = 8_000;

/** When leases are asked for that could not be renewed since others hold their rows, in ms after the try before. */
const LOCKED_MS = [0, 20, 100, 500];

/** The time between two tries for the lease of one agent whose row others hold for long, in ms. */
const LOCKED_AGAIN_MS = 250;

/** The most agents that are claimed at once. */
const CLAIMED = 100;

type Held = { readonly loop: Loop; readonly ended: Promise<void>; signal: number };

/**
 * Advances agents on this node: claims those that are runnable and free, renews their leases, and lets each loop
 * know when something arrived for it. A waiting agent is not here: it is only rows (invariant 8).
 */
export class Runner {
  readonly #parts: AgentParts;
  readonly #held = new Map<string, Held>();
  readonly #closing = new AbortController();
  readonly #ends: readonly (() => void)[];
  readonly #background: Promise<unknown>;
  /** Aborts when no agent is held any more, after the node began to close. */
  readonly #released = new AbortController();
  readonly #renewing: Promise<void>;
  readonly #pending = new Set<Promise<void>>();
  #sweeping: Promise<void> | null = null;
  #isStale = false;
  #isAllStale = false;
  /** The number of agents that are being claimed. */
  #claiming = 0;
  /** The tenants that were signalled since the last look. */
  readonly #rung = new Set<string>();
  /** The outage that goes on, with the agents that this node has held during it. */
  #outage: { readonly outage: Outage; readonly loops: readonly Loop[] } | null = null;
  /** The time of `performance.now()` from when on agents are claimed whose lease has run out. */
  #runOutFrom = 0;
  /** Agents whose lease had run out at the last look, and whose rows others held. */
  #lockedBefore: readonly string[] = [];
  /** Agents whose leases are renewed as soon as none of their own writes is under way. */
  readonly #renewingLater = new Set<Hold>();
  /** Leases that end later than any can, with when this node first saw each. */
  readonly #beyond = new Map<string, number>();

  constructor(parts: AgentParts) {
    const { bell, sql } = parts;
    this.#parts = parts;
    this.#ends = [
      bell.listen((rings) => this.#hear(rings)),
      sql.outages.first(() => this.#comeBack()),
      sql.outages.onChange(() => this.#changed()),
    ];
    this.#background = Promise.all([
      this.#every(
        () => (bell.isConnected() ? SWEEP_MS.heard : SWEEP_MS.unheard),
        () => this.#sweepAll(),
      ),
      this.#every(
        () => EXPIRY_MS,
        () => this.#expire(),
      ),
    ]);
    // While the node closes, running tools may finish under leases that go on.
    this.#renewing = this.#every(
      () => parts.leaseTimes.renewMs,
      () => this.#renew(),
      this.#released.signal,
    );
  }

  /** How many agents this node holds now. */
  get size(): number {
    return this.#held.size;
  }

  /** Something was committed for the agent on this node: its owner, here or elsewhere, goes on. Never rejects. */
  async wake(agentId: string): Promise<void> {
    const held = this.#held.get(agentId);
    if (held !== undefined) held.loop.signalled();
    else await this.#tracked(this.#claim([agentId]));
  }

  /** Ends within CLOSING_MS: running tools may finish, then the agents are given back. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#ends.forEach((end) => end());
    const held = [...this.#held.values()];
    held.forEach(({ loop }) => loop.stop());
    const timer = setTimeout(() => {
      held.forEach(({ loop }) => loop.hold.lose());
      this.#parts.sql.outages.giveUp();
    }, CLOSING_MS);
    await Promise.all(held.map(({ ended }) => ended));
    clearTimeout(timer);
    this.#released.abort();
    this.#parts.sql.outages.giveUp();
    await Promise.all([this.#background, this.#renewing]);
    await Promise.all(this.#pending);
  }

  /** Text of others is nothing to look for. */
  #hear(rings: readonly Ring[]): void {
    if (rings.length === 0) return void this.#sweepAll();
    const tenants = rings.flatMap(({ tenant, isSignal }) => (isSignal ? [tenant] : []));
    if (tenants.length > 0) void this.#sweep(tenants);
  }

  /** Once in a while everything is looked for: rings may be lost, and leases run out without one. */
  #sweepAll(): Promise<void> {
    this.#isAllStale = true;
    return this.#sweep([]);
  }

  /**
   * Takes agents that nobody holds and that could go on, and lets the own ones of the tenants look that were signalled
   * elsewhere. Rings that come meanwhile share one more look.
   */
  #sweep(tenants: readonly string[]): Promise<void> {
    this.#isStale = true;
    for (const tenant of tenants) this.#rung.add(tenant);
    this.#sweeping ??= this.#tracked(this.#lookOn()).finally(() => {
      this.#sweeping = null;
    });
    return this.#sweeping;
  }

  async #lookOn(): Promise<void> {
    while (this.#isStale) {
      const tenants = this.#isAllStale ? null : [...this.#rung];
      this.#isStale = false;
      this.#isAllStale = false;
      this.#rung.clear();
      await this.#look(tenants);
    }
  }

  /** What the end of the runner waits for. */
  async #tracked(work: Promise<void>): Promise<void> {
    this.#pending.add(work);
    try {
      await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  /** Looks for the tenants that were rung, or, for null, for everything. */
  async #look(tenants: readonly string[] | null): Promise<void> {
    if (this.#closing.signal.aborted || this.#outage !== null) return;
    const { leases, node } = this.#parts;
    try {
      await this.#claimSome((most) => unownedAgents(leases, most));
      if (tenants === null && this.#free() === "RUN_OUT") await this.#claimSome((most) => this.#runOut(most));
      if (this.#held.size === 0) return;
      for (const [agentId, signal] of await signals(leases, node, tenants)) {
        const held = this.#held.get(agentId);
        if (held === undefined || held.signal === signal) continue;
        held.signal = signal;
        held.loop.signalled();
      }
    } catch (error) {
      this.#parts.logger.warn(`agents could not be looked for (${withCause(error)}); trying again`);
    }
  }

  /**
   * Agents whose lease has run out. One whose row somebody else holds cannot be renewed either: when the row is free, its
   * owner has the time between two looks to do so.
   */
  async #runOut(most: number): Promise<readonly string[]> {
    const { leases } = this.#parts;
    const ids = await runOutAgents(leases, most);
    if (ids.length === 0) return [];
    const unlocked = await unlockedAgents(leases, ids);
    const wereLocked = new Set(this.#lockedBefore);
    this.#lockedBefore = ids.filter((id) => !unlocked.has(id));
    return ids.filter((id) => unlocked.has(id) && !wereLocked.has(id));
  }

  /** Claims what is found, as far as there is room. What this node holds already is not lost to it yet. */
  async #claimSome(find: (most: number) => Promise<readonly string[]>): Promise<void> {
    const most = this.#capacity();
    if (most > 0) await this.#claim((await find(most)).filter((id) => !this.#held.has(id)));
  }

  /** The number of agents that this node may claim at once now. */
  #capacity(): number {
    return Math.min(CLAIMED, Math.max(0, this.#parts.agentLimit - this.#held.size - this.#claiming));
  }

  #free(): Free {
    return performance.now() < this.#runOutFrom ? "GIVEN_BACK" : "RUN_OUT";
  }

  async #claim(agentIds: readonly string[]): Promise<void> {
    const claimed = agentIds.slice(0, this.#capacity());
    if (claimed.length === 0 || this.#closing.signal.aborted) return;
    this.#claiming += claimed.length;
    const startUntil = new Deadline(this.#parts.leaseTimes.startMs);
    try {
      for (const lease of await claim(this.#parts.leases, this.#parts.node, claimed, this.#parts.leaseTimes, this.#free())) {
        if (this.#closing.signal.aborted) await release(this.#parts.leases, lease);
        else this.#hold(lease, startUntil);
      }
    } catch (error) {
      this.#parts.logger.warn(`an agent could not be claimed (${withCause(error)}); the next sweep tries again`);
    } finally {
      this.#claiming -= claimed.length;
    }
  }

  #hold(lease: Lease, startUntil: Deadline): void {
    // A new epoch on this node ends what it still does under an older one.
    this.#held.get(lease.agentId)?.loop.hold.lose();
    const loop = new Loop(
      { ...this.#parts, sql: patient(this.#parts.sql), leases: patient(this.#parts.leases) },
      lease,
      startUntil,
    );
    const ended = loop.run().then((ending) => {
      if (this.#held.get(lease.agentId)?.loop !== loop) return;
      const wasFull = this.#capacity() === 0;
      this.#held.delete(lease.agentId);
      // What there was no place for may go on now.
      if (wasFull) void this.#sweep([]);
      // What arrived between the parking and now found this loop and could not wake it.
      if (ending === "parked") void this.#tracked(this.#claim([lease.agentId]));
    });
    this.#held.set(lease.agentId, { loop, ended: this.#tracked(ended), signal: -1 });
  }

  async #expire(): Promise<void> {
    if (this.#outage !== null) return;
    try {
      for (const agentId of await expireApprovals(this.#parts)) await this.wake(agentId);
    } catch (error) {
      this.#parts.logger.warn(`approvals could not be looked for (${withCause(error)}); trying again`);
    }
  }

  async #renew(): Promise<void> {
    if (this.#outage !== null) return;
    try {
      await this.#renewHeld();
      await this.#endBeyond();
    } catch (error) {
      this.#parts.logger.warn(`leases could not be renewed (${withCause(error)}); trying again`);
    }
  }

  /**
   * Renews the leases that are still this node's; the others are lost. A row that somebody else holds for a moment is asked
   * for again; one that is held for longer is this node's until another takes it, but nothing new starts under it.
   */
  async #renewHeld(): Promise<void> {
    let left = [...this.#held.values()].map(({ loop }) => loop.hold);
    for (const waitMs of LOCKED_MS) {
      if (left.length === 0) return;
      await delay(waitMs);
      left = await this.#renewSome(left);
    }
    const { leases, node } = this.#parts;
    const held = await stillHeld(
      leases,
      node,
      left.map(({ lease }) => lease),
    );
    for (const hold of left) {
      if (held.has(hold.lease.agentId)) void this.#tracked(this.#renewBetweenWrites(hold));
      else hold.lose();
    }
  }

  /**
   * In a busy tenant an agent's own writes hold its row most of the time, as each waits for the log. A row that others hold
   * is asked for again and again, so that its owner is the first to have it.
   */
  async #renewBetweenWrites(hold: Hold): Promise<void> {
    if (this.#renewingLater.has(hold)) return;
    this.#renewingLater.add(hold);
    try {
      while (!hold.lost.aborted && this.#outage === null) {
        const left = await hold.betweenWrites(() => this.#renewSome([hold]));
        if (left.length === 0) return;
        await delay(LOCKED_AGAIN_MS);
      }
    } catch (error) {
      this.#parts.logger.warn(`a lease could not be renewed (${withCause(error)}); trying again`);
    } finally {
      this.#renewingLater.delete(hold);
    }
  }

  /**
   * The database's clock was set back: what was renewed before ends later than any lease can. One whose owner has not
   * renewed it for as long as a lease lasts has run out.
   */
  async #endBeyond(): Promise<void> {
    const { leases, leaseTimes } = this.#parts;
    const beyond = await leasesBeyond(leases, leaseTimes);
    const keys = new Set(beyond.map(keyOf));
    for (const key of this.#beyond.keys()) if (!keys.has(key)) this.#beyond.delete(key);
    const now = performance.now();
    for (const key of keys) if (!this.#beyond.has(key)) this.#beyond.set(key, now);
    const ended = beyond.filter((lease) => now - (this.#beyond.get(keyOf(lease)) ?? now) >= leaseTimes.ttlMs);
    if (ended.length === 0) return;
    this.#parts.logger.warn(`${ended.length} leases end later than any can: the database's clock was set back, and they end now`);
    await endBeyond(leases, ended);
  }

  /** Those of the holds whose leases could not be renewed. */
  async #renewSome(holds: readonly Hold[]): Promise<Hold[]> {
    const { leases, node, leaseTimes } = this.#parts;
    const startUntil = new Deadline(leaseTimes.startMs);
    const renewed = await renew(
      leases,
      node,
      holds.map(({ lease }) => lease),
      leaseTimes,
    );
    return holds.filter((hold) => {
      const isRenewed = renewed.has(hold.lease.agentId);
      if (isRenewed) hold.extend(startUntil);
      return !isRenewed;
    });
  }

  /**
   * The database is back: this node renews its leases before anything else is written, and claims none that has run out
   * until the other nodes had the time to do the same.
   */
  async #comeBack(): Promise<void> {
    this.#runOutFrom = performance.now() + this.#parts.leaseTimes.ttlMs;
    await this.#renewHeld();
  }

  #changed(): void {
    const { current } = this.#parts.sql.outages;
    const before = this.#outage;
    this.#outage = current === null ? null : { outage: current, loops: [...this.#held.values()].map(({ loop }) => loop) };
    if (current !== null)
      this.#parts.logger.warn(`the database does not answer (${current.detail}): what happens is kept until it does`);
    else if (before !== null) {
      this.#parts.logger.warn(
        `the database answers again, after ${Math.round((Date.now() - before.outage.since.getTime()) / 1_000)} s`,
      );
      for (const { hold } of before.loops) void this.#tracked(reportOutage(this.#parts, hold, before.outage));
    }
  }

  async #every(pauseMs: () => number, task: () => Promise<void>, signal = this.#closing.signal): Promise<void> {
    while (!signal.aborted) {
      await delay(pauseMs(), undefined, { signal }).catch(() => {});
      if (!signal.aborted) await task();
    }
  }
}

/** A lease as it stands: with another epoch or another end it is another. */
function keyOf({ id, epoch, until }: BeyondLease): string {
  return `${id} ${epoch} ${until}`;
}
