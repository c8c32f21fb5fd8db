import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { globMatcher } from "../../../src/agent/workspace/glob.ts";

describe("globMatcher", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "src/a.ts", false],
    ["**/*.ts", "a.ts", true],
    ["**/*.ts", "src/deep/a.ts", true],
    ["**", "src/deep/a.ts", true],
    ["src/**", "src/a", true],
    ["src/**/a.ts", "src/a.ts", true],
    ["src/**/a.ts", "src/x/y/a.ts", true],
    ["src/**/a.ts", "lib/x/a.ts", false],
    ["**/x/**/y", "a/x/b/x/c/y", true],
    ["?.ts", "ab.ts", false],
    ["?.ts", "a.ts", true],
    ["[a-c].ts", "b.ts", true],
    ["[!a-c].ts", "b.ts", false],
    ["[!a-c].ts", "x.ts", true],
    ["[", "[", true],
    ["*.{ts,tsx}", "a.tsx", true],
    ["{src,lib}/{a,b}.ts", "lib/b.ts", true],
    ["{src,lib}/{a,b}.ts", "lib/c.ts", false],
    ["a{b{c,d},e}f", "abdf", true],
    ["{a", "{a", true],
    ["*", ".hidden", false],
    [".*", ".hidden", true],
    ["**/a", ".git/a", false],
    [".git/*", ".git/a", true],
    ["a.b", "axb", false],
  ])("%s on %s: %s", (pattern, path, expected) => {
    expect(globMatcher(pattern, false)(path)).toBe(expected);
  });

  it("matches hidden names with dot", () => {
    expect(globMatcher("**/*", true)(".a/.b")).toBe(true);
  });

  it("takes less than 200 ms of the processor for a pattern that would make others backtrack for ever", () => {
    const started = process.cpuUsage();
    expect(globMatcher("*a".repeat(40) + "b", false)("a".repeat(200))).toBe(false);
    expect(
      globMatcher(
        Array.from({ length: 20 }, () => "**/a").join("/") + "/b",
        false,
      )(Array.from({ length: 200 }, () => "a").join("/")),
    ).toBe(false);
    expect(process.cpuUsage(started).user).toBeLessThan(200 * 1_000);
    expect(() => globMatcher("{a,b}".repeat(10), false)).toThrow("more than 100 alternatives");
    expect(() => globMatcher("{".repeat(100_000) + "}".repeat(100_000), false)).toThrow("at most 1000 characters");
    expect(globMatcher("{".repeat(500) + "}".repeat(500), false)("a")).toBe(false);
  });
});

describe("globMatcher beside picomatch, as what it should agree with", () => {
  /** Names of few letters, so that random patterns match random paths often. */
  const name = fc.stringMatching(/^[ab.]{1,3}$/).filter((text) => text !== "." && text !== "..");
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
  const piece = fc.constantFrom("a", "b", ".a", "*", "?", "a*", "*b", "[ab]", "[!a]", "**", "{a,b}", "{a,b*}", "a?b");
  /** Without `*` and `**` at the end, in which picomatch's `**` must find something, and ours, as after a plain name, need not. */
  const pattern = fc
    .array(piece, { minLength: 1, maxLength: 4 })
    .map((pieces) => pieces.join("/"))
    .filter((text) => !/[*?\]}](\/\*\*)+$/.test(text));

  it.each([true, false])("matches the same paths (dot: %s)", (dot) => {
    fc.assert(
      fc.property(pattern, path, (glob, text) => {
        // Picomatch excludes by [^a], ours by [!a].
        const expected = picomatch.isMatch(text, glob.replaceAll("[!", "[^"), { dot, noextglob: true });
        expect(globMatcher(glob, dot)(text), `${glob} on ${text}`).toBe(expected);
      }),
      { numRuns: 5_000 },
    );
  });
});
