import { expect, it } from "vitest";
import { counted } from "../../src/lib/text.ts";

it("gives a number with its noun: one is singular, all others are plural", () => {
  expect([0, 1, 2].map((count) => counted(count, "line"))).toEqual(["0 lines", "1 line", "2 lines"]);
});
