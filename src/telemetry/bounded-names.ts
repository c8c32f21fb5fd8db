const NAMES = 200;

/** The first values of a label, and `other` for the rest. Values stay in memory for ever. */
export class BoundedNames {
  readonly #names = new Set<string>();

  of(name: string): string {
    if (!this.#names.has(name) && this.#names.size >= NAMES) return "other";
    this.#names.add(name);
    return name;
  }
}
