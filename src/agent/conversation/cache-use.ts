import type { CacheMiss, CacheMissCause } from "../../events/cache-miss.ts";
import type { CacheDiagnosis, TokenUsage } from "../models/model.ts";
import type { Compaction } from "./compaction.ts";
import { COLD_MS, type MeasuredContext } from "./context-size.ts";

/** The context after the answer before, and the compactions. */
type Before = { readonly measured: MeasuredContext | null; readonly compaction: Pick<Compaction, "step"> | null };

/** A request that was answered. `frame` is the digest of its fixed parts, `at` its time in ms since 1970. */
type AnsweredRequest = {
  readonly model: string;
  readonly frame: string | null;
  readonly at: number;
  readonly usage: TokenUsage;
  readonly told: CacheDiagnosis | null;
};

export type CacheUse = { readonly cachedShare: number | null; readonly cacheMiss: CacheMiss | null };

/** The share of input tokens that came from the provider's cache, from 0 to 1; null without counts. */
export function cachedShareOf({ inputTokens, cacheReadTokens, cacheWriteTokens }: TokenUsage): number | null {
  const share = cacheReadTokens / (inputTokens + cacheReadTokens + cacheWriteTokens);
  return share >= 0 && share <= 1 ? share : null;
}

/**
 * The use of the provider's prompt cache by a step. It has missed the cache if its provider says so. Otherwise it has if
 * it read less than half of the tokens that the answer before left there.
 */
export function cacheUse(before: Before, request: AnsweredRequest): CacheUse {
  const cachedShare = cachedShareOf(request.usage);
  const told = request.told?.miss ?? null;
  const missed = cachedShare === null ? null : missedTokens(before.measured, request.usage);
  if (told === null && missed === null) return { cachedShare, cacheMiss: null };
  const expected = causeOf(before, request);
  return { cachedShare, cacheMiss: { reason: told?.reason ?? null, tokens: told?.tokens ?? missed, expected } };
}

/** Tokens of repeated tries count together: no more than the context had are believed. */
function missedTokens(measured: MeasuredContext | null, { cacheReadTokens }: TokenUsage): number | null {
  const left = Math.min(measured?.cached ?? 0, measured?.tokens ?? Infinity);
  return cacheReadTokens < left / 2 ? left - cacheReadTokens : null;
}

function causeOf({ measured, compaction }: Before, { model, frame, at }: AnsweredRequest): CacheMissCause | null {
  if (measured === null) return null;
  if (measured.model !== model) return "MODEL";
  if (measured.frame !== null && measured.frame !== frame) return "FRAME";
  if ((compaction?.step ?? 0) > measured.step) return "COMPACTION";
  return at - measured.at > COLD_MS ? "COLD" : null;
}

/** The provider's id of the answer before, if the same model made it. */
export function answerBefore(measured: MeasuredContext | null, { name }: { readonly name: string }): string | null {
  return measured?.model === name ? measured.answerId : null;
}
