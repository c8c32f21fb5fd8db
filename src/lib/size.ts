/** About the room that a value takes, in bytes: texts and names count their characters, anything that is no text little. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let size = 8;
  if (Array.isArray(value)) for (const part of value) size += sizeOf(part);
  else for (const [name, part] of Object.entries(value)) size += name.length + sizeOf(part);
  return size;
}
