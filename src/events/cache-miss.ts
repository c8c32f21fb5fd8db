/** The reasons of providers why the prompt cache did not serve a request. `OTHER` stands for all newer ones. */
export const CACHE_MISS_REASONS = [
  "MODEL_CHANGED",
  "SYSTEM_CHANGED",
  "TOOLS_CHANGED",
  "MESSAGES_CHANGED",
  "PREVIOUS_NOT_FOUND",
  "UNAVAILABLE",
  "OTHER",
] as const;
export type CacheMissReason = (typeof CACHE_MISS_REASONS)[number];

/** The causes that the server knows itself: another model, other fixed parts of the request, a compaction, a long pause. */
export const CACHE_MISS_CAUSES = ["MODEL", "FRAME", "COMPACTION", "COLD"] as const;
export type CacheMissCause = (typeof CACHE_MISS_CAUSES)[number];

/** The input tokens that the cache would have served; null if unknown. */
export type ToldCacheMiss = { readonly reason: CacheMissReason; readonly tokens: number | null };

/** A miss of a step. `reason` is null without a word of the provider, `expected` without a cause that the server knows. */
export type CacheMiss = {
  readonly reason: CacheMissReason | null;
  readonly tokens: number | null;
  readonly expected: CacheMissCause | null;
};
