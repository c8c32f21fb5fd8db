/** A map whose entries are replaced together. Iterators of earlier entries still give those. */
export class ReplacedMap<Key, Value> implements ReadonlyMap<Key, Value> {
  #present: ReadonlyMap<Key, Value> = new Map();

  protected replace(entries: ReadonlyMap<Key, Value>): void {
    this.#present = entries;
  }

  get size(): number {
    return this.#present.size;
  }

  get(key: Key): Value | undefined {
    return this.#present.get(key);
  }

  has(key: Key): boolean {
    return this.#present.has(key);
  }

  keys(): MapIterator<Key> {
    return this.#present.keys();
  }

  values(): MapIterator<Value> {
    return this.#present.values();
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#present.entries();
  }

  forEach(visit: (value: Value, key: Key, all: ReadonlyMap<Key, Value>) => void): void {
    this.#present.forEach((value, key) => visit(value, key, this));
  }

  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.entries();
  }
}
