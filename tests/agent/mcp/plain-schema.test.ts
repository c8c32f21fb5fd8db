import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readListedTool } from "../../../src/agent/mcp/listed-tool.ts";
import { isServerTool } from "../../../src/agent/tools/tool.ts";
import type { Json, JsonObject } from "../../../src/lib/json.ts";

/** Characters that nobody sees: zero width, a change of direction, a tag, a variation selector, a control, a private one. */
const HIDDEN = ["\u200b", "\u202e", "\u{e0041}", "\u{e0101}", "\u0007", "\ue000"];

function listed(schema: JsonObject) {
  return readListedTool("gh", { name: "list", description: "Lists.", inputSchema: { type: "object", ...schema } });
}

describe("a schema of a server with characters that people do not see", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ["a title", { properties: { a: { title: "T" } } }, { properties: { a: { title: "T\u200b" } } }],
    ["a default", { properties: { a: { default: "x" } } }, { properties: { a: { default: "x\u{e0041}" } } }],
    ["an example", { properties: { a: { examples: [{ k: "x" }] } } }, { properties: { a: { examples: [{ k: "x\u202e" }] } } }],
    ["an unknown keyword", { "x-note": { n: ["x"] } }, { "x-note": { n: ["x\u0007"] } }],
    ["the description of an alternative", { anyOf: [{ description: "d" }] }, { anyOf: [{ description: "d\u200b" }] }],
    [
      "a field named title",
      { properties: { title: { description: "d" } } },
      { properties: { title: { description: "d\ue000" } } },
    ],
  ])("loses those in %s", (_where, clean, given) => {
    expect(listed(given)).toMatchObject({ ok: true, value: { inputSchema: { type: "object", ...clean } } });
  });

  it.each<[string, JsonObject]>([
    ["properties", { properties: { "a\u200b": { type: "string" } } }],
    ["properties", { properties: { a: { type: "object", properties: { "b\u{e0101}": {} } } } }],
    ["enum", { properties: { a: { enum: ["yes", "no\u202e"] } } }],
    ["enum", { properties: { a: { items: { enum: [{ deep: "\u{e0041}" }] } } } }],
    ["const", { properties: { a: { const: "x\u0007" } } }],
    ["required", { required: ["a\u200b"] }],
    ["patternProperties", { patternProperties: { "^\u200b": {} } }],
  ])("leaves its tool out, with a note, for those in %s: the server would not know other ones", (keyword, schema) => {
    expect(listed(schema)).toEqual({
      ok: false,
      refusal: `list: its inputSchema has characters that people do not see, in ${keyword}`,
    });
  });

  it("stays as it is without any, lines and other languages included", () => {
    const schema = { type: "object", properties: { größe: { enum: ["klein", "大", "a\nb"], default: "大", title: "Größe" } } };
    expect(listed(schema)).toMatchObject({ ok: true, value: { inputSchema: schema } });
  });

  it("shows none of them to models, wherever they are", () => {
    const hidden = fc.oneof({ arbitrary: fc.constant(""), weight: 9 }, fc.constantFrom(...HIDDEN));
    const text = fc.tuple(fc.constantFrom("a", "title", "b c"), hidden).map((parts) => parts.join(""));
    const value = fc.oneof(text, fc.array(text, { maxLength: 2 }), fc.dictionary(text, text, { maxKeys: 2 }));
    const schema = (levels: number): fc.Arbitrary<JsonObject> => {
      const words = { title: text, description: text, default: value, enum: fc.tuple(text), "x-other": value };
      const inner = levels === 0 ? null : schema(levels - 1);
      const parts =
        inner === null ? {} : { properties: fc.dictionary(text, inner, { maxKeys: 2 }), items: inner, allOf: fc.tuple(inner) };
      return fc.record<Record<string, Json>>({ ...words, ...parts }, { requiredKeys: [] });
    };
    let taken = 0;
    fc.assert(
      fc.property(schema(2), (each) => {
        const tool = listed(JSON.parse(JSON.stringify({ ...each, type: "object" })) as JsonObject);
        if (!tool.ok) return;
        taken += 1;
        expect(isServerTool(tool.value.name)).toBe(true);
        const shown = JSON.stringify(tool.value.inputSchema);
        expect(HIDDEN.filter((character) => shown.includes(character))).toEqual([]);
        expect(shown).not.toContain(String.raw`\u0007`);
      }),
      { numRuns: 500 },
    );
    expect(taken).toBeGreaterThan(50);
  });
});
