import { expect, it } from "vitest";
import { csvOf } from "../../console/src/design/csv.ts";

it("a table becomes CSV, with quotes doubled and line breaks kept", () => {
  expect(csvOf(["tool", "input"], [["fs_write", 'say "hi",\nthen go']])).toBe(
    '"tool","input"\r\n"fs_write","say ""hi"",\nthen go"\r\n',
  );
});

it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\n@x"])("a spreadsheet does not run the cell %j", (text) => {
  expect(csvOf(["a"], [[text]])).toBe(`"a"\r\n"'${text}"\r\n`);
});

it("other cells stay as they are", () => {
  expect(csvOf(["a", "b", "c"], [["a=b", "", "{}"]])).toBe('"a","b","c"\r\n"a=b","","{}"\r\n');
});
