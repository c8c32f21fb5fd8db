/**
 * The unified diff of a file in the details of a call of a file tool; null for one that is not shown. A call that named the file in
 * another way has its name in the diff alone.
 */
export function diffIn(details: unknown, path: string): string | null {
  if (!isRecord(details)) return null;
  const { files, diff } = details;
  const listed: readonly unknown[] = Array.isArray(files) ? files : [];
  const named = listed.filter(isRecord).find((file) => file["path"] === path);
  const found = named === undefined ? diff : named["diff"];
  return typeof found === "string" ? found : null;
}

/** The edits of the newest turn, which come first. */
export function ofTurn<Edit extends { readonly turn: number }>(edits: readonly Edit[], turn: number): readonly Edit[] {
  return edits.filter((edit) => edit.turn === turn);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
