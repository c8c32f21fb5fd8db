import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../support/app.ts";
import { runTool } from "../../support/run-tool.ts";

describe("fs_grep sees the lines that fs_read shows", () => {
  it.each([
    ["the end of a line before a line end of two characters", ";$", ["a.ts:1:11", "a.ts:2:6"]],
    ["a whole line before a line end of two characters", "^.*b.*$", ["a.ts:1:1", "a.ts:2:1"]],
    ["a carriage return that the expression names", ";\\r$", ["a.ts:1:11", "a.ts:2:6"]],
    ["the start of the first line behind a byte order mark", "^import", ["a.ts:1:1"]],
  ])("by an expression: %s", async (_name, pattern, places) => {
    expect(await found("\ufeffimport abc;\r\nlet b;\r\n", { pattern, regex: true })).toEqual(places);
  });

  it("by a text with a carriage return, and in all pieces of a long file", async () => {
    expect(await found("one;\r\ntwo\r\n", { pattern: ";\r" })).toEqual(["a.ts:1:4"]);
    const long = `${"x".repeat(300_000)};\r\nneedle;\r\n`;
    expect(await found(long, { pattern: ";$", regex: true })).toEqual(["a.ts:1:300001", "a.ts:2:7"]);
  });

  it.each([
    ["utf16le", [0xff, 0xfe]],
    ["big endian", [0xfe, 0xff]],
  ])("in UTF-16 with a byte order mark: %s", async (order, mark) => {
    const text = Buffer.from("one\r\nça needle\r\n", "utf16le");
    const content = Buffer.concat([Buffer.from(mark), order === "utf16le" ? text : text.swap16()]);
    expect(await found(content, { pattern: "needle" })).toEqual(["a.ts:2:4"]);
    expect(await found(content, { pattern: "^ça needle$", regex: true })).toEqual(["a.ts:2:1"]);
  });
});

/** The places that a search finds in a file of this content. */
async function found(content: string | Buffer, input: { readonly pattern: string; readonly regex?: boolean }): Promise<string[]> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "a.ts"), content);
  const { output } = await runTool(folder, "fs_grep", { ...input });
  return (output ?? "").split("\n").flatMap((line) => /^a\.ts:\d+:\d+(?=: )/.exec(line) ?? []);
}
