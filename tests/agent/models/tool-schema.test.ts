import { describe, expect, it } from "vitest";
import { toolSchema } from "../../../src/agent/models/tool-schema.ts";

describe("the schema of a tool as servers of models take it", () => {
  it("has no patterns, formats, lengths and counts, at any depth, and says the bounds in descriptions", () => {
    const schema = {
      type: "object",
      additionalProperties: false,
      required: ["name", "pattern"],
      properties: {
        name: { type: "string", pattern: "\\S", minLength: 1, maxLength: 200, description: "The name." },
        // A parameter may be called as a keyword is.
        pattern: { type: "string", format: "uri" },
        items: { type: "array", minItems: 2, maxItems: 5, items: { type: "string", maxLength: 3 } },
        either: {
          anyOf: [
            { type: "string", pattern: "x" },
            { type: "integer", minimum: 1 },
          ],
        },
        fixed: { enum: [{ pattern: "x" }], default: { maxLength: 1 } },
      },
    };
    const sent = toolSchema(schema);
    expect(sent).toEqual({
      type: "object",
      additionalProperties: false,
      required: ["name", "pattern"],
      properties: {
        name: { type: "string", description: "The name. (not empty, at most 200 characters)" },
        pattern: { type: "string" },
        items: {
          type: "array",
          description: "at least 2 items, at most 5 items",
          items: { type: "string", description: "at most 3 characters" },
        },
        either: { anyOf: [{ type: "string" }, { type: "integer", minimum: 1 }] },
        fixed: { enum: [{ pattern: "x" }], default: { maxLength: 1 } },
      },
    });
    expect(toolSchema(schema)).toBe(sent);
  });

  it("has what it refers to in its place; a schema within itself becomes any value", () => {
    const sent = toolSchema({
      type: "object",
      properties: {
        a: { $ref: "#/$defs/point", description: "Here." },
        tree: { $ref: "#/definitions/node" },
        none: { $ref: "#/$defs/none" },
      },
      $defs: { point: { type: "object", properties: { x: { type: "number" } }, description: "A point." } },
      definitions: {
        node: { type: "object", properties: { children: { type: "array", items: { $ref: "#/definitions/node" } } } },
      },
    });
    expect(sent).toEqual({
      type: "object",
      properties: {
        a: { type: "object", properties: { x: { type: "number" } }, description: "Here." },
        tree: { type: "object", properties: { children: { type: "array", items: {} } } },
        none: {},
      },
    });
  });

  it("that would become huge by what it refers to stays as it is, but for its bounds", () => {
    const levels = Array.from({ length: 12 }, (_, level) => [
      `l${level}`,
      {
        type: "object",
        properties: Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, { $ref: `#/$defs/l${level + 1}` }])),
      },
    ]);
    const schema = {
      type: "object",
      properties: { top: { $ref: "#/$defs/l0" } },
      $defs: Object.fromEntries([...levels, ["l12", { type: "string", maxLength: 3 }]]),
    };
    expect(JSON.stringify(toolSchema(JSON.parse(JSON.stringify(schema))) as unknown).length).toBeLessThan(300_000);
  });

  it("holds for all that the whole schema holds for: conditions that lose their bounds are left out, and of `oneOf` any may hold", () => {
    const text = { type: "string" } as const;
    expect(
      toolSchema({
        type: "object",
        properties: {
          not: { ...text, not: { pattern: "^x" } },
          condition: { ...text, if: { pattern: "^x" }, else: { const: "y" } },
          address: {
            oneOf: [
              { ...text, format: "ipv4" },
              { ...text, format: "ipv6" },
            ],
          },
          kept: { not: { const: 1 }, oneOf: [{ const: 2 }, { const: 3 }] },
        },
      }),
    ).toEqual({
      type: "object",
      properties: {
        not: text,
        condition: text,
        address: { anyOf: [text, text] },
        kept: { not: { const: 1 }, oneOf: [{ const: 2 }, { const: 3 }] },
      },
    });
  });

  it("follows references into lists, and through names that are not encoded, and keeps what stands on both sides of one", () => {
    const base = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    expect(
      toolSchema({
        type: "object",
        properties: {
          item: { $ref: "#/$defs/one/anyOf/1" },
          percent: { $ref: "#/$defs/100%" },
          both: { $ref: "#/$defs/base", properties: { b: { type: "number" } }, description: "Both." },
        },
        $defs: { one: { anyOf: [{ type: "string" }, { type: "number" }] }, "100%": { type: "boolean" }, base },
      }),
    ).toMatchObject({
      properties: {
        item: { type: "number" },
        percent: { type: "boolean" },
        both: { allOf: [base], properties: { b: { type: "number" } }, description: "Both." },
      },
    });
  });
});
