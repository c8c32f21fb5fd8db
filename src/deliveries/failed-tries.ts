import type { Logger } from "../telemetry/log.ts";

const AGAIN_MS = 60 * 60 * 1_000;
const REASONS = 1_000;

type Said = { readonly at: number; since: number };

/** Counts failed tries, and logs each reason of a consumer once an hour, with its number of repetitions. */
export class FailedTries {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #said = new Map<string, Said>();
  #count = 0;
  #givenUp = 0;

  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  get count(): number {
    return this.#count;
  }

  get givenUp(): number {
    return this.#givenUp;
  }

  /** Logs each event that is given up: they are few, and never repeated. */
  giveUp(tenant: string, consumer: string, what: string, reason: string): void {
    this.#givenUp += 1;
    this.#logger.tell("delivery_given_up", `${what} could not be delivered to ${consumer}: ${reason}`, { tenant, consumer });
  }

  record(consumer: string, what: string, reason: string): void {
    this.#count += 1;
    const key = `${consumer}\n${reason}`;
    const said = this.#said.get(key);
    if (said !== undefined && this.#now() - said.at < AGAIN_MS) {
      said.since += 1;
      return;
    }
    if (this.#said.size >= REASONS) this.#said.clear();
    this.#said.set(key, { at: this.#now(), since: 0 });
    const before = said === undefined || said.since === 0 ? "" : ` (${said.since} more since the last such line)`;
    this.#logger.tell("delivery_failed", `${what} was not delivered to ${consumer} (${reason}); trying again${before}`, {
      consumer,
    });
  }
}
