import type { Outage } from "../../db/outage.ts";
import { forTenant } from "../../db/connections/tenant-turns.ts";
import { retrying } from "../../db/retry-while-unavailable.ts";
import type { Ring } from "../../events/bell/bell.ts";
import { every } from "../../lib/every.ts";
import { Rerun } from "../../lib/rerun.ts";
import { withCause } from "../../lib/text.ts";
import { reportOutage } from "./outage-report.ts";
import {
  beginTerm,
  claim,
  lookForAgents,
  release,
  unlockedAgents,
  type AgentOfTenant,
  type Free,
  type Lease,
  type Term,
} from "./lease.ts";
import { Loop } from "./loop.ts";
import { LockedRows } from "./locked-rows.ts";
import type { ServerServices } from "./services.ts";
import { endOverdue } from "./overdue.ts";
import { Places } from "./places.ts";
import { Renewals } from "./renewals.ts";

/** The time between two looks for agents that nobody advances, in ms, while the bell is heard and while it is not. */
const SWEEP_MS = { heard: 1_000, unheard: 250 };
/** The time between two looks for what was not done in time, in ms. */
const OVERDUE_MS = 1_000;
/** The time between a renewal of leases that failed and the next, in ms. */
const RENEW_AGAIN_MS = 1_000;
/** The time for which running tools may go on when the server closes, in ms. */
const CLOSING_MS = 8_000;

/** The most agents that are claimed at once. */
const CLAIMED = 100;

/** An agent that this server advances. `isWanted`: something came for it that its loop may be too late for. */
type Held = { readonly loop: Loop; readonly ended: Promise<void>; signal: number | null; isWanted: boolean };

/**
 * Advances agents on this node: claims those that are runnable and free, renews their leases, and lets each loop
 * know when something arrived for it. A waiting agent is not here: it is only rows (invariant 8).
 */
export class Runner {
  readonly #services: ServerServices;
  readonly #held = new Map<string, Held>();
  readonly #closing = new AbortController();
  readonly #ends: readonly (() => void)[];
  readonly #background: Promise<unknown>;
  /** Aborts when the last agent was given back, after the server began to close. */
  readonly #released = new AbortController();
  readonly #renewing: Promise<void>;
  readonly #pending = new Set<Promise<void>>();
  readonly #sweeping = new Rerun(() => this.#sweepOnce());
  #isAllStale = false;
  /** Those of the agents that this server holds or is claiming. */
  readonly #places: Places;
  /** True if agents may wait for which there was no place at the last look, or since: the end of a loop asks for a look. */
  #isShort = false;
  /** True if a loop has ended since the last look began. */
  #hasEnded = false;
  /** How often a claim found no place for one of its agents. */
  #refusals = 0;
  /** The tenants that were signalled since the last sweep. */
  readonly #rung = new Set<string>();
  /** The outage that goes on, with the agents that this server has held during it. */
  #outage: { readonly outage: Outage; readonly beganAt: number; readonly loops: readonly Loop[] } | null = null;
  /** The time of `performance.now()` from when on agents are claimed whose lease has run out. */
  #runOutFrom = 0;
  readonly #lockedRows = new LockedRows();
  /** True if agents whose lease has run out may have found no place when they were last looked for. */
  #isRunOutDue = false;
  /** False if leases could not be renewed at the last try. */
  #hasRenewed = true;
  readonly #renewals: Renewals;

  constructor(services: ServerServices) {
    const { bell, sql } = services;
    this.#services = services;
    this.#places = new Places(services.agentLimit, services.hasSeveralTenants);
    this.#renewals = new Renewals(services, () => [...this.#held.values()].map(({ loop }) => loop.owner));
    this.#ends = [
      bell.listen((rings) => this.#hear(rings)),
      sql.outages.first(() => this.#comeBack()),
      sql.outages.onChange(() => this.#changed()),
    ];
    const failing = (what: string) => (error: unknown) => services.logger.warn(`${what} (${withCause(error)}); trying again`);
    this.#background = Promise.all([
      every(
        {
          pauseMs: () => (bell.isConnected() ? SWEEP_MS.heard : SWEEP_MS.unheard),
          // Looks may follow each other for long: the clock does not wait for the last of them.
          task: async () => void this.#sweepAll(),
          onFailure: failing("agents could not be looked for"),
        },
        this.#closing.signal,
      ),
      every(
        { pauseMs: () => OVERDUE_MS, task: () => this.#endOverdue(), onFailure: failing("what is overdue could not be ended") },
        this.#closing.signal,
      ),
    ]);
    // While the server closes, running tools may finish under leases that go on.
    this.#renewing = every(
      {
        pauseMs: () => (this.#hasRenewed ? services.leaseTimes.renewMs : Math.min(services.leaseTimes.renewMs, RENEW_AGAIN_MS)),
        task: () => this.#renew(),
        onFailure: failing("leases could not be renewed"),
      },
      this.#released.signal,
    );
  }

  /** The number of agents that this server holds now. */
  get size(): number {
    return this.#held.size;
  }

  /**
   * Something was committed for the agent on this node: its owner, here or elsewhere, goes on. An owner whose lease has run
   * out may be about to renew it: only a look takes its agent. Never rejects.
   */
  async wake(agent: AgentOfTenant): Promise<void> {
    const held = this.#held.get(agent.agentId);
    if (held === undefined) return this.#tracked(this.#claim([agent], "GIVEN_BACK"));
    held.isWanted = true;
    held.loop.signalled();
  }

  /** Ends within CLOSING_MS: running tools may finish, then the agents are given back. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#ends.forEach((end) => end());
    const held = [...this.#held.values()];
    held.forEach(({ loop }) => loop.stop());
    const timer = setTimeout(() => {
      held.forEach(({ loop }) => loop.owner.lease.lose());
      this.#services.sql.outages.giveUp();
    }, CLOSING_MS);
    await Promise.all(held.map(({ ended }) => ended));
    clearTimeout(timer);
    this.#released.abort();
    this.#services.sql.outages.giveUp();
    await Promise.all([this.#background, this.#renewing]);
    await this.#renewals.settled();
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
   * Claims agents that nobody holds and that could go on, and wakes the loops of this server's agents that were signalled
   * elsewhere, in these tenants. Rings that come during a sweep share one more.
   */
  #sweep(tenants: readonly string[]): Promise<void> {
    for (const tenant of tenants) this.#rung.add(tenant);
    return this.#tracked(this.#sweeping.request());
  }

  /** Work that the end of the runner waits for. */
  async #tracked(work: Promise<void>): Promise<void> {
    this.#pending.add(work);
    try {
      await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  /** Looks once for the tenants that were rung, or for everything. */
  async #sweepOnce(): Promise<void> {
    const tenants = this.#isAllStale ? null : [...this.#rung];
    this.#isAllStale = false;
    this.#rung.clear();
    if (this.#closing.signal.aborted || this.#outage !== null) return;
    // The end of a loop may have made room for those for which there was none.
    const areRunOutDue = tenants === null || (this.#isRunOutDue && this.#hasEnded);
    this.#isShort = false;
    this.#hasEnded = false;
    const { leases, serverId, knownParts } = this.#services;
    const most = Math.min(CLAIMED, this.#places.free);
    const crowded = this.#places.crowded();
    const free = areRunOutDue && most > 0 ? this.#free() : "GIVEN_BACK";
    if (areRunOutDue) this.#isRunOutDue = most === 0;
    const refusals = this.#refusals;
    try {
      const found = await lookForAgents(leases, serverId, { tenants, most, free, crowded }, knownParts);
      if (crowded.length > 0 || found.unowned.length === most) this.#isShort = true;
      // At once: between the look and this, a row may be let go by who keeps its owner from renewing.
      const runOut = free === "RUN_OUT" ? await this.#claimable(found.runOut) : [];
      this.#want(found.unowned);
      // Those first whose work was cut off: others may come without end.
      await this.#claimFree(runOut, this.#free());
      if (this.#refusals > refusals) this.#isRunOutDue = true;
      await this.#claimFree(found.unowned, "GIVEN_BACK");
      for (const [agentId, signal] of found.signals) {
        const held = this.#held.get(agentId);
        if (held === undefined || held.signal === signal) continue;
        held.signal = signal;
        held.loop.signalled();
      }
    } catch (error) {
      this.#services.logger.warn(`agents could not be looked for (${withCause(error)}); trying again`);
      this.#isShort = true;
      this.#isRunOutDue ||= areRunOutDue;
    }
    if (this.#isShort && this.#hasEnded) void this.#sweep([]);
  }

  /** Those of the agents whose lease has run out that need not be left to their owners. */
  async #claimable(runOut: readonly AgentOfTenant[]): Promise<readonly AgentOfTenant[]> {
    const ids = runOut.map(({ agentId }) => agentId);
    const unlocked = ids.length === 0 ? new Set<string>() : await unlockedAgents(this.#services.leases, ids);
    return this.#lockedRows.claimable(runOut, unlocked);
  }

  /** Of those that this server still holds, notes that they can go on: one whose loop parks now is claimed again. */
  #want(agents: readonly AgentOfTenant[]): void {
    for (const { agentId } of agents) {
      const held = this.#held.get(agentId);
      if (held !== undefined) held.isWanted = true;
    }
  }

  /** Claims what is free. What this server holds already is not lost to it yet. */
  async #claimFree(agents: readonly AgentOfTenant[], free: Free): Promise<void> {
    await this.#claim(
      agents.filter(({ agentId }) => !this.#held.has(agentId)),
      free,
    );
  }

  #free(): Free {
    return performance.now() < this.#runOutFrom ? "GIVEN_BACK" : "RUN_OUT";
  }

  /** Claims those of the agents for which there are places. */
  async #claim(agents: readonly AgentOfTenant[], free: Free): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const placed = new Map(
      agents.filter(({ tenant }) => this.#places.take(tenant)).map(({ agentId, tenant }) => [agentId, tenant]),
    );
    if (placed.size < agents.length) this.#refuse();
    if (placed.size === 0) return;
    const refusals = this.#refusals;
    const { leases, serverId, leaseTimes, knownParts } = this.#services;
    const term = beginTerm(this.#services);
    try {
      for (const lease of await claim(leases, serverId, [...placed.keys()], leaseTimes, free, knownParts)) {
        if (this.#closing.signal.aborted) await release(leases, lease);
        else {
          this.#advance(lease, term);
          placed.delete(lease.agentId);
        }
      }
    } catch (error) {
      this.#services.logger.warn(`an agent could not be claimed (${withCause(error)}); the next sweep tries again`);
    } finally {
      for (const tenant of placed.values()) this.#places.giveBack(tenant);
      // Another claim has found these places taken.
      if (placed.size > 0 && this.#refusals > refusals) void this.#sweep([]);
    }
  }

  /** Agents wait for which there is no place. */
  #refuse(): void {
    this.#isShort = true;
    this.#refusals += 1;
  }

  /** Advances an agent that has a place. */
  #advance(lease: Lease, term: Term): void {
    // A new epoch on this server ends what it still does under an older one.
    this.#held.get(lease.agentId)?.loop.owner.lease.lose();
    const services = this.#services.of(lease.tenant);
    const loop = new Loop({ ...services, sql: retrying(services.sql), leases: retrying(services.leases) }, lease, term);
    const ended = forTenant(lease.tenant, () => loop.run()).then((ending) => {
      if (this.#places.free === 0) this.#isShort = true;
      this.#places.giveBack(lease.tenant);
      this.#hasEnded = true;
      if (this.#isShort) void this.#sweep([]);
      const held = this.#held.get(lease.agentId);
      if (held?.loop === loop) {
        this.#held.delete(lease.agentId);
        // What arrived between the parking and now found this loop and could not wake it.
        if (ending === "parked" && held.isWanted) void this.#tracked(this.#claim([lease], "GIVEN_BACK"));
      }
    });
    this.#held.set(lease.agentId, { loop, ended: this.#tracked(ended), signal: null, isWanted: false });
  }

  async #endOverdue(): Promise<void> {
    if (this.#outage !== null) return;
    await endOverdue(this.#services, this.#free(), (agent) => this.wake(agent));
  }

  async #renew(): Promise<void> {
    if (this.#outage !== null) return;
    this.#hasRenewed = false;
    await this.#renewals.renewAll();
    this.#hasRenewed = true;
    await this.#renewals.endBeyond();
    await this.#services.compareClocks();
  }

  /**
   * The database is back: this server renews its leases before anything else is written, and claims none that has run out
   * until the other servers had the time to do the same.
   */
  async #comeBack(): Promise<void> {
    this.#runOutFrom = performance.now() + this.#services.leaseTimes.ttlMs;
    await this.#renewals.renewAll();
  }

  #changed(): void {
    const { current } = this.#services.sql.outages;
    const before = this.#outage;
    this.#outage =
      current === null
        ? null
        : { outage: current, beganAt: performance.now(), loops: [...this.#held.values()].map(({ loop }) => loop) };
    if (current !== null)
      this.#services.logger.tell(
        "outage",
        `the database does not answer (${current.detail}): what happens is kept until it does`,
      );
    else if (before !== null) {
      const durationMs = Math.round(performance.now() - before.beganAt);
      this.#services.logger.tell("outage", `the database answers again, after ${Math.round(durationMs / 1_000)} s`, {
        durationMs,
      });
      for (const { owner } of before.loops) void this.#tracked(reportOutage(this.#services, owner, before.outage));
    }
  }
}
