import { describe, expect, it } from "vitest";
import { partAt, partBefore, partsOf, withLineEndsOf } from "../../console/src/calls/text-parts.ts";
import { blocksOf } from "../../console/src/design/visible-lines.ts";

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

  it("split no escape of JSON", () => {
    const text = `${"x".repeat(PART - 1)}\\n${"y".repeat(10)}`;
    expect(partsOf(text)).toEqual([0, PART - 1, text.length]);
  });
});

describe("the blocks of a text", () => {
  it("are whole lines, and have the whole text", () => {
    const text = "a line of words\n".repeat(2_000);
    const blocks = blocksOf(text);
    expect(blocks.join("\n")).toBe(text);
    expect(blocks.length).toBeGreaterThan(5);
    expect(blocks.slice(0, -1).every((block) => block.endsWith("words"))).toBe(true);
    expect(blocksOf("")).toEqual([""]);
    expect(blocksOf("x".repeat(10_000))).toHaveLength(1);
  });
});

describe("one part of a long text", () => {
  const text = "a line of words\n".repeat(20_000);

  it("begins where it is asked for, and the parts before and after it join it", () => {
    const first = partAt(text, 0);
    const second = partAt(text, first.end);
    expect(first.begin).toBe(0);
    expect(text.slice(0, first.end).endsWith("\n")).toBe(true);
    expect(partBefore(text, second.begin)).toEqual(first);
    expect(partAt(text, text.length - 5)).toEqual({ begin: text.length - 5, end: text.length });
    expect(partAt("", 0)).toEqual({ begin: 0, end: 0 });
  });
});

describe("a text that was written in a field", () => {
  it("has the line ends of the text before", () => {
    expect(withLineEndsOf("a\r\nb\r\n", "a\nc\n")).toBe("a\r\nc\r\n");
    expect(withLineEndsOf("a\nb", "a\nc")).toBe("a\nc");
    expect(withLineEndsOf("a", "a\nc")).toBe("a\nc");
    // Nothing tells the lines of a mixed text apart.
    expect(withLineEndsOf("a\r\nb\nc", "a\nb\nd")).toBe("a\nb\nd");
  });
});
