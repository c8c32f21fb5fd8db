import { describe, expect, it } from "vitest";
import type { Json } from "../../src/lib/json.ts";
import { visibleJson, visibleLine } from "../../src/lib/escape-hidden.ts";

describe("text that people decide on", () => {
  it.each([
    ["a bidirectional override", "safe\u202Egnp.exe"],
    ["isolates", "\u2066a\u2069"],
    ["a zero-width space", "rm\u200B -rf"],
    ["a byte order mark", "\uFEFFa"],
    ["a soft hyphen", "a\u00ADb"],
    ["tags beyond the basic plane", "a\u{E0041}b"],
    ["C1 controls", "a\u009Bb"],
    ["an escape sequence of terminals", "\u001B[2K\u001B[1A"],
    ["a carriage return", "a\rb"],
    ["a no-break space", "a\u00A0b"],
    ["a line separator", "a\u2028b"],
    ["a Hangul filler", "a\u3164b"],
    ["spaces that push the rest out of sight", `ls${" ".repeat(500)}; rm -rf x`],
  ])("%s stands as an escape, and the text is still JSON of the same value", (_name, text) => {
    const value = { cmd: text, list: [text], [text]: 1 };
    for (const shown of [visibleJson(value), visibleLine(JSON.stringify(value))]) {
      expect(JSON.parse(shown)).toEqual(value);
      expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u0080-\u009f\u00a0\u3164]/u);
      expect(shown.replace(/^ +/gm, "")).not.toMatch(/ {4}/);
    }
  });

  it("no character that may be ignored when text is shown stands as it is", () => {
    const shown: string[] = [];
    for (let code = 0xa0; code <= 0x10ffff; code += 1) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      if (/\p{Default_Ignorable_Code_Point}|\p{Cf}|\p{Zs}|\u2800/u.test(character) && visibleJson(character).includes(character))
        shown.push(code.toString(16));
    }
    expect(shown).toEqual([]);
  });

  it("nesting does not push a value out of sight", () => {
    let value: Json = "here";
    for (let depth = 0; depth < 90; depth += 1) value = [value];
    expect(
      Math.max(
        ...visibleJson(value)
          .split("\n")
          .map(({ length }) => length),
      ),
    ).toBeLessThan(50);
  });

  it("leaves what can be read as it is", () => {
    const value = { text: "Grüße, 世界 🙂\n\ttab  two spaces", n: 1.5, list: [null, true] };
    expect(visibleJson(value)).toBe(JSON.stringify(value, null, 2));
    expect(visibleLine(JSON.stringify(value))).toBe(JSON.stringify(value));
  });
});
