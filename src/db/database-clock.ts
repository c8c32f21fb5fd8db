import { systemClock, type Clock } from "../lib/time.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Sql, Statement } from "./sql.ts";

/** A machine whose clock differs more from the database's, in ms, removes and ends nothing: one of the two is wrong. */
export const MOST_SKEW_MS = 5_000;
const SLOW_MS = 1_000;
/** The least difference that corrects the clock, in ms, unless an answer takes longer. */
const NOISE_MS = 50;

/** Both in ms since 1970: the time for policies, and the database's own. */
const TIME: Statement<{ policy: number; clock: number }, []> = {
  name: "time",
  text: `SELECT (extract(epoch FROM policy_time()) * 1000)::float8 AS policy, (extract(epoch FROM statement_timestamp()) * 1000)::float8 AS clock`,
};

export type ClockSkew = {
  readonly ms: number;
  readonly isLarge: boolean;
};

export const NO_SKEW: ClockSkew = { ms: 0, isLarge: false };

export type DatabaseClockServices = { readonly sql: Sql; readonly logger: Logger; readonly machine?: Clock };

/**
 * The database's time on a server: written times agree on all servers, and time limits hold, whatever the machine's
 * clock says. It advances with the machine's monotonic clock, and is compared with the database at each renewal of
 * leases.
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

  /** Compares the clocks, unless the database answers too slowly. Rejects if it does not answer. */
  async compare(slowMs = SLOW_MS): Promise<void> {
    const askedAt = this.monotonicMs();
    const [row] = await this.#sql.query(TIME, []);
    const tookMs = this.monotonicMs() - askedAt;
    if (row === undefined || tookMs > slowMs) return;
    // The database read its clock at about the middle of the answer's time.
    const offsetMs = row.policy - (askedAt + tookMs / 2);
    if (Math.abs(offsetMs - this.#offsetMs) > NOISE_MS) this.#offsetMs = offsetMs;
    const before = this.skew;
    this.#skewMs = this.#machine.now().getTime() - tookMs / 2 - row.clock;
    this.#logSkew(before);
  }

  #logSkew(before: ClockSkew): void {
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
