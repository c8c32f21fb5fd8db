import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { manualOf, sectionsOf } from "../../../src/agent/tools/manual/manual.ts";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import { ToolDefinitionError } from "../../../src/agent/tools/input-schema.ts";
import { byteLength, storable } from "../../../src/lib/text.ts";
import { Type } from "../../../src/triplane.ts";
import { ownTool, toolWithPrompt } from "../../support/tools.ts";

/** A tool with whatever as its `prompt`, as plain JavaScript may define it. */
function promptOf(given: { readonly prompt?: unknown }): string | null {
  const definition = { name: "one", description: "One.", readOnly: true, inputSchema: Type.Object({}), run: () => "" };
  return defineTool(Object.assign(definition, given as { prompt?: string })).prompt;
}

describe("the prompt of a tool", () => {
  it("is a text of 1 to 8,192 bytes of UTF-8, as it can be stored; anything else is refused at its definition", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .tuple(fc.constantFrom("a", "ä", "\0", "\ud800", "😀"), fc.integer({ min: 1, max: 9_000 }))
        .map(([unit, times]) => unit.repeat(times)),
    );
    fc.assert(
      fc.property(fc.oneof(text, fc.anything()), (prompt) => {
        const isValid = typeof prompt === "string" && prompt !== "" && byteLength(storable(prompt)) <= 8_192;
        if (prompt === undefined) expect(promptOf({ prompt })).toBeNull();
        else if (isValid) expect(promptOf({ prompt })).toBe(storable(prompt));
        else expect(() => promptOf({ prompt })).toThrow(ToolDefinitionError);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["null", null, /^tool one: prompt must be string$/],
    ["a list", ["x"], /^tool one: prompt must be string$/],
    ["a number", 1, /^tool one: prompt must be string, not 1$/],
    ["an empty text", "", /^tool one: prompt /],
    ["8,193 bytes", "x".repeat(8_193), /^tool one: prompt must not be larger than 8192 bytes of UTF-8$/],
  ])("may not be %s", (_name, prompt, problem) => {
    expect(() => promptOf({ prompt })).toThrow(problem);
  });

  it("may be omitted", () => {
    expect(promptOf({})).toBeNull();
  });
});

describe("a manual", () => {
  it("has a section for each tool with a prompt, in the order of names", () => {
    const sections = sectionsOf([toolWithPrompt("b", "Use b\n- well."), ownTool("c", () => ""), toolWithPrompt("a", "Use a.")]);
    expect(manualOf(sections, null)?.text).toBe("### Tools Manual\n\n#### a\n\nUse a.\n\n#### b\n\nUse b\n- well.");
  });

  it("is null without such a tool", () => {
    expect(manualOf(sectionsOf([ownTool("c", () => "")]), null)).toBeNull();
  });

  it("has one digest for the same sections, whatever objects they come from", () => {
    const [one, same, other] = ["Use a.", "Use a.", "Use a!"].map((text) =>
      manualOf(sectionsOf([toolWithPrompt("a", text)]), null),
    );
    expect(one).toEqual(same);
    expect(one?.digest).not.toBe(other?.digest);
  });
});
