import { describe, expect, it } from "vitest";
import { editedParts } from "../../console/src/inbox/edits/edited-parts.ts";

describe("the edit of an input", () => {
  it("has each parameter that differs, whatever the order of names", () => {
    const before = { to: "DE1", amount: 120.5, note: { b: 1, a: 2 }, old: true };
    const after = { amount: 99, note: { a: 2, b: 1 }, to: "DE1", lines: ["x"] };
    expect(editedParts(before, after)).toEqual([
      { name: "amount", before: "120.5", after: "99" },
      { name: "old", before: "true", after: null },
      { name: "lines", before: null, after: '[\n  "x"\n]' },
    ]);
  });

  it("tells a text from a number, and takes what is no object as a whole", () => {
    expect(editedParts({ a: "1" }, { a: 1 })).toEqual([{ name: "a", before: "1", after: "1" }]);
    expect(editedParts([1], [2])).toEqual([{ name: "", before: "[\n  1\n]", after: "[\n  2\n]" }]);
  });
});
