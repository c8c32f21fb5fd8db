import fc from "fast-check";
import { expect, it } from "vitest";

it("an asynchronous property ends at its first failure, since each case may keep a server", async () => {
  const cases: number[] = [];
  const property = fc.asyncProperty(fc.integer({ min: 1_000, max: 1_000_000 }), async (number) => {
    fc.pre(cases.length > 0 || number % 2 === 0);
    cases.push(number);
    return number < 5_000;
  });
  const { failed, counterexample, numShrinks } = await fc.check(property);
  expect([failed, numShrinks]).toEqual([true, 0]);
  expect(cases.filter((number) => number >= 5_000)).toEqual(counterexample);
  // The failure of one run hides none of the next.
  expect((await fc.check(fc.asyncProperty(fc.nat(), async () => false))).failed).toBe(true);
});

it("a synchronous property makes its failure smaller", () => {
  expect(fc.check(fc.property(fc.nat(), (number) => number < 5_000)).counterexample).toEqual([5_000]);
});
