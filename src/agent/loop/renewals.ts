import { setTimeout as delay } from "node:timers/promises";
import { withCause } from "../../lib/text.ts";
import type { Owner } from "./owner.ts";
import { beginTerm, endBeyond, leasesBeyond, renew, stillHeld, type BeyondLease } from "./lease.ts";
import type { ServerServices } from "./services.ts";

/** The tries for leases that could not be renewed since others hold their rows, each in ms after the one before. */
const LOCKED_MS = [0, 20, 100, 500];

/** The time between two tries for the lease of one agent whose row others hold for long, in ms. */
const LOCKED_AGAIN_MS = 250;
/** The time after a try that failed, in ms. */
const FAILED_AGAIN_MS = 1_000;

/** An owner, as its lease is kept. */
export type LeaseOwner = Pick<Owner, "lease" | "lost" | "betweenWrites">;

/** What renewals need of a server. */
export type RenewalServices = Pick<ServerServices, "leases" | "serverId" | "leaseTimes" | "programMs" | "logger"> & {
  readonly sql: { readonly outages: Pick<ServerServices["sql"]["outages"], "current"> };
};

/** Keeps the leases of the agents that this server holds. */
export class Renewals {
  readonly #services: RenewalServices;
  readonly #owners: () => readonly LeaseOwner[];
  /** The owners whose leases are renewed as soon as none of their agent's own writes is under way. */
  readonly #later = new Map<LeaseOwner, Promise<void>>();
  /** Leases that end later than any can, with the time at which this server first saw each. */
  readonly #beyond = new Map<string, number>();

  constructor(services: RenewalServices, owners: () => readonly LeaseOwner[]) {
    this.#services = services;
    this.#owners = owners;
  }

  /** Resolves when no renewal is under way. Each ends with its owner. */
  async settled(): Promise<void> {
    await Promise.all(this.#later.values());
  }

  /**
   * Renews the leases that are still this server's; the others are lost. A row that somebody else holds for a moment is asked
   * for again; one that is held for longer is this server's until another takes it, but nothing new starts under it.
   */
  async renewAll(): Promise<void> {
    let left: readonly LeaseOwner[] = this.#owners();
    for (const waitMs of LOCKED_MS) {
      if (left.length === 0) return;
      await delay(waitMs);
      left = await this.#renewSome(left);
    }
    const { leases, serverId } = this.#services;
    const held = await stillHeld(
      leases,
      serverId,
      left.map(({ lease }) => lease),
    );
    for (const owner of left) {
      if (held.has(owner.lease.agentId)) this.#renewLater(owner);
      else owner.lease.lose();
    }
  }

  /**
   * In a busy tenant an agent's own writes hold its row most of the time, as each waits for the log. A row that others hold
   * is asked for again and again, so that its owner is the first to have it.
   */
  #renewLater(owner: LeaseOwner): void {
    if (this.#later.has(owner)) return;
    this.#later.set(
      owner,
      this.#renewBetweenWrites(owner).finally(() => this.#later.delete(owner)),
    );
  }

  async #renewBetweenWrites(owner: LeaseOwner): Promise<void> {
    let failures = 0;
    while (!owner.lost.aborted) {
      try {
        // While the database does not answer, nothing is tried: the tries go on when it does.
        const isTried = this.#services.sql.outages.current === null;
        if (isTried && (await owner.betweenWrites(() => this.#renewSome([owner]))).length === 0) return;
        await delay(LOCKED_AGAIN_MS);
      } catch (error) {
        failures += 1;
        if (failures === 1) this.#services.logger.warn(`a lease could not be renewed (${withCause(error)}); trying again`);
        await delay(FAILED_AGAIN_MS);
      }
    }
  }

  /**
   * The database's clock was set back: what was renewed before ends later than any lease can. One whose owner has not
   * renewed it for as long as a lease lasts has run out.
   */
  async endBeyond(): Promise<void> {
    const { leases, leaseTimes } = this.#services;
    const beyond = await leasesBeyond(leases, leaseTimes);
    const keys = new Set(beyond.map(keyOf));
    for (const key of this.#beyond.keys()) if (!keys.has(key)) this.#beyond.delete(key);
    const now = performance.now();
    for (const key of keys) if (!this.#beyond.has(key)) this.#beyond.set(key, now);
    const ended = beyond.filter((lease) => now - (this.#beyond.get(keyOf(lease)) ?? now) >= leaseTimes.ttlMs);
    if (ended.length === 0) return;
    this.#services.logger.warn(
      `${ended.length} leases end later than any can: the database's clock was set back, and they end now`,
    );
    await endBeyond(leases, ended);
  }

  /** Those of the owners whose leases could not be renewed. */
  async #renewSome(owners: readonly LeaseOwner[]): Promise<readonly LeaseOwner[]> {
    const { leases, serverId, leaseTimes } = this.#services;
    const term = beginTerm(this.#services);
    const renewed = await renew(
      leases,
      serverId,
      owners.map(({ lease }) => lease),
      leaseTimes,
    );
    return owners.filter((owner) => {
      const isRenewed = renewed.has(owner.lease.agentId);
      if (isRenewed) owner.lease.extend(term);
      return !isRenewed;
    });
  }
}

/** A lease as it stands: with another epoch or another end it is another. */
function keyOf({ id, epoch, until }: BeyondLease): string {
  return `${id} ${epoch} ${until}`;
}
