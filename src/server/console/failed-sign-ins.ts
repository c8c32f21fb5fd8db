import { isAccessToken, hashOf } from "../../agent/actors/access-token.ts";
import { networkOf } from "../../lib/addresses.ts";
import type { Clock } from "../../lib/time.ts";
import { Buckets } from "../buckets.ts";
import type { SignIns } from "../sign-ins.ts";
import { isGuessable } from "../token-guesses.ts";

/** The sign-ins that may fail in a minute. */
const PER_ADDRESS = 10;
const PER_TENANT = 100;

/**
 * Counts sign-ins that failed, so that short tokens of a configuration cannot be guessed. At an address with too many, no
 * short one is tried. A tenant's limit counts tokens that were valid once, and refuses no valid one: a stranger cannot lock people out.
 */
export class FailedSignIns {
  readonly #signIns: SignIns;
  readonly #addresses: Buckets;
  readonly #tenants: Buckets;

  constructor(signIns: SignIns, clock: Clock) {
    this.#signIns = signIns;
    this.#addresses = new Buckets(PER_ADDRESS, clock);
    this.#tenants = new Buckets(PER_TENANT, clock);
  }

  /** The seconds for which the token is not tried for an address; null if it may be. */
  waitOf(address: string, token: string): number | null {
    return isGuessable(token) ? waitOf(this.#addresses, networkOf(address)) : null;
  }

  /** Counts a failure. Returns the seconds to wait if its tenant has too many; otherwise null. */
  async count(address: string, token: string): Promise<number | null> {
    this.#addresses.take(networkOf(address), 1);
    const known = isAccessToken(token) ? await this.#signIns.tokenOf(hashOf(token)) : null;
    if (known === null) return null;
    const wait = waitOf(this.#tenants, known.tenant);
    this.#tenants.take(known.tenant, 1);
    return wait;
  }
}

function waitOf(buckets: Buckets, key: string): number | null {
  const ms = buckets.msUntil(key, 1);
  return ms === 0 ? null : Math.ceil(ms / 1_000);
}
