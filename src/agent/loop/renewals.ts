import { setTimeout as delay } from "node:timers/promises";
import { withCause } from "../../lib/text.ts";
import type { Owner } from "./owner.ts";
import { beginTerm, endBeyond, leasesBeyond, renew, stillHeld, type BeyondLease } from "./lease.ts";
import type { ServerServices } from "./scope.ts";

/** The retries for leases with locked rows, each in ms after the one before. */
const LOCKED_MS = [0, 20, 100, 500];

/** The time between two retries for one agent whose row stays locked, in ms. */
const LOCKED_AGAIN_MS = 250;
/** The time after a failed retry, in ms. */
const FAILED_AGAIN_MS = 1_000;

export type LeaseOwner = Pick<Owner, "lease" | "lost" | "betweenWrites">;

export type RenewalServices = Pick<ServerServices, "leases" | "serverId" | "leaseTimes" | "programMs" | "logger"> & {
  readonly sql: { readonly outages: Pick<ServerServices["sql"]["outages"], "current"> };
};

export class Renewals {
  readonly #services: RenewalServices;
  readonly #owners: () => readonly LeaseOwner[];
  readonly #later = new Map<LeaseOwner, Promise<void>>();
  /** Leases that end later than possible, each with the time at which this server first saw it. */
  readonly #beyond = new Map<string, number>();

  constructor(services: RenewalServices, owners: () => readonly LeaseOwner[]) {
    this.#services = services;
    this.#owners = owners;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#later.values());
  }

  /**
   * Renews this server's leases; those that are no longer its own are lost. A locked row is tried again. A lease whose
   * row stays locked is kept until another server takes it, but nothing new starts under it.
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

  /** In a busy tenant an agent's own writes lock its row most of the time. Frequent retries let the owner have it first. */
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
        // During an outage nothing is tried; the retries continue after it.
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
   * Handles a database clock that was set back: earlier renewals end later than any lease can. A lease that its owner
   * has not renewed for the duration of a lease has expired.
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

function keyOf({ id, epoch, until }: BeyondLease): string {
  return `${id} ${epoch} ${until}`;
}
