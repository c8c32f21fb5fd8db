/** A compaction that was applied, as CONTEXT_COMPRESSION tells of it. */
export type AppliedCompaction = {
  readonly method: string;
  readonly tokensBefore: number | null;
  readonly tokensAfter: number | null;
};

/** An applied compaction in words. */
export function compactionText({ method, tokensBefore, tokensAfter }: AppliedCompaction): string {
  const what =
    method === "SUMMARY"
      ? "older messages were summarised"
      : method === "CLEARED"
        ? "old outputs were left out"
        : "older messages were left out";
  const sizes =
    tokensBefore === null || tokensAfter === null ? "" : `: ${thousands(tokensBefore)} → ${thousands(tokensAfter)} tokens`;
  return `Context compacted, ${what}${sizes}`;
}

/** The size of a context in words; empty if its window or its size is unknown. */
export function contextText({ tokens, window }: { readonly tokens: number | null; readonly window: number | null }): string {
  if (tokens === null || window === null) return "";
  return `context ${Math.round((100 * tokens) / window)} % of ${thousands(window)} tokens`;
}

/** The use of the provider's cache by the newest answer in words; empty if it is unknown, or if there was none and no reason is known. */
export function cacheText({ share, miss }: { readonly share: number | null; readonly miss: string | null }): string {
  if (share === null || (share === 0 && miss === null)) return "";
  const reason = miss === null ? "" : `, a miss: ${miss.toLowerCase().replaceAll("_", " ")}`;
  return `${Math.round(100 * share)} % from the cache${reason}`;
}

function thousands(tokens: number): string {
  return tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}
