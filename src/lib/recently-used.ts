import { LRUCache } from "lru-cache";

/** The `most` entries that were used last. The option `max` takes the memory of all of them from the start. */
export function recentlyUsed<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}
