/** Names that can be stored at all: the database refuses to look for others. */
export function namesIn(names: readonly string[]): string[] {
  return names.filter((name) => !name.includes("\0"));
}
