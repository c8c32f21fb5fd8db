import { KEYLESS } from "./generated/schema.ts";

/** The keys of Graphcache: objects without an id belong to the object that has them. `cacheExchange({ possibleTypes, keys })`. */
export const keys: Record<string, () => null> = Object.fromEntries(KEYLESS.map((name) => [name, () => null]));
