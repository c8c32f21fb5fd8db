import { recentlyUsed } from "../../lib/recently-used.ts";
import type { TokenPrice, TokenUsage } from "../models/model.ts";
import type { Expected } from "./admission.ts";

/** The output of a step of a template that has none yet, in tokens. */
const USUAL_OUTPUT = 500;
/** The steps of a template whose output counts, and the templates. */
const STEPS = 32;
const TEMPLATES = 10_000;

/** The output of the newest steps of templates on this server. */
export class RecentOutputs {
  readonly #templates = recentlyUsed<readonly number[]>(TEMPLATES);

  record(tenant: string, templateId: string, outputTokens: number): void {
    const key = JSON.stringify([tenant, templateId]);
    this.#templates.set(key, [...(this.#templates.get(key) ?? []), outputTokens].slice(-STEPS));
  }

  /** The median, which one long answer does not move. */
  expected(tenant: string, templateId: string): number {
    const sorted = (this.#templates.get(JSON.stringify([tenant, templateId])) ?? []).toSorted((one, other) => one - other);
    return sorted[Math.floor(sorted.length / 2)] ?? USUAL_OUTPUT;
  }
}

export type ExpectedInput = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The usage of the agent's last step; null for none. Its input is read from the provider's cache if it has one. */
  readonly last: Omit<TokenUsage, "outputTokens"> | null;
};

/** The expected cost of a step: its input at the price of the model, with the last step's from the cache, and its output. */
export function expectedCost({ inputTokens, outputTokens, last }: ExpectedInput, price: TokenPrice | null): Expected {
  const tokens = inputTokens + outputTokens;
  if (price === null) return { millionths: null, tokens };
  const isCached = last !== null && last.cacheReadTokens + last.cacheWriteTokens > 0;
  const read = isCached ? Math.min(inputTokens, last.cacheReadTokens + last.cacheWriteTokens) : 0;
  const fresh = inputTokens - read;
  const freshPrice = isCached ? Math.max(price.input, price.cacheWrite) : price.input;
  return { millionths: Math.ceil(read * price.cacheRead + fresh * freshPrice + outputTokens * price.output), tokens };
}
