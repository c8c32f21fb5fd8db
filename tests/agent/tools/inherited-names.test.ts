import { describe, expect, it } from "vitest";
import { schemaCheck } from "../../../src/agent/mcp/schema-check.ts";
import { resultCheck } from "../../../src/agent/tools/input-schema.ts";
import { compileShape } from "../../../src/agent/tools/shapes/compiled-shape.ts";
import type { Json, JsonObject } from "../../../src/lib/json.ts";

/** Names that objects inherit: the library that compares values calls some of them. */
const NAMES = ["toString", "valueOf", "constructor", "hasOwnProperty", "__proto__"];
const VALUES = ["1", '"x"', "{}", '{"toString":1}', "null"];

const listOf = (items: JsonObject): JsonObject => ({ type: "object", properties: { list: { type: "array", ...items } } });

const parsed = (text: string): Json => JSON.parse(text) as Json;

const CHECKS: readonly (readonly [string, (schema: JsonObject, value: Json) => readonly unknown[]])[] = [
  ["a tool of an MCP server", (schema, value) => schemaCheck(schema)(value)],
  ["a tool of the configuration", (schema, value) => resultCheck("own", schema)(value)],
  [
    "a shape",
    (schema, value) => {
      const compiled = compileShape(schema);
      return typeof compiled === "function" ? compiled(value) : ["the schema is refused"];
    },
  ],
];

describe.each(CHECKS)("values with names that objects inherit, for %s,", (place, check) => {
  it.each(NAMES.flatMap((name) => VALUES.map((value) => [name, value] as const)))("such as %s of %s", (name, value) => {
    const item = `{"${name}":${value}}`;
    const twice = parsed(`{"list":[${item},${item}]}`);
    const once = parsed(`{"list":[${item},{"other":1}]}`);
    const constant = listOf({ items: { const: parsed(item) } });
    const options = listOf({ items: { enum: [parsed(item), { other: 2 }] } });
    for (const schema of [constant, options]) {
      expect(check(schema, once)).not.toEqual([]);
      // A value that the library cannot compare is refused.
      expect(() => check(schema, twice)).not.toThrow();
    }
    const unique = listOf({ items: { type: "object" }, uniqueItems: true });
    const found = check(unique, twice);
    // The servers of MCP count their items themselves, and the library tells objects apart by `constructor`.
    if (place.includes("MCP")) expect(found).toEqual([]);
    else if (!value.startsWith("{") || name !== "constructor") expect(found).not.toEqual([]);
  });
});
