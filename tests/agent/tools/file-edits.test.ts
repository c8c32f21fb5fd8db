import { chmod, link, mkdir, open, readFile, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch } from "diff";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { fileDiff } from "../../../src/agent/tools/fs/unified-diff.ts";
import { decodeText, encodeText } from "../../../src/agent/tools/fs/text-content.ts";
import { editText } from "../../../src/agent/tools/fs/text-edit.ts";
import { Workspace } from "../../../src/agent/workspace/workspace.ts";
import { temporaryFolder } from "../../support/app.ts";
import { runTool } from "../../support/run-tool.ts";

/** A folder with one file, and the edit of that file. */
async function folderWith(name: string, content: string | Buffer) {
  const folder = realpathSync(await temporaryFolder());
  await writeFile(join(folder, name), content);
  const edit = (old_string: string, new_string: string, replace_all?: boolean) =>
    runTool(folder, "fs_edit", { path: name, old_string, new_string, ...(replace_all === undefined ? {} : { replace_all }) });
  return { folder, edit, read: () => readFile(join(folder, name)) };
}

describe("fs_edit (X3)", () => {
  it("replaces one text, and answers path, replacements, lines and a diff that can be applied", async () => {
    const before = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
    const { edit, read } = await folderWith("a.txt", before);
    const { output, details } = await edit("six\n", "6\n6½\n");
    expect(String(await read())).toBe("one\ntwo\nthree\nfour\nfive\n6\n6½\nseven\neight\nnine\n");
    expect(output).toBe("Edited a.txt: 1 occurrence replaced, in line 6.");
    expect(details).toEqual({
      ok: true,
      path: "a.txt",
      replacements: 1,
      lines: 10,
      diff: "--- a/a.txt\n+++ b/a.txt\n@@ -3,7 +3,8 @@\n three\n four\n five\n-six\n+6\n+6½\n seven\n eight\n nine\n",
    });
    expect(applyPatch(before, (details as { diff: string }).diff)).toBe(String(await read()));
  });

  it("takes every text as it is: $&, $1 and regular expressions mean nothing (W16)", async () => {
    const { edit, read } = await folderWith("a.txt", "cost (a+)\n");
    await edit("(a+)", "[$&] [$1] [$$] [$`]");
    expect(String(await read())).toBe("cost [$&] [$1] [$$] [$`]\n");
  });

  it("replaces all that do not overlap, and says in which lines they stood", async () => {
    const { edit, read } = await folderWith("a.txt", "aaaa\nb\naa");
    expect((await edit("aa", "a", true)).output).toBe("Edited a.txt: 3 occurrences replaced, in lines 1, 3.");
    expect(String(await read())).toBe("aa\nb\na");
  });

  it.each([
    ["a\nb\na\n", "a", "old_string occurs 2 times, in lines 1, 3: give more of the text around the one that is meant"],
    ["aaa", "aa", "old_string occurs 2 times, in line 1:"],
    ["a\n  b\n  c\nd\n", "b\nc", "The nearest text stands in lines 2 to 3, and differs in white space only:\n2:   b\n3:   c"],
    ["first\nconst limit = 10;\nlast\n", "const limit = 12;", "The nearest text stands in line 2:\n2: const limit = 10;"],
    [
      "x\ny\nz\n",
      "x\nY\nz",
      "The nearest text stands in lines 1 to 3, and differs in upper and lower case only:\n1: x\n2: y\n3: z",
    ],
    [
      "İ\nconst first = new Limit(10, 20, 30);\n",
      "limit",
      "The nearest text stands in line 2, and differs in upper and lower case only:\n2: const first = new Limit(10, 20, 30);",
    ],
    [
      "if (isReady) { call(\n  one, two); return other(three, four, five); }\n",
      "call(one, two)",
      "The nearest text stands in lines 1 to 2, and differs in white space only:\n1: if (isReady) { call(\n2:   one, two); return",
    ],
    [
      "if (isReady) { callAll( one ); return other(three, four, five); }\n",
      "callall(one)",
      "The nearest text stands in line 1, and differs in white space and in upper and lower case only:\n1: if",
    ],
    ["x\nreturn a - b;\n", "a * b", "The nearest text stands in line 2:\n2: return a - b;"],
    ["a - b\na + b\n", "a * b", "Nothing in the file is like it. The file has 2 lines: read the file again."],
    ["x = i--;\n", "i++", "Nothing in the file is like it. The file has 1 line: read the file again."],
    ["const Limit = 1;\nconst another = makeLimit();\n", "limit", "Nothing in the file is like it"],
    ["the tablet is there\n", "a b", "Nothing in the file is like it"],
    ["", "a", "old_string does not occur. Nothing in the file is like it"],
    ["abc", "b\r\n", "old_string does not occur"],
  ])("says what stands in %j in the place of %j", async (content, wanted, message) => {
    const { edit, read } = await folderWith("a.txt", content);
    await expect(edit(wanted, "?")).rejects.toThrow(message);
    expect(String(await read())).toBe(content);
  });

  it("refuses what would change nothing, an empty old_string, and what would grow without end", async () => {
    const { edit } = await folderWith("a.txt", "a".repeat(10_000));
    await expect(edit("a", "a", true)).rejects.toThrow("old_string and new_string are the same");
    await expect(edit("", "a")).rejects.toThrow("must not be empty");
    await expect(edit("a", "b".repeat(1_000_000), true)).rejects.toThrow("the file would have 10000000000 characters");
    expect(editText("a\r\n", { oldString: "a\n", newString: "a\r\n", replaceAll: false })).toMatchObject({
      refusal: "nothing would change: the file has new_string there already",
    });
  });

  it("keeps the line ends of the file: line feeds stand for them", async () => {
    const windows = await folderWith("a.txt", "one\r\ntwo\r\nthree");
    await windows.edit("one\ntwo\n", "1\n2\n2½\n");
    expect(String(await windows.read())).toBe("1\r\n2\r\n2½\r\nthree");
    await windows.edit("three", "3\n4");
    expect(String(await windows.read())).toBe("1\r\n2\r\n2½\r\n3\r\n4");
    const mixed = await folderWith("b.txt", "a\nb\r\nc\nd\n");
    await mixed.edit("b\nc", "B\nC");
    expect(String(await mixed.read())).toBe("a\nB\nC\nd\n");
    const exact = await folderWith("c.txt", "a\r\nb\r\n");
    await exact.edit("a\r\n", "a\n");
    expect(String(await exact.read())).toBe("a\nb\r\n");
  });

  it("keeps a final line feed, and the lack of one", async () => {
    for (const [content, expected] of [
      ["a\nb", "a\nB"],
      ["a\nb\n", "a\nB\n"],
    ] as const) {
      const { edit, read } = await folderWith("a.txt", content);
      expect((await edit("b", "B")).details).toMatchObject({ lines: 2 });
      expect(String(await read())).toBe(expected);
    }
    const { edit } = await folderWith("a.txt", "b");
    expect((await edit("b", "B")).details).toMatchObject({
      diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n",
    });
  });

  it.each(["utf-8", "utf-8-bom", "utf-16le", "utf-16be"] as const)("keeps the encoding %s", async (encoding) => {
    const { folder, edit, read } = await folderWith("a.txt", encodeText({ encoding, text: "größer\r\n😀\r\n" }));
    await edit("größer\n", "kleiner\n文\n");
    expect((await runTool(folder, "fs_read", { path: "a.txt" })).details).toMatchObject({
      content: "kleiner\r\n文\r\n😀\r\n",
      totalLines: 3,
    });
    expect(await read()).toEqual(encodeText({ encoding, text: "kleiner\r\n文\r\n😀\r\n" }));
  });

  it.each([
    ["latin1", Buffer.from("gr\xf6\xdfer", "latin1"), "is not valid UTF-8"],
    ["an image", Buffer.from([0x89, 0x50, 0, 0x0d]), "is not a text file"],
    ["UTF-16 without a mark", Buffer.from("abc", "utf16le"), "is not a text file"],
    ["half a character", Buffer.from([0xff, 0xfe, 0x61]), "is not valid UTF-16"],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]), "is encoded in UTF-32"],
  ])("refuses %s, and leaves it as it is", async (_name, content, message) => {
    const { edit, read } = await folderWith("a.bin", content);
    await expect(edit("a", "b")).rejects.toThrow(`a.bin ${message}`);
    expect(await read()).toEqual(content);
  });

  it("refuses a large file without reading it, folders, what is not there, and links out of the workspace", async () => {
    const { folder, edit } = await folderWith("large.txt", "a");
    await truncate(join(folder, "large.txt"), 100 * 1024 * 1024);
    await expect(edit("a", "b")).rejects.toThrow("large.txt is larger than 5 MB");
    await mkdir(join(folder, "sub"));
    await symlink("/etc/passwd", join(folder, "out"));
    const other = (path: string) => runTool(folder, "fs_edit", { path, old_string: "a", new_string: "b" });
    await expect(other("sub")).rejects.toThrow("not a file");
    await expect(other("nowhere.txt")).rejects.toThrow("nowhere.txt does not exist: fs_glob finds files");
    await expect(other("../x")).rejects.toThrow("outside");
    await expect(other("out")).rejects.toThrow("outside");
    expect(readdirSync(folder)).toEqual(["large.txt", "out", "sub"]);
  });

  it("edits what a link inside of the workspace leads to, and leaves the link one", async () => {
    const { folder } = await folderWith("a.txt", "one");
    await symlink("a.txt", join(folder, "link.txt"));
    const { details } = await runTool(folder, "fs_edit", { path: "link.txt", old_string: "one", new_string: "two" });
    expect(details).toMatchObject({ path: "link.txt", diff: expect.stringContaining("--- a/a.txt") });
    expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("two");
    expect(realpathSync(join(folder, "link.txt"))).toBe(join(folder, "a.txt"));
  });

  it("never leaves half a file, and keeps its permissions; other names of it keep what was in it", async () => {
    const { folder, edit } = await folderWith("run.sh", "before");
    await chmod(join(folder, "run.sh"), 0o750);
    await link(join(folder, "run.sh"), join(folder, "hard.sh"));
    const reader = await open(join(folder, "run.sh"));
    await edit("before", "after");
    expect(await reader.readFile("utf8")).toBe("before");
    await reader.close();
    expect((await stat(join(folder, "run.sh"))).mode & 0o777).toBe(0o750);
    expect(await readFile(join(folder, "hard.sh"), "utf8")).toBe("before");
    expect(readdirSync(folder)).toEqual(["hard.sh", "run.sh"]);
  });

  it.each([
    ["changed", (path: string) => writeFileSync(path, "one, by another"), "was changed by something else"],
    ["removed", (path: string) => rmSync(path), "was removed"],
  ])("writes nothing over a file that is %s between the look and the deed", async (_how, meanwhile, message) => {
    const { folder } = await folderWith("a.txt", "one");
    const path = join(folder, "a.txt");
    let asked = 0;
    // The guard is asked when the file is resolved, opened and staged: before the last of these it has been read.
    const workspace = new Workspace(folder, () => {
      asked += 1;
      if (asked === 3) meanwhile(path);
      return null;
    });
    const edit = runTool(folder, "fs_edit", { path: "a.txt", old_string: "one", new_string: "two" }, { workspace });
    await expect(edit).rejects.toThrow(message);
    expect(readdirSync(folder)).toEqual(_how === "removed" ? [] : ["a.txt"]);
    if (_how === "changed") expect(await readFile(path, "utf8")).toBe("one, by another");
  });

  it("is refused by a rule that closes the file for writing", async () => {
    const { folder } = await folderWith("a.txt", "one");
    const workspace = new Workspace(folder, (_names, access) => (access === "write" ? "closed" : null));
    const edit = runTool(folder, "fs_edit", { path: "a.txt", old_string: "one", new_string: "two" }, { workspace });
    await expect(edit).rejects.toThrow("a.txt is not permitted: closed");
  });

  it("leaves the file as it is, and nothing beside it, if the disk is full", async () => {
    const { folder, edit, read } = await folderWith("a.txt", "one");
    const probe = await open(join(folder, "a.txt"));
    const full = vi.spyOn(Object.getPrototypeOf(probe) as typeof probe, "writeFile").mockImplementation(async function (
      this: typeof probe,
    ) {
      await this.write("tw");
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
    });
    await probe.close();
    await expect(edit("one", "two").finally(() => full.mockRestore())).rejects.toThrow(
      "a.txt could not be written: the disk is full",
    );
    expect(String(await read())).toBe("one");
    expect(readdirSync(folder)).toEqual(["a.txt"]);
  });
});

describe("texts of files", () => {
  it("are the same bytes again when they are written back, or are refused", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]),
        (bytes, mark) => {
          const content = Buffer.from([...mark, ...bytes]);
          const decoded = decodeText(content);
          if (decoded.ok) expect(encodeText(decoded.value)).toEqual(content);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("differ by diffs that lead from the one to the other, wherever they differ", () => {
    const text = fc.array(fc.constantFrom("a", "b", "\n", "\r\n", "\n\n"), { maxLength: 60 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        if (before === after) return;
        const { diff } = fileDiff("f", before, after);
        expect(applyPatch(before, diff ?? "", { autoConvertLineEndings: false })).toBe(after);
      }),
      { numRuns: 2_000 },
    );
  });

  it("are edited as a plain search and replacement would, if their line ends are line feeds", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "$", "&"), maxLength: 40 });
    fc.assert(
      fc.property(
        text,
        fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 3 }),
        text,
        (content, oldString, newString) => {
          const edited = editText(content, { oldString, newString, replaceAll: true });
          const expected = content.split(oldString).join(newString);
          if (edited.ok) expect(edited.value.text).toBe(expected);
          else expect(expected).toBe(content);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("show no diff that is too large", () => {
    const lines = (prefix: string) => Array.from({ length: 5_000 }, (_, index) => `${prefix}${index}\n`).join("");
    expect(fileDiff("f", lines("a"), lines("b"))).toEqual({ path: "f", diff: null });
    expect(fileDiff("f", null, "new\n").diff).toBe("--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+new\n");
  });
});

it("of edits of one file that agents of a server make at once, none is lost: one is made, and the others are refused", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "a.txt");
  for (let round = 0; round < 20; round += 1) {
    await writeFile(path, "start");
    const edits = ["1", "2", "3", "4"].map((by) =>
      runTool(folder, "fs_edit", { path: "a.txt", old_string: "start", new_string: by }),
    );
    const made = (await Promise.allSettled(edits)).filter(({ status }) => status === "fulfilled");
    expect(made).toHaveLength(1);
  }
});
