import { GraphQLError } from "graphql";
import type { Actor } from "../agent/actors/actor.ts";
import { COUNT, withDefault, type Complete } from "../lib/setting.ts";
import type { Clock } from "../lib/time.ts";
import { clientError, type OperationRoom, type RateLimit } from "../resolvers/context.ts";
import { Buckets } from "./buckets.ts";

export const RATE_LIMIT_SETTINGS = {
  /**
   * The points that an actor's operations may cost a minute, and as a burst. 500,000 if omitted: some ten of the most
   * expensive operations.
   */
  pointsPerMinute: withDefault(COUNT, 500_000),
  /** The number of subscriptions that an actor may have open. 1,000 if omitted. */
  subscriptions: withDefault(COUNT, 1_000),
};

export type RateLimitSettings = Complete<typeof RATE_LIMIT_SETTINGS>;

export class RateLimits {
  readonly #settings: RateLimitSettings;
  readonly #clock: Clock;
  readonly #buckets: Buckets;
  readonly #open = new Map<string, number>();

  constructor(settings: RateLimitSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#buckets = new Buckets(settings.pointsPerMinute, clock);
  }

  roomOf({ tenant, kind, id }: Pick<Actor, "tenant" | "kind" | "id">): OperationRoom {
    const key = JSON.stringify([tenant, kind, id]);
    let cost = 0;
    return {
      charge: (price) => {
        cost = price;
        this.#charge(key, price);
      },
      open: () => this.#openOne(key),
      state: () => this.#stateOf(key, cost),
    };
  }

  #charge(key: string, price: number): void {
    const { pointsPerMinute: limit } = this.#settings;
    if (price > limit)
      throw clientError(
        "DOCUMENT_TOO_LARGE",
        `the operation costs ${price} points, and your budget is ${limit} points a minute: request smaller pages (\`first\`), or split it into several operations`,
      );
    const points = this.#buckets.left(key);
    if (points >= price) return this.#buckets.take(key, price);
    const seconds = Math.ceil(this.#buckets.msUntil(key, price) / 1_000);
    const message = `the operation costs ${price} points, and ${Math.floor(points)} of your ${limit} points a minute are left: try again in ${seconds} s`;
    throw new GraphQLError(message, {
      extensions: {
        code: "RATE_LIMITED",
        retryAfterMs: seconds * 1_000,
        http: { status: 429, headers: { "retry-after": String(seconds) } },
      },
    });
  }

  #stateOf(key: string, cost: number): RateLimit {
    const { pointsPerMinute: limit } = this.#settings;
    const resetAt = new Date(this.#clock.now().getTime() + Math.ceil(this.#buckets.msUntil(key, limit)));
    return { limit, cost, remaining: Math.floor(this.#buckets.left(key)), resetAt };
  }

  #openOne(key: string): () => void {
    const { subscriptions } = this.#settings;
    const count = this.#open.get(key) ?? 0;
    if (count >= subscriptions)
      throw clientError(
        "TOO_MANY_OPERATIONS",
        `you have ${count} subscriptions on this server; at most ${subscriptions} are allowed: end some, or follow several agents with one (\`timeline\`)`,
      );
    this.#open.set(key, count + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (this.#open.get(key) ?? 1) - 1;
      if (left === 0) this.#open.delete(key);
      else this.#open.set(key, left);
    };
  }
}
