import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMemoryPath } from "../../../../src/agent/tools/memory/memory-path.ts";
import { insertedAt, memoryText, replacedOnce } from "../../../../src/agent/tools/memory/memory-text.ts";
import { folderLines, numberedLines } from "../../../../src/agent/tools/memory/shown-memory.ts";

const pathOf = (given: string): string | null => {
  const read = readMemoryPath(given);
  return read.ok ? read.value : null;
};

describe("a path is a key", () => {
  it("keeps case, takes one slash at the end for none, and composes characters", () => {
    expect(pathOf("/memories")).toBe("/memories");
    expect(pathOf("/memories/")).toBe("/memories");
    expect(pathOf("/memories/Notes/a b.md")).toBe("/memories/Notes/a b.md");
    expect(pathOf("/memories/cafe\u0301.md")).toBe("/memories/caf\u00e9.md");
    expect(pathOf("/memories/\u8bb0\u5fc6/\u{1f600}.md")).toBe("/memories/\u8bb0\u5fc6/\u{1f600}.md");
  });

  it.each([
    "",
    "/",
    ".",
    "memories/a",
    "/memoriesx",
    "/memories-of-others/a",
    "/Memories/a",
    "/memories//a",
    "/memories/a//",
    "/memories/../etc/passwd",
    "/memories/a/..",
    "/memories/./a",
    "/memories/.hidden",
    "/memories/..%2f..%2fetc",
    "/memories/a\\b",
    "/memories/a\nb",
    "/memories/a\u202eb",
    "/memories/a\u200b",
    "/memories/\u{e0041}",
    "/memories/a\0b",
    "/memories/ ",
    "C:/memories/a",
    `/memories/${"a".repeat(300)}`,
  ])("refuses %j with advice", (given) => {
    const read = readMemoryPath(given);
    expect(read.ok ? read.value : null).toBeNull();
    expect(read.ok ? "" : read.refusal).toMatch(/must/);
  });

  it("a path that is accepted is accepted again as itself, and names nothing above", () => {
    const part = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("..", ".", "/", "memories", "/memories", "\\", "%2e%2e"),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const read = pathOf(`/memories/${parts.join("/")}`);
        if (read === null) return;
        expect(pathOf(read)).toBe(read);
        expect(read.split("/")).not.toContain("..");
        expect(read === "/memories" || read.startsWith("/memories/")).toBe(true);
      }),
    );
  });
});

describe("texts", () => {
  it("lose control and invisible characters, and keep everything else", () => {
    expect(memoryText("a\r\nb\tc\0\u001b[31m\u202e\u200b\u{e0049}\u{e007f}\u{1f468}\u200d\u{1f469}")).toBe(
      "a\nb\tc[31m\u{1f468}\u200d\u{1f469}",
    );
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => memoryText(memoryText(text)) === memoryText(text)));
  });

  it("a replacement is literal: `$&` is no pattern", () => {
    expect(replacedOnce("/memories/a", "cost: 5\n", "5", "$& $1 $$ $`")).toEqual({
      ok: true,
      value: { text: "cost: $& $1 $$ $`\n", first: 0, last: 0 },
    });
  });

  it("a replacement of what stands there twice, also overlapping or over lines, changes nothing and names the lines", () => {
    const twice = replacedOnce("/memories/a", "x\na\na\na\n", "a\na", "b");
    expect(twice.ok ? "" : twice.refusal).toBe(
      "No replacement was performed. Multiple occurrences of old_str `a\na` in lines: 2, 3. Please ensure it is unique",
    );
    const none = replacedOnce("/memories/a", "abc", "abd", "");
    expect(none.ok ? "" : none.refusal).toBe(
      "No replacement was performed, old_str `abd` did not appear verbatim in /memories/a.",
    );
    expect(replacedOnce("/memories/a", "", "", "x").ok).toBe(false);
  });

  it("a replacement changes nothing but the one place", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (before, old, after, next) => {
        const text = `${before}${old}${after}`;
        const edited = replacedOnce("/memories/a", text, old, next);
        if (edited.ok) expect(edited.value.text).toBe(`${before}${next}${after}`);
      }),
    );
  });

  it("lines are inserted at the beginning, between and at the end, and nowhere else", () => {
    const inserted = (line: number): string | null => {
      const edited = insertedAt("a\nb", line, "x\ny\n");
      return edited.ok ? edited.value.text : null;
    };
    expect([0, 1, 2, 3, -1].map(inserted)).toEqual(["x\ny\na\nb", "a\nx\ny\nb", "a\nb\nx\ny", null, null]);
  });

  it("ranges of lines end at the end, and wrong ones are refused", () => {
    const seen = (range: readonly number[] | null): string | null => {
      const lines = numberedLines("a\nb\nc", range);
      return lines.ok ? lines.value : null;
    };
    expect(seen(null)).toBe("     1\ta\n     2\tb\n     3\tc");
    expect(seen([2, -1])).toBe("     2\tb\n     3\tc");
    expect(seen([0, 1])).toBe("     1\ta");
    expect(seen([3, 99])).toBe("     3\tc");
    expect([[4, 5], [2, 1], [1], [1, 2, 3], []].map(seen)).toEqual([null, null, null, null, null]);
  });
});

it("folders are listed two levels deep, with the size of all that lies in them", () => {
  const entries = [
    { path: "/memories/notes.md", bytes: 1536 },
    { path: "/memories/a/b/c/deep.md", bytes: 100 },
    { path: "/memories/a/z.md", bytes: 924 },
    { path: "/memories/ab.md", bytes: 0 },
  ];
  expect(folderLines("/memories", entries).split("\n")).toEqual([
    "2.5K\t/memories",
    "1K\t/memories/a/",
    "100B\t/memories/a/b/",
    "924B\t/memories/a/z.md",
    "0B\t/memories/ab.md",
    "1.5K\t/memories/notes.md",
  ]);
  expect(folderLines("/memories/a", entries).split("\n")).toEqual([
    "1K\t/memories/a",
    "100B\t/memories/a/b/",
    "100B\t/memories/a/b/c/",
    "924B\t/memories/a/z.md",
  ]);
  expect(folderLines("/memories", [])).toBe("0B\t/memories");
});
