import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ShownOutput } from "../../../src/agent/workspace/output/shown-output.ts";
import { TerminalOutput, terminalText } from "../../../src/agent/workspace/output/terminal-text.ts";

describe("the output of a program as a terminal shows it", () => {
  it.for([
    ["a progress bar", "10 %\r55 %\r100 %\ndone\n", "100 %\ndone\n"],
    ["a shorter text over a longer one", "Downloading\rDone\n", "Doneloading\n"],
    ["one that clears the line first", "Downloading\r\u001B[KDone\n", "Done\n"],
    ["one that goes to a column", "Downloading\u001B[2K\u001B[1GDone\n", "Done\n"],
    ["colours", "\u001B[1;31merror\u001B[0m: \u001B]8;;file:///x\u001B\\x\u001B]8;;\u0007\n", "error: x\n"],
    ["lines that end in two characters", "a\r\nb\r\n", "a\nb\n"],
    ["backspaces", "abc\b\bX\n", "aXc\n"],
    ["emoji and other characters", "\r👍 ok\r👎\n", "👎 ok\n"],
    ["a sequence that is cut", "a\u001B[", "a"],
    ["one that goes forward", "a\u001B[5Cb\n", "a     b\n"],
    ["one that erases from its beginning", "abc\u001B[2G\u001B[1Kx\u001B[1K\n", "   \n"],
    ["plain text", "a\tb  \n\nc", "a\tb  \n\nc"],
  ] as const)("%s", ([, said, shown]) => {
    expect(terminalText(said)).toBe(shown);
  });

  it("is the same however it comes in pieces (property)", () => {
    const words = fc.constantFrom(
      "a",
      "é",
      "👍",
      "\r",
      "\n",
      "\r\n",
      "\b",
      "\u001B[K",
      "\u001B[2K",
      "\u001B[31m",
      "\u001B[3G",
      " ",
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 60 }), fc.array(fc.nat(200), { maxLength: 10 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(""));
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
        const output = new TerminalOutput();
        const pieces = places.slice(1).map((end, index) => output.take(bytes.subarray(places[index], end)));
        expect(Buffer.concat([...pieces, output.rest]).toString()).toBe(terminalText(bytes.toString()));
      }),
    );
  });

  it("holds little of a line that is written over without end, and shows its last state", () => {
    const output = new ShownOutput({ bytes: 5_000, lines: 2_000 });
    for (let step = 0; step <= 20_000; step += 1) output.take(Buffer.from(`\r${step} of 20000`));
    expect(output.shown).toEqual({ text: "20000 of 20000", isWhole: true, isText: true });
    output.take(Buffer.from("\ndone\n"));
    expect(output.shown.text).toBe("20000 of 20000\ndone\n");
    expect(output.bytes).toBeGreaterThan(200_000);
  });

  it("a long line of plain text is shown as it was said", () => {
    const line = "x".repeat(40_000);
    const output = new ShownOutput({ bytes: 50_000, lines: 2_000 });
    for (let at = 0; at < line.length; at += 1_000) output.take(Buffer.from(line.slice(at, at + 1_000)));
    expect(output.shown).toEqual({ text: line, isWhole: true, isText: true });
  });

  it("cuts a long line between characters and between sequences", () => {
    for (const [piece, character] of [
      ["é", "é"],
      ["👍", "👍"],
      ["\u001B[32mG", "G"],
      ["\u001B]8;;x\u0007L", "L"],
    ] as const) {
      const line = Buffer.from(`\u001B[1m${"x".repeat(17_000)}${piece}y\n`);
      for (let cut = 17_000; cut < line.length; cut += 1) {
        const output = new TerminalOutput();
        const shown = Buffer.concat([output.take(line.subarray(0, cut)), output.take(line.subarray(cut))]).toString();
        expect(shown, `${piece} cut at ${cut}`).toBe(`${"x".repeat(17_000)}${character}y\n`);
      }
    }
  });
});
