/** A browser's clock that differs by less is right: the date of an answer has whole seconds; ms. */
const TOLERATED_MS = 5_000;

let ahead = 0;

/** The present time by the server's clock, which has written all times that a page shows; ms since 1970. */
export function presentMs(): number {
  return Date.now() + ahead;
}

/** Takes the date of an answer that has just come. `askedMs` is when it was asked for, by the browser's clock. */
export function noteServerDate(date: string | null, askedMs: number): void {
  ahead = serverAhead(date, askedMs, Date.now());
}

/** How far the server's clock is ahead of the browser's, in ms; 0 for none that matters. */
export function serverAhead(date: string | null, askedMs: number, answeredMs: number): number {
  const serverMs = date === null ? NaN : Date.parse(date);
  const isNear = serverMs > askedMs - TOLERATED_MS && serverMs < answeredMs + TOLERATED_MS;
  return isNear || Number.isNaN(serverMs) ? 0 : serverMs - answeredMs;
}
