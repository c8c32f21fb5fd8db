/** Storable names: the database rejects queries for others. */
export function namesIn(names: readonly string[]): string[] {
  return names.filter((name) => !name.includes("\0"));
}
