import { expect, it } from "vitest";
import { LockedRows } from "../../../src/agent/loop/lease.ts";

const ADA = { agentId: "ada", tenant: "acme" };
const BEN = { agentId: "ben", tenant: "acme" };
const free = new Set(["ada", "ben"]);
const noneFree = new Set<string>();

/** Locked rows whose time the test sets. */
function rows() {
  let now = 0;
  const locked = new LockedRows(() => now);
  return {
    locked,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

it("an agent whose row nobody held is claimed at once", () => {
  const { locked } = rows();
  expect(locked.claimable([ADA, BEN], free)).toEqual([ADA, BEN]);
});

it("an agent whose row was locked is claimed by the third look that finds it free, a second after each other", () => {
  const { locked, pass } = rows();
  expect(locked.claimable([ADA, BEN], new Set(["ben"]))).toEqual([BEN]);
  for (let look = 0; look < 2; look += 1) {
    pass(1_000);
    expect(locked.claimable([ADA], free)).toEqual([]);
  }
  pass(1_000);
  expect(locked.claimable([ADA], free)).toEqual([ADA]);
});

it("looks that follow each other at once count as one: the owner had no time between them", () => {
  const { locked, pass } = rows();
  locked.claimable([ADA], noneFree);
  pass(3_000);
  for (let look = 0; look < 10; look += 1) expect(locked.claimable([ADA], free)).toEqual([]);
  pass(999);
  expect(locked.claimable([ADA], free)).toEqual([]);
});

it("a look that was late itself does not end the owner's time", () => {
  const { locked, pass } = rows();
  locked.claimable([ADA], noneFree);
  expect(locked.claimable([ADA], free)).toEqual([]);
  pass(3_000);
  expect(locked.claimable([ADA], free)).toEqual([]);
  pass(10);
  expect(locked.claimable([ADA], free)).toEqual([]);
  pass(990);
  expect(locked.claimable([ADA], free)).toEqual([ADA]);
});

it("a row that is locked again begins anew, and one whose lease was renewed is forgotten", () => {
  const { locked, pass } = rows();
  locked.claimable([ADA], noneFree);
  locked.claimable([ADA], free);
  pass(1_000);
  locked.claimable([ADA], noneFree);
  expect(locked.claimable([ADA], free)).toEqual([]);
  pass(1_000);
  expect(locked.claimable([ADA], free)).toEqual([]);
  expect(locked.claimable([BEN], free)).toEqual([BEN]);
  expect(locked.claimable([ADA], free)).toEqual([ADA]);
});
