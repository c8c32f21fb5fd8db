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

function thousands(tokens: number): string {
  return tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`;
}
