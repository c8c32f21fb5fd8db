const NAMES = new Map<string, string>();

export function columnName(field: string): string {
  let name = NAMES.get(field);
  if (name === undefined) {
    name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    NAMES.set(field, name);
  }
  return name;
}
