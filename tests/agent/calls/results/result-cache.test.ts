import { expect, it } from "vitest";
import { RecentResults, ResultCache } from "../../../../src/agent/calls/results/result-cache.ts";

const kept = (answer = "{}") => ({ callId: "call", answer, noted: [] });

/** A cache that holds a result for "key". */
function holding(recent: RecentResults, answer?: string): ResultCache {
  const cache = new ResultCache(recent);
  cache.keep({ key: "key", result: kept(answer), since: cache.moment ?? -1 });
  return cache;
}

it("no agent is given another's result, and what is forgotten takes no memory", () => {
  const recent = new RecentResults();
  const one = holding(recent);
  const other = new ResultCache(recent);
  expect(one.give("key")).toEqual(kept());
  expect(other.give("key")).toBeNull();
  other.clear();
  expect(one.give("key")).toEqual(kept());
  expect(recent.bytes).toBeGreaterThan(0);
  one.clear();
  expect(recent.bytes).toBe(0);
});

it("the results of all agents are bounded in bytes, the oldest go first, and large ones are not kept", () => {
  const recent = new RecentResults();
  const large = "x".repeat(100_000);
  expect(holding(recent, "x".repeat(140_000)).give("key")).toBeNull();
  const caches = Array.from({ length: 200 }, () => holding(recent, large));
  expect(recent.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(caches.filter((cache) => cache.give("key") !== null)).toEqual(caches.slice(-83));
});

it("nothing is given or kept while something changes, also if two do, nor what began before it", async () => {
  const cache = holding(new RecentResults());
  const since = cache.moment ?? -1;
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const changes = [cache.changing(async () => first.promise), cache.changing(async () => second.promise)];
  const isClosed = (): boolean => {
    cache.keep({ key: "key", result: kept(), since });
    return cache.moment === null && cache.give("key") === null;
  };
  expect(isClosed()).toBe(true);
  first.resolve();
  await changes[0];
  expect(isClosed()).toBe(true);
  second.reject(new Error("it failed"));
  await expect(changes[1]).rejects.toThrow("it failed");
  cache.keep({ key: "key", result: kept(), since });
  expect(cache.give("key")).toBeNull();
  cache.keep({ key: "key", result: kept(), since: cache.moment ?? -1 });
  expect(cache.give("key")).toEqual(kept());
});
