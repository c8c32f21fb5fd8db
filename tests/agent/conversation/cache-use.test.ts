import fc from "fast-check";
import { expect, it } from "vitest";
import { answerBefore, cachedShareOf, cacheUse } from "../../../src/agent/conversation/cache-use.ts";
import type { MeasuredContext } from "../../../src/agent/conversation/context-size.ts";
import { NO_TOKENS } from "../../../src/agent/models/model.ts";

const MINUTE = 60_000;

const measured: MeasuredContext = {
  step: 4,
  tokens: 1_050,
  bytes: 4_000,
  at: 10 * MINUTE,
  frame: "f",
  model: "claude",
  cached: 1_000,
  answerId: "msg_a",
};
const before = { measured, compaction: null };
const miss = { ...NO_TOKENS, inputTokens: 1_100 };
const hit = { ...NO_TOKENS, inputTokens: 100, cacheReadTokens: 1_000 };
const request = { model: "claude", frame: "f", at: 11 * MINUTE, usage: miss, told: null };
const SERVED = { answerId: null, miss: null };

const missOf = (more: object, then: object = {}) => cacheUse({ ...before, ...then }, { ...request, ...more }).cacheMiss;

it("a step that reads the tokens that the answer before left has not missed the cache", () => {
  expect(cacheUse(before, { ...request, usage: hit })).toEqual({ cachedShare: 1_000 / 1_100, cacheMiss: null });
  expect(missOf({ usage: { ...hit, cacheReadTokens: 500 }, model: "other", frame: "g" })).toBeNull();
});

it("a miss without a word of the provider is known by the counts, with the cause that the server knows", () => {
  const known = { reason: null, tokens: 1_000 };
  expect(missOf({})).toEqual({ ...known, expected: null });
  expect(missOf({ told: SERVED })).toEqual({ ...known, expected: null });
  expect(missOf({ model: "other", frame: "g" })).toEqual({ ...known, expected: "MODEL" });
  expect(missOf({ frame: "g" })).toEqual({ ...known, expected: "FRAME" });
  expect(missOf({}, { compaction: { step: 5 } })).toEqual({ ...known, expected: "COMPACTION" });
  expect(missOf({}, { compaction: { step: 4 } })).toEqual({ ...known, expected: null });
  expect(missOf({ at: 16 * MINUTE })).toEqual({ ...known, expected: "COLD" });
  expect(missOf({ at: 15 * MINUTE })).toEqual({ ...known, expected: null });
});

it("the provider's word is told with the cause that explains it, also where much was read", () => {
  const told = { answerId: "msg_b", miss: { reason: "MESSAGES_CHANGED", tokens: 300 } } as const;
  expect(missOf({ usage: hit, told }, { compaction: { step: 5 } })).toEqual({ ...told.miss, expected: "COMPACTION" });
  const vague = { answerId: "msg_b", miss: { reason: "UNAVAILABLE", tokens: null } } as const;
  expect(missOf({ told: vague })).toEqual({ reason: "UNAVAILABLE", tokens: 1_000, expected: null });
});

it("nothing is missed where nothing was cached, or nothing was counted", () => {
  expect(missOf({}, { measured: null })).toBeNull();
  expect(missOf({}, { measured: { ...measured, cached: 0 } })).toBeNull();
  expect(missOf({ usage: NO_TOKENS })).toBeNull();
  // Three tries of the step before have read the same tokens.
  expect(missOf({ usage: hit }, { measured: { ...measured, cached: 3_000 } })).toBeNull();
});

it("the share is a number from 0 to 1, or null, whatever a provider counts", () => {
  expect(cachedShareOf(NO_TOKENS)).toBeNull();
  const odd = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(null, undefined, "many") as unknown as fc.Arbitrary<number>);
  fc.assert(
    fc.property(odd, odd, odd, (inputTokens, cacheReadTokens, cacheWriteTokens) => {
      const share = cachedShareOf({ ...NO_TOKENS, inputTokens, cacheReadTokens, cacheWriteTokens });
      if (share !== null) expect(share >= 0 && share <= 1).toBe(true);
    }),
  );
});

it("a request is compared with the answer before only if the same model made it", () => {
  expect(answerBefore(measured, { name: "claude" })).toBe("msg_a");
  expect(answerBefore(measured, { name: "other" })).toBeNull();
  expect(answerBefore(null, { name: "claude" })).toBeNull();
});
