/** The approximate memory of a value, in bytes: texts and names by their characters, other values little. */
export function sizeOf(value: unknown): number {
  let size = 0;
  // Iterative: nesting may be deep.
  const left = [value];
  while (left.length > 0) {
    const part = left.pop();
    if (typeof part === "string" || part instanceof Uint8Array) size += part.length;
    else size += 8;
    if (typeof part !== "object" || part === null || part instanceof Uint8Array) continue;
    if (Array.isArray(part)) for (const each of part as readonly unknown[]) left.push(each);
    else
      for (const [name, each] of Object.entries(part)) {
        size += name.length;
        left.push(each);
      }
  }
  return size;
}
