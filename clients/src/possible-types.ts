import { POSSIBLE_TYPES } from "./generated/schema.ts";

/** The types that each interface and union of the contract stands for: for Apollo's InMemoryCache, and for Graphcache. */
export const possibleTypes: Record<string, string[]> = POSSIBLE_TYPES;
