/** The last characters of an id, by which people tell rows apart. */
export function shortId(id: string): string {
  return id.replace(/=+$/, "").slice(-6);
}
