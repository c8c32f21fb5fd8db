/** The names of columns, of which there are few: every commit asks for dozens. */
const NAMES = new Map<string, string>();

/** The column of a field: its name in snake_case. */
export function columnName(field: string): string {
  let name = NAMES.get(field);
  if (name === undefined) {
    name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    NAMES.set(field, name);
  }
  return name;
}
