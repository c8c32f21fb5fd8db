import { recentlyUsed } from "../lib/recently-used.ts";
import type { Clock } from "../lib/time.ts";

const MINUTE_MS = 60_000;
const KEYS = 10_000;

type Bucket = { readonly points: number; readonly at: number };

/** Points by key, refilled each minute up to their limit, which is also the burst. The keys that were used last are remembered. */
export class Buckets {
  readonly #limit: number;
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #buckets = recentlyUsed<Bucket>(KEYS);

  constructor(limit: number, clock: Pick<Clock, "monotonicMs">) {
    this.#limit = limit;
    this.#clock = clock;
  }

  left(key: string): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) return this.#limit;
    return Math.min(this.#limit, bucket.points + ((this.#clock.monotonicMs() - bucket.at) / MINUTE_MS) * this.#limit);
  }

  /** Takes points; fewer than none are left as none. */
  take(key: string, points: number): void {
    this.#buckets.set(key, { points: Math.max(0, this.left(key) - points), at: this.#clock.monotonicMs() });
  }

  /** The ms until so many points are left. */
  msUntil(key: string, points: number): number {
    return Math.max(0, ((points - this.left(key)) / this.#limit) * MINUTE_MS);
  }
}
