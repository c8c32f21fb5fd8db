/** The ms since a moment of `performance.now()`, to the µs: more digits say nothing, and would be stored. */
export function msSince(moment: number): number {
  return Math.round((performance.now() - moment) * 1_000) / 1_000;
}
