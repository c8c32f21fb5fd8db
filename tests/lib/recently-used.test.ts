import { expect, it } from "vitest";
import { recentlyUsed } from "../../src/lib/recently-used.ts";

it("a cache of the recently used entries keeps as many as it may, and loses the one that was used least recently", () => {
  const cache = recentlyUsed<string>(3);
  for (const key of ["a", "b", "c"]) cache.set(key, key.repeat(10_000));
  expect(cache.get("a")).toBeDefined();
  cache.set("d", "");
  expect([...cache.keys()].toSorted()).toEqual(["a", "c", "d"]);
});
