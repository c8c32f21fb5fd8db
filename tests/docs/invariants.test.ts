import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

it("ARCHITECTURE.md names tests of each invariant that are there and carry its number", async () => {
  const architecture = await readFile(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");
  const rows = [...architecture.matchAll(/^\| (\d+) \| .* \| ([^|]+) \|$/gm)];
  expect(rows.map(([, number]) => Number(number))).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
  for (const [, number, tests = ""] of rows)
    for (const [, path = ""] of tests.matchAll(/`([\w/-]+)`/g)) {
      const text = await readFile(new URL(`../${path}.test.ts`, import.meta.url), "utf8");
      expect(text, `${path}.test.ts`).toMatch(new RegExp(`invariants? (?:\\d+(?:, | and ))*${number}\\b`));
    }
});
