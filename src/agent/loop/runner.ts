import { type Outage, retrying } from "../../db/sql.ts";
import { forTenant } from "../../db/connections/reader-limits.ts";
import type { Ring } from "../../events/bell/bell.ts";
import { every } from "../../lib/time.ts";
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
  LockedRows,
} from "./lease.ts";
import { Loop } from "./loop.ts";
import type { ServerServices } from "./scope.ts";
import { closeLostShells } from "../calls/shells/lost.ts";
import { Places } from "./places.ts";
import { Renewals } from "./renewals.ts";

/** The time between two sweeps for free agents, in ms, while the bell works and while it does not. */
const SWEEP_MS = { heard: 1_000, unheard: 250 };
/** The time between two looks for shells whose server was lost, in ms. */
const LOST_MS = 1_000;
const RENEW_AGAIN_MS = 1_000;
/** The time that running tools have when the server closes, in ms. */
const CLOSING_MS = 8_000;

const CLAIMED = 100;

/** An agent that this server advances. `isWanted`: something arrived that its loop may have missed. */
type Held = { readonly loop: Loop; readonly ended: Promise<void>; signal: number | null; isWanted: boolean };

/**
 * Advances agents on this server: claims runnable free agents, renews their leases, and wakes their loops. A waiting
 * agent exists only as rows (invariant 8).
 */
export class Runner {
  readonly #services: ServerServices;
  readonly #held = new Map<string, Held>();
  readonly #closing = new AbortController();
  readonly #ends: readonly (() => void)[];
  readonly #background: Promise<unknown>;
  readonly #released = new AbortController();
  readonly #renewing: Promise<void>;
  readonly #pending = new Set<Promise<void>>();
  readonly #sweeping = new Rerun(() => this.#sweepOnce());
  #isAllStale = false;
  readonly #places: Places;
  /** True if agents may wait for a place: the end of a loop then starts a sweep. */
  #isShort = false;
  #hasEnded = false;
  #refusals = 0;
  readonly #rung = new Set<string>();
  /** The present outage, with the agents that this server has held during it. */
  #outage: { readonly outage: Outage; readonly beganAt: number; readonly loops: readonly Loop[] } | null = null;
  /** From this time of `performance.now()` on, agents with an expired lease are claimed. */
  #runOutFrom = 0;
  readonly #lockedRows = new LockedRows();
  /** True if agents with an expired lease may have found no place at the last sweep for them. */
  #isRunOutDue = false;
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
          pauseMs: () => services.leaseTimes.sweepMs ?? (bell.isConnected() ? SWEEP_MS.heard : SWEEP_MS.unheard),
          // A sweep may take long: the clock does not wait for it.
          task: async () => void this.#sweepAll(),
          onFailure: failing("agents could not be looked for"),
        },
        this.#closing.signal,
      ),
      every(
        { pauseMs: () => LOST_MS, task: () => this.#closeLost(), onFailure: failing("lost shells could not be closed") },
        this.#closing.signal,
      ),
    ]);
    // While the server closes, renewals continue for running tools.
    this.#renewing = every(
      {
        pauseMs: () => (this.#hasRenewed ? services.leaseTimes.renewMs : Math.min(services.leaseTimes.renewMs, RENEW_AGAIN_MS)),
        task: () => this.#renew(),
        onFailure: failing("leases could not be renewed"),
      },
      this.#released.signal,
    );
  }

  get size(): number {
    return this.#held.size;
  }

  /**
   * Wakes the owner of an agent after a change on this server, or claims the agent. An agent with an expired lease is
   * claimed only by a sweep, since its owner may be about to renew. Never rejects.
   */
  async wake(agent: AgentOfTenant): Promise<void> {
    const held = this.#held.get(agent.agentId);
    if (held === undefined) return this.#tracked(this.#claim([agent], "GIVEN_BACK"));
    held.isWanted = true;
    held.loop.signalled();
  }

  /** Ends within CLOSING_MS: running tools may finish, then the agents are released. */
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

  /** Rings with an unknown text are ignored. */
  #hear(rings: readonly Ring[]): void {
    if (rings.length === 0) return void this.#sweepAll();
    const tenants = rings.flatMap(({ tenant, isSignal }) => (isSignal ? [tenant] : []));
    if (tenants.length > 0) void this.#sweep(tenants);
  }

  /** A periodic sweep over everything: rings may be lost, and leases expire without one. */
  #sweepAll(): Promise<void> {
    this.#isAllStale = true;
    return this.#sweep([]);
  }

  /**
   * Claims free runnable agents of these tenants, and wakes this server's agents that were signalled elsewhere. Rings
   * during a sweep share one further sweep.
   */
  #sweep(tenants: readonly string[]): Promise<void> {
    for (const tenant of tenants) this.#rung.add(tenant);
    return this.#tracked(this.#sweeping.request());
  }

  async #tracked(work: Promise<void>): Promise<void> {
    this.#pending.add(work);
    try {
      await work;
    } finally {
      this.#pending.delete(work);
    }
  }

  async #sweepOnce(): Promise<void> {
    const tenants = this.#isAllStale ? null : [...this.#rung];
    this.#isAllStale = false;
    this.#rung.clear();
    if (this.#closing.signal.aborted || this.#outage !== null) return;
    // The end of a loop may have made room for waiting agents.
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
      // Immediately: whatever locks a row and delays its owner may release it between the sweep and the claim.
      const runOut = free === "RUN_OUT" ? await this.#claimable(found.runOut) : [];
      this.#want(found.unowned);
      // Interrupted work first: others may come without end.
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

  async #claimable(runOut: readonly AgentOfTenant[]): Promise<readonly AgentOfTenant[]> {
    const ids = runOut.map(({ agentId }) => agentId);
    const unlocked = ids.length === 0 ? new Set<string>() : await unlockedAgents(this.#services.leases, ids);
    return this.#lockedRows.claimable(runOut, unlocked);
  }

  /** Marks agents of this server as runnable again: one whose loop is parking is claimed again. */
  #want(agents: readonly AgentOfTenant[]): void {
    for (const { agentId } of agents) {
      const held = this.#held.get(agentId);
      if (held !== undefined) held.isWanted = true;
    }
  }

  /** Claims free agents. Those that this server still holds are not lost to it yet. */
  async #claimFree(agents: readonly AgentOfTenant[], free: Free): Promise<void> {
    await this.#claim(
      agents.filter(({ agentId }) => !this.#held.has(agentId)),
      free,
    );
  }

  #free(): Free {
    return performance.now() < this.#runOutFrom ? "GIVEN_BACK" : "RUN_OUT";
  }

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

  #refuse(): void {
    this.#isShort = true;
    this.#refusals += 1;
  }

  #advance(lease: Lease, term: Term): void {
    // A new epoch on this server ends its work under an older one.
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
        // What arrived after the parking found this loop and could not wake it.
        if (ending === "parked" && held.isWanted) void this.#tracked(this.#claim([lease], "GIVEN_BACK"));
      }
    });
    this.#held.set(lease.agentId, { loop, ended: this.#tracked(ended), signal: null, isWanted: false });
  }

  /** After an outage each server renews its own shells first. */
  async #closeLost(): Promise<void> {
    if (this.#outage !== null || this.#free() !== "RUN_OUT") return;
    const shells = await closeLostShells(this.#services);
    for (const { agentId, tenant } of new Map(shells.map((shell) => [shell.agentId, shell])).values())
      await this.wake({ agentId, tenant });
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
   * Returns from an outage: renews this server's leases before anything else is written. Agents with expired leases are
   * claimed only after the other servers had time to renew theirs.
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
