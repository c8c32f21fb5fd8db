import { expect, it } from "vitest";
import { textTable } from "../../src/lib/text-table.ts";

const COLUMNS = [
  { name: "name", isNumber: false },
  { name: "calls", isNumber: true },
];

const table = (...rows: readonly (readonly (string | null)[])[]) => textTable(COLUMNS, rows);

it("a table has numbers at the right, and shows a null", () => {
  expect(table(["read", "1"], ["", "12"], [null, null])).toEqual([
    "name  calls",
    "----  -----",
    "read      1",
    "         12",
    "NULL   NULL",
  ]);
});

it("columns stand below each other, whatever the widths of their letters are", () => {
  // Two cells each: Han, Kana, Hangul, a full-width form, emoji. One: half-width Kana, an accent of its own, Cyrillic.
  const lines = table(
    ["東京", "1"],
    ["ひらカナ", "2"],
    ["한국", "3"],
    ["Ａ，", "4"],
    ["👩💻", "5"],
    ["ｶﾅ", "6"],
    ["e\u0301a", "7"],
    ["мир", "8"],
  );
  expect(lines.slice(2)).toEqual([
    "東京          1",
    "ひらカナ      2",
    "한국          3",
    "Ａ，          4",
    "👩💻          5",
    "ｶﾅ            6",
    "e\u0301a            7",
    "мир           8",
  ]);
});

it("what would command a terminal is an escape, and a long text is cut", () => {
  const [, , line = ""] = table(["a\u001b[31m\u202eb\n", "1"]);
  expect(line).toMatch(/^a\\u001b\[31m\\u202eb\\u000a +1$/);
  expect(table(["x".repeat(300), "1"])[2]).toBe(`${"x".repeat(200)}…      1`);
});

it("the indentation of a plan stays, and runs of spaces within a line are shown", () => {
  const [, , first, second] = textTable([{ name: "plan", isNumber: false }], [["      ->  Seq Scan"], ["a      b"]]);
  expect(first).toBe("      ->  Seq Scan");
  expect(second).toBe(`a${"\\u0020".repeat(6)}b`);
});
