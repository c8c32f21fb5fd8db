import { describe, expect, it } from "vitest";
import { byteLength, storable } from "../../../src/lib/text.ts";
import { ShownOutput } from "../../../src/agent/workspace/output/shown-output.ts";

const LIMITS = { bytes: 1_000, lines: 20 };

function shownOf(text: string, chunkBytes = 7): { readonly text: string; readonly isWhole: boolean } {
  const output = new ShownOutput(LIMITS);
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += chunkBytes) output.take(all.subarray(at, at + chunkBytes));
  expect(output.bytes).toBe(all.length);
  return output.shown;
}

function expectBounded(text: string): void {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMITS.bytes);
  expect(text.split("\n").length).toBeLessThanOrEqual(LIMITS.lines);
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toContain("\ufffd");
}

describe("the output that a model is shown", () => {
  it.each([
    ["nothing", ""],
    ["as many bytes as fit", "x".repeat(1_000)],
    ["as many lines as fit", "x\n".repeat(20)],
  ])("is whole: %s", (_name, text) => {
    expect(shownOf(text)).toEqual({ text, isWhole: true, isText: true });
  });

  it.each([
    ["one line too many", Array.from({ length: 21 }, (_, line) => `line ${line}`).join("\n"), /^line 0\n.*line 20$/s],
    ["one byte too many", `a${"✓".repeat(333)}z`, /^a✓+\n\[… \d+ of 1001 bytes are left out here …\]\n✓+z$/],
    ["one endless line", `begin${"✓".repeat(9_999)}end`, /^begin✓+\n\[…/],
    [
      "a long line between short ones",
      `begins\n${"é".repeat(9_999)}\nends\n`,
      /^begins\né+\n\[… \d+ of \d+ bytes .*…\]\né+\nends\n$/,
    ],
  ])("is head and tail of what is longer: %s", (_name, text, form) => {
    for (const chunkBytes of [1, 7, 100_000]) {
      const shown = shownOf(text, chunkBytes);
      expect(shown.isWhole).toBe(false);
      expect(shown.text).toMatch(form);
      expectBounded(shown.text);
    }
  });

  it.each([
    ["no character", 0xff],
    ["NUL", 0],
  ])("is head and tail of what has no text, each byte of which takes three: %s", (_name, byte) => {
    const output = new ShownOutput(LIMITS);
    output.take(Buffer.concat([Buffer.from("begins"), Buffer.alloc(600, byte), Buffer.from("ends")]));
    const { text, isWhole } = output.shown;
    expect(isWhole).toBe(false);
    expect(byteLength(storable(text))).toBeLessThanOrEqual(LIMITS.bytes);
    expect(text).toMatch(/^begins.*\n\[… \d+ of 610 bytes are left out here …\]\n.*ends$/s);
  });

  it("says exactly how much is left out", () => {
    const text = Array.from({ length: 500 }, (_, line) => `line ${line}\n`).join("");
    const shown = shownOf(text).text;
    const [, head = "", leftOut, tail = ""] = /^(.*)\n\[… (\d+) of \d+ bytes are left out here …\]\n(.*)$/s.exec(shown) ?? [];
    expect(head.length + Number(leftOut) + tail.length).toBe(text.length);
    expect(text.startsWith(head)).toBe(true);
    expect(text.endsWith(tail)).toBe(true);
  });
});
