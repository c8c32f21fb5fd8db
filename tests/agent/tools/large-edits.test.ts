import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEditable, editFiles } from "../../../src/agent/tools/fs/file-edits.ts";
import { temporaryFolder } from "../../support/app.ts";
import { contextIn, runTool } from "../../support/run-tool.ts";

const LINES = 20_000;

/** A line that is like none of the others. */
function line(number: number): string {
  return `${String.fromCodePoint(97 + (number % 26)).repeat(200)} line ${number}.`;
}

describe("many edits of a large file", () => {
  it("that fail are answered with the nearest texts of as many as a bounded search finds", async () => {
    const { edit } = await largeFile("\n");
    const refusal = await edit((number) => line(number).toUpperCase()).then(() => "", String);
    expect(refusal.match(/edits\[\d+\]/g)).toHaveLength(20);
    expect(refusal.match(/The nearest text stands in line \d+, and differs in upper and lower case only/g)).toHaveLength(2);
    expect(refusal.match(/The nearest text was not looked for, [^.]+\. The file has 20000 lines/g)).toHaveLength(18);
  });

  it("let others have their turns between two of them, and end there if the call ends", async () => {
    const { folder } = await largeFile("\n");
    const stop = new AbortController();
    const context = contextIn(folder, { signal: stop.signal });
    const before = await readEditable(context, "large.txt");
    const edits = Array.from({ length: 20 }, (_none, number) => ({
      path: "large.txt",
      oldString: `${line(number)}\n`,
      newString: "new\n",
      replaceAll: false,
    }));
    let turns = 0;
    const count = (): void => {
      turns += 1;
      if (turns === 50) stop.abort(new Error("enough"));
      else setImmediate(count);
    };
    setImmediate(count);
    const { replacements } = await editFiles(context, async () => before, edits);
    expect(replacements).toHaveLength(20);
    expect(turns).toBeGreaterThanOrEqual(20);
    expect(turns).toBeLessThan(50);
    await expect(editFiles(context, async () => before, [...edits, ...edits, ...edits])).rejects.toThrow("enough");
  });

  it.each(["\n", "\r\n"])("that succeed change it as one by one, with %j", async (lineEnd) => {
    const { edit, path } = await largeFile(lineEnd);
    const { output } = await edit((number) => `${line(number)}\n${line(number + 1)}`);
    expect(output).toMatch(/^Made 20 edits in 1 file:/);
    const lines = (await readFile(path, "utf8")).split(lineEnd);
    expect(lines.filter((each) => each === "new")).toHaveLength(40);
    expect(lines).toHaveLength(LINES + 1);
  });
});

/** A file of some MB, and 20 edits of it as one call: each looks for what `wanted` makes of the number of a line. */
async function largeFile(lineEnd: string) {
  const folder = await temporaryFolder();
  const path = join(folder, "large.txt");
  await writeFile(path, Array.from({ length: LINES }, (_none, number) => `${line(number)}${lineEnd}`).join(""));
  const edit = (wanted: (number: number) => string) => {
    const edits = Array.from({ length: 20 }, (_none, index) => ({
      path: "large.txt",
      old_string: wanted(index * 10),
      new_string: "new\nnew",
    }));
    return runTool(folder, "fs_multi_edit", { edits });
  };
  return { folder, path, edit };
}
