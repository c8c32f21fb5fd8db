const WRITTEN = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

const YEAR_1 = Date.parse("0001-01-01T00:00:00Z");
const YEAR_10000 = Date.parse("9999-12-31T23:59:59.999Z") + 1;

/**
 * Parses RFC 3339 (seconds are optional) in the years 1 to 9999. Null for other texts, such as those without a zone, or
 * with an impossible date.
 */
export function readTime(text: string): Date | null {
  const day = WRITTEN.exec(text)?.[1];
  if (day === undefined) return null;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(day)) return null;
  const time = new Date(text.toUpperCase());
  return time.getTime() >= YEAR_1 && time.getTime() < YEAR_10000 ? time : null;
}

/** The time of a text exactly as `toISOString` writes it; null for others. */
export function exactTime(text: string): Date | null {
  const time = readTime(text);
  return time?.toISOString() === text ? time : null;
}
