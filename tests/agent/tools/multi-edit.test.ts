import { link, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { temporaryFolder } from "../../support/app.ts";
import { contextIn, runTool } from "../../support/run-tool.ts";

type Edit = { readonly path: string; readonly old_string: string; readonly new_string: string; readonly replace_all?: boolean };

/** A folder with files, and the edits of them as one call. */
async function folderWith(files: Readonly<Record<string, string>>) {
  const folder = realpathSync(await temporaryFolder());
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  const edit = (edits: readonly Edit[], more: Parameters<typeof runTool>[3] = {}) =>
    runTool(folder, "fs_multi_edit", { edits: edits.map((each) => ({ ...each })) }, more);
  const contents = async () =>
    Object.fromEntries(
      await Promise.all(readdirSync(folder).map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
    );
  return { folder, edit, contents };
}

const replace = (path: string, old_string: string, new_string: string): Edit => ({ path, old_string, new_string });

describe("fs_multi_edit (X6)", () => {
  it("makes edits of several files, those of one file in their order", async () => {
    const { edit, contents } = await folderWith({ "a.txt": "one\n", "b.txt": "x\r\nx\r\n" });
    const { output, details } = await edit([
      replace("a.txt", "one", "two"),
      { ...replace("b.txt", "x\n", "y\n"), replace_all: true },
      replace("a.txt", "two", "$&"),
    ]);
    expect(await contents()).toEqual({ "a.txt": "$&\n", "b.txt": "y\r\ny\r\n" });
    expect(output).toBe("Made 3 edits in 2 files:\na.txt: 1 replaced\nb.txt: 2 replaced\na.txt: 1 replaced");
    expect(details).toEqual({
      ok: true,
      results: [
        { path: "a.txt", replacements: 1, status: "ok" },
        { path: "b.txt", replacements: 2, status: "ok" },
        { path: "a.txt", replacements: 1, status: "ok" },
      ],
      files: [
        { path: "a.txt", lines: 1, diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+$&\n" },
        { path: "b.txt", lines: 2, diff: expect.stringContaining("-x\r\n-x\r\n+y\r\n+y\r\n") },
      ],
    });
  });

  it("changes no file if one edit cannot be made, and names each that cannot", async () => {
    const files = { "a.txt": "one\n", "b.txt": "x\nx\n", "c.bin": "\0" };
    const { edit, contents } = await folderWith(files);
    const failed = edit([
      replace("a.txt", "one", "two"),
      replace("b.txt", "x", "y"),
      replace("nowhere.txt", "x", "y"),
      replace("c.bin", "x", "y"),
      replace("../out.txt", "x", "y"),
    ]);
    await expect(failed).rejects.toThrow(/^no file was changed, since not all edits can be made:\n/);
    await expect(failed).rejects.toThrow("edits[1] (b.txt): old_string occurs 2 times");
    await expect(failed).rejects.toThrow("edits[2] (nowhere.txt): nowhere.txt does not exist: fs_glob finds files");
    await expect(failed).rejects.toThrow("edits[3] (c.bin): c.bin is not a text file");
    await expect(failed).rejects.toThrow("edits[4] (../out.txt): ../out.txt lies outside");
    expect(await contents()).toEqual(files);
  });

  it("takes a file for one, by whatever names its edits call it", async () => {
    const { folder, edit, contents } = await folderWith({ "a.txt": "one two" });
    await symlink("a.txt", join(folder, "link.txt"));
    const { details } = await edit([replace("a.txt", "one", "1"), replace("./link.txt", "two", "2")]);
    expect(await contents()).toEqual({ "a.txt": "1 2", "link.txt": "1 2" });
    expect((details as { files: unknown[] }).files).toHaveLength(1);
  });

  it("refuses two names of one file (hard links): the first edit would leave the second another file", async () => {
    const { folder, edit, contents } = await folderWith({ "a.txt": "one two" });
    await link(join(folder, "a.txt"), join(folder, "b.txt"));
    const failed = edit([replace("a.txt", "one", "1"), replace("b.txt", "two", "2")]);
    await expect(failed).rejects.toThrow("no file was changed");
    await expect(failed).rejects.toThrow("edits[1] (b.txt): b.txt is another name of a.txt (a hard link)");
    expect(await contents()).toEqual({ "a.txt": "one two", "b.txt": "one two" });
  });

  it("stages all files before it renames one: if one cannot be staged, nothing is changed and nothing is left", async () => {
    const files = { "a.txt": "one", "b.txt": "one" };
    const { folder, edit, contents } = await folderWith(files);
    let asked = 0;
    // Each file is resolved for three looks, and then once more to be staged: b.txt is closed by then.
    const workspace = new Workspace(folder, (names, access) => {
      if (access === "write" && names.includes("b.txt")) asked += 1;
      return asked > 2 ? "closed meanwhile" : null;
    });
    await expect(edit([replace("a.txt", "one", "two"), replace("b.txt", "one", "two")], { workspace })).rejects.toThrow(
      "b.txt is not permitted: closed meanwhile",
    );
    expect(await contents()).toEqual(files);
  });

  it("says which files were written and which were not, if one changed meanwhile, and knows those that were", async () => {
    const { folder, edit, contents } = await folderWith({ "a.txt": "one", "b.txt": "one", "c.txt": "one" });
    let asked = 0;
    const workspace = new Workspace(folder, (names, access) => {
      if (access === "write" && names.includes("c.txt")) asked += 1;
      if (asked === 3) writeFileSync(join(folder, "b.txt"), "by another");
      return null;
    });
    const { files } = contextIn(folder);
    const failed = edit([replace("a.txt", "one", "1"), replace("b.txt", "one", "1"), replace("c.txt", "one", "1")], {
      workspace,
      files,
    });
    await expect(failed).rejects.toThrow("only some of the files were written (b.txt was changed by something else");
    await expect(failed).rejects.toThrow("Written: a.txt. Left as they were: b.txt, c.txt");
    expect(await contents()).toEqual({ "a.txt": "1", "b.txt": "by another", "c.txt": "one" });
    expect(files.noted).toMatchObject([{ path: "a.txt", access: "WRITTEN", bytes: 1 }]);
  });

  it("renames nothing after its call has ended", async () => {
    const { edit, contents } = await folderWith({ "a.txt": "one" });
    const signal = AbortSignal.abort(new Error("the time is up"));
    await expect(edit([replace("a.txt", "one", "two")], { signal })).rejects.toThrow("the time is up");
    expect(await contents()).toEqual({ "a.txt": "one" });
  });

  it("refuses no edits, too many, and too many bytes together", async () => {
    const { folder, edit } = await folderWith({});
    await expect(edit([])).rejects.toThrow("must have at least 1 item");
    await expect(edit(Array.from({ length: 101 }, () => replace("a", "b", "c")))).rejects.toThrow("must have at most 100 items");
    await mkdir(join(folder, "sub"));
    const names = ["1", "2", "3", "4", "5"];
    for (const name of names) await writeFile(join(folder, name), "x".repeat(4_500_000) + name);
    await expect(edit(names.map((name) => replace(name, name, "y")))).rejects.toThrow("larger than 20 MB together");
  });
});
