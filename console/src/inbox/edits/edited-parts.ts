/** A parameter that a person changed before this question. Null: it is not there on that side. */
export type EditedPart = { readonly name: string; readonly before: string | null; readonly after: string | null };

/** The differences of two inputs, parameter by parameter. Of an input that is no object, the whole is one part. */
export function editedParts(before: unknown, after: unknown): readonly EditedPart[] {
  if (!isObject(before) || !isObject(after)) return differing("", before, after);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => differing(name, before[name], after[name]));
}

function differing(name: string, before: unknown, after: unknown): readonly EditedPart[] {
  return sorted(before) === sorted(after) ? [] : [{ name, before: shown(before), after: shown(after) }];
}

function shown(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** JSON with sorted names: a server may answer them in another order. */
function sorted(value: unknown): string | undefined {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
