import { equal } from "node:assert/strict";
import { test } from "node:test";
import { clock } from "./clock.mjs";

test("minutes have two digits", () => {
  equal(clock(new Date("2026-01-01T17:05:00Z")), "17:05");
});

test("hours have two digits", () => {
  equal(clock(new Date("2026-01-01T07:45:00Z")), "07:45");
});
