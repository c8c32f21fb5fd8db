import { LRUCache } from "lru-cache";

/** The `most` entries that were used last. The option `max` would take the memory of all of them at once. */
export function recentlyUsed<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}
