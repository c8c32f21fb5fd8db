import { NO_TOKENS, type TokenUsage } from "./model.ts";

export type Spending = {
  readonly usage: TokenUsage;
  readonly isEstimated: boolean;
};

export const NOTHING_SPENT: Spending = { usage: NO_TOKENS, isEstimated: false };

/** About as many characters are one token of English text (OpenAI, "What are tokens and how to count them?"). */
const TOKEN_CHARACTERS = 4;

export function spentOnBroken(counted: TokenUsage | null, characters: number): Spending {
  if (counted === null && characters === 0) return NOTHING_SPENT;
  const usage = counted ?? NO_TOKENS;
  const outputTokens = Math.max(usage.outputTokens, Math.ceil(characters / TOKEN_CHARACTERS));
  return { usage: { ...usage, outputTokens }, isEstimated: true };
}

export function spentTogether(one: Spending, other: Spending): Spending {
  return {
    usage: {
      inputTokens: one.usage.inputTokens + other.usage.inputTokens,
      outputTokens: one.usage.outputTokens + other.usage.outputTokens,
      cacheReadTokens: one.usage.cacheReadTokens + other.usage.cacheReadTokens,
      cacheWriteTokens: one.usage.cacheWriteTokens + other.usage.cacheWriteTokens,
    },
    isEstimated: one.isEstimated || other.isEstimated,
  };
}
