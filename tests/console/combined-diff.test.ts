import { applyPatch } from "diff";
import { describe, expect, it } from "vitest";
import { combinedDiff } from "../../console/src/agents/combined-diff.ts";
import { fileDiff } from "../../src/agent/tools/fs/unified-diff.ts";

/** The diffs of a file that has these versions one after another. */
function diffsOf(versions: readonly (string | null)[]): readonly string[] {
  return versions.slice(1).map((version, index) => fileDiff("a.txt", versions[index] ?? null, version ?? "").diff ?? "");
}

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);

function text(change: (lines: string[]) => void): string {
  const lines = [...LINES];
  change(lines);
  return `${lines.join("\n")}\n`;
}

const START = text(() => {});

describe("the diffs of edits as one diff", () => {
  it.each([
    ["of one edit", [START, text((lines) => void (lines[4] = "five"))]],
    [
      "of the same line twice",
      [
        START,
        text((lines) => void (lines[4] = "five")),
        text((lines) => void (lines[4] = "5")),
        text((lines) => void (lines[4] = "V")),
      ],
    ],
    [
      "of places apart, the later one above",
      [
        START,
        text((lines) => void lines.splice(30, 2, "x", "y", "z")),
        text((lines) => {
          lines.splice(30, 2, "x", "y", "z");
          lines.splice(3, 0, "new");
        }),
      ],
    ],
    ["of a new file", [null, "a\nb\n", "a\nc\nb\n"]],
    ["of a file that became empty", ["a\nb\n", "", "c\n"]],
    ["of ends without a line break", ["a\nb", "a\nb\nc", "a\nb\nc\n"]],
    ["of all lines", [START, "none\n", text((lines) => void lines.splice(0, lines.length, ...lines.toReversed()))]],
  ] as const)("leads from the first version to the last one: %s", (_name, versions) => {
    const combined = combinedDiff(diffsOf(versions)) ?? "";
    expect(applyPatch(versions[0] ?? "", `--- a\n+++ b\n${combined}`)).toBe(versions.at(-1));
  });

  it("leads there for many random edits, too", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    for (let round = 0; round < 200; round += 1) {
      const versions = [START];
      for (let edits = 1 + random(6); edits > 0; edits -= 1) {
        const lines = (versions.at(-1) ?? "").split("\n");
        lines.splice(random(lines.length), random(4), ...Array.from({ length: random(3) }, () => `word ${random(5)}`));
        versions.push(lines.join("\n"));
      }
      const combined = combinedDiff(diffsOf(versions));
      expect(applyPatch(START, `--- a\n+++ b\n${combined ?? "@@ none"}`), `round ${round}`).toBe(versions.at(-1));
    }
  });

  it("is empty for a change that was changed back", () => {
    expect(combinedDiff(diffsOf([START, text((lines) => void (lines[4] = "five")), START]))).toBe("");
  });

  it("is none if something else has changed the file between", () => {
    const [first = ""] = diffsOf([START, text((lines) => void (lines[4] = "five"))]);
    const [second = ""] = diffsOf([text((lines) => void (lines[4] = "other")), text((lines) => void (lines[4] = "V"))]);
    expect(combinedDiff([first, second])).toBe(null);
  });
});
