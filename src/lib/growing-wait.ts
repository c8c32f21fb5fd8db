/**
 * The wait before the next try after `tries` failures in a row, in ms: `firstMs`, doubled each time, up to `lastMs`; a fifth
 * more or less at random, so that those who failed together do not come back as one.
 */
export function growingWait(tries: number, firstMs: number, lastMs: number): number {
  return Math.min(lastMs, firstMs * 2 ** (tries - 1)) * (0.8 + Math.random() * 0.4);
}
