import { expect, it } from "vitest";
import { isShell } from "../../src/agent/bash/runners/runners.ts";
import { withoutEnd } from "../../src/lib/text.ts";

it.each([
  ["", "=", ""],
  ["==", "=", ""],
  ["a=b==", "=", "a=b"],
  ["bash-5.2", "-.0123456789", "bash"],
  ["a", "", "a"],
])("%j without %j at its end is %j", (text, characters, shorter) => {
  expect(withoutEnd(text, characters)).toBe(shorter);
});

it("is found in time however many of the characters stand inside", () => {
  expect(withoutEnd(`${"=".repeat(2_000_000)}x`, "=")).toHaveLength(2_000_001);
  expect(isShell(`${"5".repeat(2_000_000)}x`)).toBe(false);
});
