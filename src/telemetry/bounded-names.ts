/** The names that one label of a metric may have at most. */
const NAMES = 200;

/** The values of a label: the first of them as they are, and `other` for the rest. Each value is kept in memory for ever. */
export class BoundedNames {
  readonly #names = new Set<string>();

  of(name: string): string {
    if (!this.#names.has(name) && this.#names.size >= NAMES) return "other";
    this.#names.add(name);
    return name;
  }
}
