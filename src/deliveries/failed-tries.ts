import type { Logger } from "../telemetry/log.ts";

/** The same reason is said again only after this time, in ms. */
const AGAIN_MS = 60 * 60 * 1_000;
/** The most reasons that are remembered to have been said. */
const REASONS = 1_000;

type Said = { readonly at: number; since: number };

/** Counts the tries that delivered nothing, and says why: each reason of a consumer once an hour, with how often it came since. */
export class FailedTries {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #said = new Map<string, Said>();
  #count = 0;
  #givenUp = 0;

  /** `now` is in ms. */
  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  /** The number of them since the server began. */
  get count(): number {
    return this.#count;
  }

  /** The number of events that were given up since the server began: nobody is told of them any more. */
  get givenUp(): number {
    return this.#givenUp;
  }

  /** `what` was given up for a consumer. Each is said: there are not many, and none comes again. */
  giveUp(tenant: string, consumer: string, what: string, reason: string): void {
    this.#givenUp += 1;
    this.#logger.tell("delivery_given_up", `${what} could not be delivered to ${consumer}: ${reason}`, { tenant, consumer });
  }

  /** A try to deliver `what` to a consumer has failed, and is made again. */
  tell(consumer: string, what: string, reason: string): void {
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
