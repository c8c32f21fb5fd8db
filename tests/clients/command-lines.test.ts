import { describe, expect, it } from "vitest";
import { visibleLine } from "../../src/lib/escape-hidden.ts";
import { askedLines, visible } from "../../clients/src/command-lines.ts";

const part = (start: number, end: number, reason: string, parameter = "command") => ({ parameter, start, end, reason });

describe("command lines for those who decide", () => {
  it("are cut where parts that ask begin and end, also where parts overlap", () => {
    const line = "git status && sudo make x";
    const parts = [part(14, 25, "who runs it"), part(19, 25, "not known")];
    expect(askedLines({ command: line, cwd: "web" }, parts)).toEqual([
      {
        parameter: "command",
        pieces: [
          { text: "git status && ", reasons: [] },
          { text: "sudo ", reasons: ["who runs it"] },
          { text: "make x", reasons: ["who runs it", "not known"] },
        ],
      },
    ]);
  });

  it("have offsets in UTF-16 code units, and nothing hides in them", () => {
    const line = "echo 😀\u202e; make\nls";
    expect(askedLines({ command: line }, [part(10, 14, "not known")])[0]?.pieces).toEqual([
      { text: "echo 😀\\u202e; ", reasons: [] },
      { text: "make", reasons: ["not known"] },
      { text: "\nls", reasons: [] },
    ]);
  });

  it("are found in lists", () => {
    const input = { commands: ["ls", "make"], steps: [{ command: "ls" }, { lines: ["ls", "make"] }] };
    for (const place of ["commands[1]", "steps[1].lines[1]"])
      expect(askedLines(input, [part(0, 4, "not known", place)])).toEqual([
        { parameter: place, pieces: [{ text: "make", reasons: ["not known"] }] },
      ]);
  });

  it("are left out where the input has none at the place, and of inputs that were erased", () => {
    expect(askedLines({ steps: [{ command: "make" }] }, [part(0, 4, "not known", "steps[1].command")])).toEqual([]);
    expect(askedLines(null, [part(0, 4, "not known")])).toEqual([]);
  });

  it("escape what the server escapes in the texts that it shows, but for line feeds", () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (character !== "\n" && visible(character) !== visibleLine(character)) expect.fail(`U+${code.toString(16)}`);
    }
    expect(visible("a     b")).toBe(visibleLine("a     b"));
  });
});
