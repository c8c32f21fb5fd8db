import { systemClock, type Clock } from "../lib/clock.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Sql, Statement } from "./sql.ts";

/** A machine whose clock is further from the database's, in ms, removes and ends nothing: one of the two is wrong. */
export const MOST_SKEW_MS = 5_000;
/** An answer that took longer, in ms, says too little of the time. */
const SLOW_MS = 1_000;
/** A difference that is no more than the time of an answer moves nothing, in ms. */
const NOISE_MS = 50;

/** Both times in ms since 1970: the one that counts for policies, and the database's own. */
const TIME: Statement<{ policy: number; clock: number }, []> = {
  name: "time",
  text: `SELECT (extract(epoch FROM policy_time()) * 1000)::float8 AS policy, (extract(epoch FROM statement_timestamp()) * 1000)::float8 AS clock`,
};

/** How far a machine's clock is from the database's. */
export type ClockSkew = {
  /** The ms by which this machine is ahead; negative if it is behind. */
  readonly ms: number;
  /** True if that is so much that nothing is removed or ended by this server. */
  readonly isLarge: boolean;
};

/** Of a machine that has the database's own clock. */
export const NO_SKEW: ClockSkew = { ms: 0, isLarge: false };

/** By what a clock is compared with the database's: the connections, the machine's clock, and who is told. */
export type DatabaseClockServices = { readonly sql: Sql; readonly logger: Logger; readonly machine?: Clock };

/**
 * The time of the database on a server: what is written has the same time on every server, and what a person has an hour for lasts an
 * hour, whatever the machine's clock says. It runs on with the machine's monotonic clock, and is compared with the database at each
 * renewal of leases.
 */
export class DatabaseClock implements Clock {
  readonly #sql: Sql;
  readonly #logger: Logger;
  readonly #machine: Clock;
  #offsetMs = 0;
  #skewMs = 0;

  private constructor({ sql, logger, machine = systemClock }: DatabaseClockServices) {
    this.#sql = sql;
    this.#logger = logger;
    this.#machine = machine;
  }

  /** A clock that was compared once. */
  static async open(services: DatabaseClockServices): Promise<DatabaseClock> {
    const clock = new DatabaseClock(services);
    await clock.compare(Infinity);
    return clock;
  }

  now(): Date {
    return new Date(this.monotonicMs() + this.#offsetMs);
  }

  monotonicMs(): number {
    return this.#machine.monotonicMs();
  }

  get skew(): ClockSkew {
    return { ms: this.#skewMs, isLarge: Math.abs(this.#skewMs) > MOST_SKEW_MS };
  }

  /** Compares the clocks anew, unless the database answers too slowly. Rejects if it does not answer. */
  async compare(slowMs = SLOW_MS): Promise<void> {
    const askedAt = this.monotonicMs();
    const [row] = await this.#sql.query(TIME, []);
    const tookMs = this.monotonicMs() - askedAt;
    if (row === undefined || tookMs > slowMs) return;
    // The database was asked about the middle of the time that its answer took.
    const offsetMs = row.policy - (askedAt + tookMs / 2);
    if (Math.abs(offsetMs - this.#offsetMs) > NOISE_MS) this.#offsetMs = offsetMs;
    const before = this.skew;
    this.#skewMs = this.#machine.now().getTime() - tookMs / 2 - row.clock;
    this.#tell(before);
  }

  #tell(before: ClockSkew): void {
    if (before.isLarge === this.skew.isLarge) return;
    const seconds = (Math.abs(this.#skewMs) / 1_000).toFixed(1);
    this.#logger.tell(
      "clock",
      this.skew.isLarge
        ? `the clock of this machine is ${seconds} s ${this.#skewMs > 0 ? "ahead of" : "behind"} the database's: set both (NTP); until then this server removes nothing, and lets nothing expire`
        : "the clock of this machine agrees with the database's again",
    );
  }
}
