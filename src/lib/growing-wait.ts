/**
 * The wait after `tries` consecutive failures, in ms: `firstMs`, doubled each time, up to `lastMs`; randomised by a
 * fifth, so that clients that failed together retry apart.
 */
export function growingWait(tries: number, firstMs: number, lastMs: number): number {
  return Math.min(lastMs, firstMs * 2 ** (tries - 1)) * (0.8 + Math.random() * 0.4);
}
