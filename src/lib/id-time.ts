/** The time at which a UUID of version 7 was made (RFC 9562), in ms since 1970; null for other ids. */
export function idTime(id: string): number | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(id) ?? [];
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16);
}
