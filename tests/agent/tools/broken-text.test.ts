import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KnownFiles, RecentContents } from "../../../src/agent/workspace/known-files.ts";
import { temporaryFolder } from "../../support/app.ts";
import { runTool } from "../../support/run-tool.ts";

const LATIN = Buffer.from("caf\xe9 = 1\nna\xefve = 2\n", "latin1");
const WARNING = "fs_edit refuses the file, and written back it would lose them";

describe("a file that is no UTF-8", () => {
  it("is read with a note of what is shown as U+FFFD, and is not known as a whole", async () => {
    const { folder, files } = await withFile("a.txt", LATIN);
    const read = await runTool(folder, "fs_read", { path: "a.txt" }, { files });
    expect(read.output).toBe(
      `caf\uFFFD = 1\nna\uFFFDve = 2\n\n[2 characters are not valid UTF-8 and are shown as U+FFFD: ${WARNING}]`,
    );
    expect(files.noted).toMatchObject([{ path: "a.txt", access: "READ", isWhole: false }]);
    const part = await runTool(folder, "fs_read", { path: "a.txt", offset: 2 }, { files });
    expect(part.output).toContain("[1 character is not valid UTF-8 and is shown as U+FFFD: ");
  });

  it("is not replaced by what was shown of it: the model is told what to do", async () => {
    const { folder, files } = await withFile("a.txt", LATIN);
    await runTool(folder, "fs_read", { path: "a.txt" }, { files });
    const written = runTool(folder, "fs_write", { path: "a.txt", content: "caf\uFFFD = 3\n" }, { files });
    await expect(written).rejects.toThrow(/^a\.txt has bytes that are no text[^]*U\+FFFD[^]*write the characters that are meant/);
    expect(await readFile(join(folder, "a.txt"))).toEqual(LATIN);
  });

  it("is replaced by text that is written out, and fs_write says what it was", async () => {
    const { folder, files } = await withFile("a.txt", LATIN);
    await runTool(folder, "fs_read", { path: "a.txt" }, { files });
    const written = await runTool(folder, "fs_write", { path: "a.txt", content: "café = 3\n" }, { files });
    expect(written.output).toBe("Wrote a.txt (1 line, 10 bytes). What it had before was no valid text: it is UTF-8 now.");
    expect(files.noted).toMatchObject([{ access: "WRITTEN", isWhole: true }]);
  });

  it("in UTF-16 that is broken is not known as a whole either", async () => {
    const { folder, files } = await withFile("a.txt", Buffer.from([0xff, 0xfe, 0x61, 0, 0, 0xd8]));
    const read = await runTool(folder, "fs_read", { path: "a.txt" }, { files });
    expect(read.output).toBe(`a\uFFFD\n[what is not valid UTF-16 is shown as U+FFFD: ${WARNING}]`);
    expect(files.noted).toMatchObject([{ isWhole: false }]);
  });

  it("with U+FFFD of its own is text like all others", async () => {
    const { folder, files } = await withFile("a.txt", Buffer.from("one \uFFFD\n"));
    const read = await runTool(folder, "fs_read", { path: "a.txt" }, { files });
    expect(read.output).toBe("one \uFFFD\n");
    expect(files.noted).toMatchObject([{ isWhole: true }]);
    const written = await runTool(folder, "fs_write", { path: "a.txt", content: "two \uFFFD\n" }, { files });
    expect(written.output).toBe("Wrote a.txt (1 line, 8 bytes).");
  });

  it("is no such file only because a long line is shown in part", async () => {
    const { folder, files } = await withFile("a.txt", Buffer.from("ä".repeat(40_000)));
    expect((await runTool(folder, "fs_read", { path: "a.txt" }, { files })).output).not.toContain("U+FFFD");
  });
});

/** A folder with one file, and the files that an agent knows there, which are none. */
async function withFile(name: string, content: Buffer): Promise<{ readonly folder: string; readonly files: KnownFiles }> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, name), content);
  return { folder, files: new KnownFiles(async () => null, new RecentContents()) };
}
