/** The time at which an id was made, if it is a UUID of version 7 (RFC 9562), in ms since 1970; null of any other id. */
export function idTime(id: string): number | null {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(id) ?? [];
  return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16);
}
