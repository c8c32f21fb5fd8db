import { describe, expect, it } from "vitest";
import { diffIn, ofTurn } from "../../console/src/agents/file-edits.ts";

describe("the change of a file in the details of a call", () => {
  it.each([
    ["of one file", { path: "./x/../a.txt", diff: "one" }, "one"],
    [
      "of several",
      {
        files: [
          { path: "b.txt", diff: "b" },
          { path: "a.txt", diff: "a" },
        ],
      },
      "a",
    ],
    ["too large", { path: "a.txt", diff: null }, null],
    ["of several, too large", { files: [{ path: "a.txt", diff: null }], diff: "other" }, null],
    ["erased", null, null],
    ["of another tool", "text", null],
  ])("is read %s", (_name, details, diff) => {
    expect(diffIn(details, "a.txt")).toBe(diff);
  });

  it("is of the turn by its number", () => {
    expect(ofTurn([{ turn: 3 }, { turn: 2 }], 3)).toEqual([{ turn: 3 }]);
  });
});
