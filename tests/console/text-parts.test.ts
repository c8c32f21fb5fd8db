import { describe, expect, it } from "vitest";
import { partsOf } from "../../console/src/calls/text-parts.ts";

const PART = 64 * 1024;

describe("the parts of a long text", () => {
  it("are one for a short one, and for none", () => {
    expect(partsOf("")).toEqual([0, 0]);
    expect(partsOf("x".repeat(PART))).toEqual([0, PART]);
  });

  it("have the whole text, at most 64 K characters each, and end with a line where one ends", () => {
    const text = "a line of words\n".repeat(20_000);
    const begins = partsOf(text);
    const parts = begins.slice(1).map((end, index) => text.slice(begins[index], end));
    expect(parts.join("")).toBe(text);
    expect(parts.every((part) => part.length <= PART && part.endsWith("\n"))).toBe(true);
  });

  it("split no character of a text without lines", () => {
    const text = `x${"😀".repeat(PART)}`;
    const begins = partsOf(text);
    expect(begins.length).toBeGreaterThan(2);
    expect(begins.slice(1, -1).every((begin) => text.slice(begin).startsWith("😀"))).toBe(true);
  });
});
