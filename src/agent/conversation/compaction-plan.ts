import { cutBefore, besidesTask, windowOf, weightOfAll, wonByClearing, wordsWithin, type Compacted } from "./window.ts";
import type { ContextSettings } from "./scope.ts";
import type { Loaded } from "./transcript.ts";

/** Tokens that a compaction must win at least, as a share of the window, or the broken cache costs more. */
const WORTH = 0.1;
/** The share of the window for earlier words of people, and for a summary. */
const WORDS = 1 / 8;
const SUMMARY = 1 / 16;
/** No window is made shorter than that since a model has said that it is too long, in bytes. */
const LEAST_BYTES = 1_024;
/** The share of a window that stays when it is shortened: half of it, less some room to grow. */
const SHORTENED_SHARE = 0.375;

/** The state of a context window, by which compactions are planned. Weights are bytes. */
export type Fill = {
  readonly loaded: Loaded;
  /** The bound of the number of messages; null for none. */
  readonly size: number | null;
  readonly settings: ContextSettings;
  /** The tokens that it may have; null if unknown. */
  readonly limit: number | null;
  /** The tokens that it has with the next step, about. */
  readonly tokens: number;
  readonly tokensPerByte: number;
  /** The weight of system prompt and tools, and of the results that join. */
  readonly overhead: number;
};

/** The newest messages that stay as they are, in tokens. */
function recentTokens({ settings, limit, tokens, overhead, tokensPerByte }: Fill): number {
  const most = limit === null ? tokens / 4 : (settings.target * limit - overhead * tokensPerByte) / 2;
  return Math.max(0, Math.min(settings.keepRecentTokens, most));
}

function messagesAfter({ loaded: { messages, compacted } }: Fill) {
  return messages.filter(({ ordinal }) => ordinal > compacted.to);
}

function lastCut(fill: Fill, tokens: number): number | null {
  return cutBefore(messagesAfter(fill), tokens / fill.tokensPerByte);
}

/** True if a compaction wins enough. */
export function isWorth({ tokens, limit }: Fill, tokensAfter: number): boolean {
  return tokens - tokensAfter >= WORTH * (limit ?? tokens);
}

export type Cleared = { readonly from: number; readonly to: number; readonly tokensAfter: number };

/** The old outputs that may be cleared; null if that wins too little. */
export function clearing(fill: Fill): Cleared | null {
  const { clearedTo, to: compactedTo } = fill.loaded.compacted;
  const to = lastCut(fill, recentTokens(fill));
  const from = Math.max(clearedTo, compactedTo) + 1;
  if (to === null || to < from) return null;
  const won =
    wonByClearing(
      messagesAfter(fill).filter(({ ordinal }) => ordinal >= from),
      to,
    ) * fill.tokensPerByte;
  const tokensAfter = Math.round(fill.tokens - won);
  return isWorth(fill, tokensAfter) ? { from, to, tokensAfter } : null;
}

export type Covered = { readonly from: number; readonly to: number };

/** The messages that a summary may cover; null for none. `isWanted`: a person asks for it, also far below the mark. */
export function summarising(fill: Fill, isWanted: boolean): Covered | null {
  const tokens = isWanted ? Math.min(recentTokens(fill), fill.tokens / 4) : recentTokens(fill);
  const to = lastCut(fill, tokens);
  return to === null ? null : { from: fill.loaded.compacted.to + 1, to };
}

/** The messages to leave out without a summary, so that half of the window stays besides the task; null if it cannot be shorter. */
export function shortening(fill: Fill): Covered | null {
  const after = messagesAfter(fill);
  const bytes = besidesTask(after);
  if (bytes / 2 < LEAST_BYTES) return null;
  const task = after.findLast(({ isOfPerson }) => isOfPerson);
  const to = cutBefore(after, bytes * SHORTENED_SHARE, task);
  const from = fill.loaded.compacted.to + 1;
  return to === null || to < from ? null : { from, to };
}

/** The window once these messages are left out: where the words of people begin, and its tokens. */
export function windowAfter(
  fill: Fill,
  { to }: Covered,
  texts: Pick<Compacted, "summary" | "restated">,
): { readonly wordsFrom: number; readonly tokensAfter: number } {
  const { loaded, limit, tokens, settings, tokensPerByte, overhead, size } = fill;
  const space = limit ?? tokens;
  const rest = settings.target * space - recentTokens(fill) - overhead * tokensPerByte - SUMMARY * space;
  const words = Math.max(0, Math.min(WORDS * space, rest)) / tokensPerByte;
  const wordsFrom = Math.max(wordsWithin(loaded.messages, to, words), loaded.compacted.to < 0 ? 0 : loaded.compacted.wordsFrom);
  const compacted = { ...loaded.compacted, ...texts, to, wordsFrom };
  const weight = weightOfAll(windowOf(loaded.messages, compacted, size));
  return { wordsFrom, tokensAfter: Math.round((weight + overhead) * tokensPerByte) };
}
