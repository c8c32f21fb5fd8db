import { expect, it } from "vitest";
import { csvLine } from "../../src/lib/csv.ts";
import { textTable } from "../../src/lib/text-table.ts";

const text = (value: string) => ({ text: value, isNumber: false });

it("a line of CSV quotes as RFC 4180 says, and tells no value from an empty text", () => {
  expect(csvLine([text("a"), null, text(""), text('say "x", y'), text("two\r\nlines")])).toBe(
    'a,,"","say ""x"", y","two\r\nlines"\r\n',
  );
});

it("a text that a spreadsheet would run begins with an apostrophe, a number does not", () => {
  for (const formula of ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\r=1"]) expect(csvLine([text(formula)])).toMatch(/^"?'/);
  expect(csvLine([{ text: "-5.25", isNumber: true }, text("a=1")])).toBe("-5.25,a=1\r\n");
  expect(csvLine([text('=HYPERLINK("x",1)')])).toBe(`"'=HYPERLINK(""x"",1)"\r\n`);
});

it("a table shows the commands of a terminal as escapes, and cuts long cells", () => {
  const columns = [
    { name: "name", isNumber: false },
    { name: "n", isNumber: true },
  ];
  const rows = [
    ["\u001b[2Jx\ny", "7"],
    [null, "-10"],
    ["a😀", "1"],
  ];
  const [head, ...lines] = textTable(columns, rows);
  expect(head).toBe(`${"name".padEnd(17)}    n`);
  expect(lines).toEqual([
    `${"-".repeat(17)}  ---`,
    String.raw`\u001b[2Jx\u000ay    7`,
    `NULL${" ".repeat(13)}  -10`,
    // The picture is as wide as two letters.
    `a😀${" ".repeat(14)}    1`,
  ]);
  expect(textTable(columns, [["x".repeat(300), "1"]])[2]).toBe(`${"x".repeat(200)}…  1`);
});
