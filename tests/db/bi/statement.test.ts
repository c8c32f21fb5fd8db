import { describe, expect, it } from "vitest";
import { readingStatement, StatementRefused } from "../../../src/db/bi/statement.ts";

describe("the kind of an analyst's statement", () => {
  it.each([
    ["SELECT 1", "rows"],
    ["\uFEFF -- who\n/* a /* nested */ one */ select 1;", "rows"],
    ["((SELECT 1) UNION VALUES (2))", "rows"],
    ["with x AS (SELECT 1) TABLE x", "rows"],
    ["TABLE bi.agent", "rows"],
    ["explain (ANALYZE) SELECT 1", "plan"],
  ])("is that of its first word: %j", (text, kind) => {
    expect(readingStatement(text)).toEqual({ kind, text });
  });

  it.each([
    "",
    "  -- nothing",
    "/* never closed",
    "INSERT INTO x VALUES (1)",
    "COPY bi.agent TO STDOUT",
    "\\d",
    "DO $$$$",
    "; SELECT 1",
  ])("is refused with the statements that run: %j", (text) => {
    expect(() => readingStatement(text)).toThrow(StatementRefused);
    expect(() => readingStatement(text)).toThrow(/SELECT/);
  });
});
