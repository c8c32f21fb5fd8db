import { describe, expect, it } from "vitest";
import { fileText } from "../../../src/deliveries/exports/file-text.ts";

const line = (...values: Parameters<ReturnType<typeof fileText>["row"]>[0]) =>
  fileText(
    "CSV",
    values.map((_value, index) => `c${index}`),
  ).row(values);

describe("the text of a file", () => {
  it.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1+cmd", "'-1+cmd"],
    ["@SUM(1)", "'@SUM(1)"],
    ["\t=1", "'\t=1"],
    ["\r=1", '"\'\r=1"'],
    ["\n=1", '"\'\n=1"'],
    ["＝1", "'＝1"],
    ['=HYPERLINK("http://a.example","b")', '"\'=HYPERLINK(""http://a.example"",""b"")"'],
    ["a=1", "a=1"],
    ["mail@example.org", "mail@example.org"],
    ["1-2", "1-2"],
  ])("shows the formula %j as a text in a spreadsheet", (text, cell) => {
    expect(line(text)).toBe(`${cell}\r\n`);
  });

  it("keeps a row in its line, with each value in its column, whatever is in it", () => {
    expect(line("a,b", 'say "hi"', "two\nlines", null, "", true, -5, 1.5, 12n, new Date(0))).toBe(
      '"a,b","say ""hi""","two\nlines",,"",true,-5,1.5,12,1970-01-01T00:00:00.000Z\r\n',
    );
  });

  it("begins with a mark by which spreadsheets know UTF-8, and the names once", () => {
    expect(fileText("CSV", ["a", "b"]).head).toBe("\uFEFFa,b\r\n");
    expect(fileText("NDJSON", ["a", "b"]).head).toBe("");
  });

  it("has whole times at midnight, all digits of numbers, and lists of names in one column", () => {
    const values = [new Date("2026-01-01T00:00:00Z"), 9_007_199_254_740_991, 0.1, ["b.example", "=a.example"], []];
    expect(line(...values)).toBe('2026-01-01T00:00:00.000Z,9007199254740991,0.1,"b.example, =a.example",""\r\n');
    expect(fileText("NDJSON", ["a", "b", "c", "d", "e"]).row(values)).toBe(
      '{"a":"2026-01-01T00:00:00.000Z","b":9007199254740991,"c":0.1,"d":["b.example","=a.example"],"e":[]}\n',
    );
    expect(line(["=a.example"])).toBe("'=a.example\r\n");
  });

  it("has exact texts in JSON", () => {
    expect(fileText("NDJSON", ["a", "b", "c", "d"]).row(["=1\n", null, false, new Date(0)])).toBe(
      '{"a":"=1\\n","b":null,"c":false,"d":"1970-01-01T00:00:00.000Z"}\n',
    );
  });
});
