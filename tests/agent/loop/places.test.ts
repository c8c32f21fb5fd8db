import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Places } from "../../../src/agent/loop/places.ts";

/** The places of a server that has several tenants. */
function sharedPlaces(limit: number): Places {
  return new Places(limit, true);
}

/** Takes as many places for the tenants as they can have, one each in turn. Answers how many each has. */
function takeAll(places: Places, ...tenants: readonly string[]): readonly number[] {
  const held = tenants.map(() => 0);
  for (let isTaken = true; isTaken;) {
    isTaken = false;
    for (const [index, tenant] of tenants.entries()) {
      if (!places.take(tenant)) continue;
      isTaken = true;
      held[index] = (held[index] ?? 0) + 1;
    }
  }
  return held;
}

describe("the places of a server (invariant 13)", () => {
  it("are all of the only tenant's", () => {
    expect(takeAll(new Places(100, false), "a")).toEqual([100]);
  });

  it("are two thirds for one of several tenants, and two fifths for each of two", () => {
    expect(takeAll(sharedPlaces(100), "a")).toEqual([66]);
    expect(takeAll(sharedPlaces(100), "a", "b")).toEqual([40, 40]);
    expect(takeAll(sharedPlaces(2_000), "a")).toEqual([1_333]);
  });

  it("are there for the first agent of a tenant, however few they are", () => {
    for (const limit of [1, 2, 3, 4]) expect(sharedPlaces(limit).take("a")).toBe(true);
    expect(takeAll(sharedPlaces(2), "a")).toEqual([1]);
    expect(takeAll(sharedPlaces(3), "a")).toEqual([2]);
  });

  it("name those that may take no other, until places are given back", () => {
    const places = sharedPlaces(3);
    takeAll(places, "a");
    expect(places.crowded()).toEqual(["a"]);
    places.giveBack("a");
    expect(places.crowded()).toEqual([]);
  });

  it("are never all of two tenants", () => {
    const step = fc.record({ tenant: fc.constantFrom("a", "b"), isTaken: fc.nat(9).map((number) => number > 0) });
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 60 }), fc.array(step, { maxLength: 400 }), (limit, steps) => {
        const places = sharedPlaces(limit);
        const held = { a: 0, b: 0 };
        for (const { tenant, isTaken } of steps) {
          if (isTaken && places.take(tenant)) held[tenant] += 1;
          else if (!isTaken && held[tenant] > 0) {
            places.giveBack(tenant);
            held[tenant] -= 1;
          }
          expect(places.free).toBe(limit - held.a - held.b);
          expect(places.free).toBeGreaterThan(0);
        }
        expect(places.take("c")).toBe(true);
      }),
    );
  });
});
