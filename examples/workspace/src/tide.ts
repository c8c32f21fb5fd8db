import type { Harbour } from "./harbour.ts";

/** Hours between two high waters: half a lunar day. */
const PERIOD_HOURS = 12.42;
const HOUR_MS = 3_600_000;

/** The next `count` high waters after `now`. */
export function highWaters(harbour: Harbour, now: Date, count: number): Date[] {
  // TODO: take the moon's real passage instead of a fixed one
  const passage = Date.UTC(2026, 0, 1) + harbour.delayHours * HOUR_MS;
  const period = PERIOD_HOURS * HOUR_MS;
  const next = Math.ceil((now.getTime() - passage) / period);
  return Array.from({ length: count }, (_, index) => new Date(passage + (next + index) * period));
}
