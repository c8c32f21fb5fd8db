import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { readAnswer } from "../../../../src/agent/tools/shapes/answer-value.ts";
import { ShapeChecks } from "../../../../src/agent/tools/shapes/shape-checks.ts";
import type { Json, JsonObject } from "../../../../src/lib/json.ts";

const checks = new ShapeChecks();
afterAll(() => checks.close());

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });

describe("a given schema", () => {
  it.each([
    [null, "/", "must be an object"],
    [[], "/", "must be an object"],
    [7, "/", "must be an object"],
    [{}, "/type", 'must be "object"'],
    [{ type: "array" }, "/type", 'must be "object"'],
    [object({ a: { type: "strin" } }), "/properties/a/type", "must be"],
    [object({ a: { minLength: -1 } }), "/properties/a/minLength", "must be"],
    [object({}, { required: "a" }), "/required", "must be array"],
    [object({ a: { $ref: "https://example.org/a.json" } }), "/", "can't resolve reference"],
    [object({ a: { $ref: "#/$defs/gone" } }), "/", "can't resolve reference"],
    [object({ a: { type: "string", pattern: "(" } }), "/", "Invalid regular expression"],
    [object({}, { $async: true }), "/", "$async"],
    [object({}, { description: "x".repeat(70_000) }), "/", "65536 is the most"],
  ])("is refused with the path of its problem: %j", async (schema, path, message) => {
    expect(await checks.problemsOf(schema)).toContainEqual({ path, message: expect.stringContaining(message) });
  });

  it.each([
    object({ a: { type: "string", format: "date-time" } }),
    object({ next: { $ref: "#" } }),
    object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { anyOf: [{ type: "null" }, { $ref: "#/$defs/a" }] } } }),
    object({ a: { type: "array", items: [{ type: "string" }] } }, { $schema: "http://json-schema.org/draft-07/schema#" }),
    object({ a: { $recursiveRef: "#" } }, { $schema: "https://json-schema.org/draft/2019-09/schema" }),
    object({ a: { "x-own": 1, type: "string", nullable: true } }),
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}') as JsonObject,
  ])("is accepted: %j", async (schema) => {
    expect(await checks.problemsOf(schema)).toEqual([]);
  });

  it("nested too deeply is refused before it is compiled", async () => {
    let schema: JsonObject = { type: "object" };
    for (let level = 0; level < 60; level += 1) schema = object({ a: schema });
    expect(await checks.problemsOf(schema)).toEqual([{ path: "/", message: "is nested more than 50 levels deep" }]);
  });
});

describe("an answer", () => {
  it("has each problem named with its path, up to a hundred", async () => {
    const schema = object({ a: { type: "integer" }, b: { type: "string", maxLength: 2 } }, { required: ["a", "c"] });
    expect(await checks.misfits(schema, { a: "1", b: "long" })).toEqual([
      { path: "/", message: "must have required property 'c'" },
      { path: "/a", message: "must be integer" },
      { path: "/b", message: "must have at most 2 characters" },
    ]);
    const many = Array.from({ length: 4_000 }, () => ({}));
    expect(await checks.misfits(object({ list: { items: { type: "string" } } }), { list: many })).toHaveLength(100);
    const more = Array.from({ length: 10_000 }, () => ({}));
    expect(await checks.misfits(object({ list: { items: { type: "string" } } }), { list: more })).toHaveLength(1);
  });

  it("that a pattern would check for ever is a problem after a time, and the next check works", async () => {
    const impatient = new ShapeChecks(1_500);
    const schema = object({ a: { type: "string", pattern: "^(a+)+$" } });
    expect(await impatient.misfits(schema, { a: `${"a".repeat(60)}!` })).toEqual([
      { path: "/", message: "could not be checked by its schema within 1.5 s" },
    ]);
    expect(await impatient.misfits(schema, { a: "aaa" })).toEqual([]);
    await impatient.close();
  });

  it("that is hostile never throws and never passes a schema that it does not fit", async () => {
    const schema = object({ a: { type: "integer" } }, { required: ["a"], additionalProperties: false });
    const value: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(value, fc.constantFrom<Json>({}, { a: null }, { a: 1 }, [], null, { a: 1, b: 2 })),
        async (given) => {
          const problems = await checks.misfits(schema, given);
          const fits = JSON.stringify(Object.keys(given ?? {})) === '["a"]' && Number.isInteger((given as { a: unknown }).a);
          expect(problems.length === 0).toBe(fits);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("does not have the fields that every object inherits", async () => {
    for (const name of ["toString", "constructor", "__proto__"])
      expect(await checks.misfits(object({}, { required: [name] }), {})).toHaveLength(1);
  });

  it("with `__proto__` is checked as it is, and changes nothing else", async () => {
    const value = JSON.parse('{"__proto__":{"polluted":true},"a":1}') as Json;
    expect(await checks.misfits(object({ a: { type: "integer" } }, { additionalProperties: false }), value)).toHaveLength(1);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("the value of an answer", () => {
  const value = { a: [1, { b: "}" }] };
  const json = JSON.stringify(value, null, 2);

  it.each([
    ["JSON alone", [json]],
    ["a fence", ["```json\n" + json + "\n```"]],
    ["a fence with words around it", ["Here it is:\n```\n" + json + "\n```\nDo you need more?"]],
    ["words before and after", [`The answer is ${json}. That is all.`]],
    ["words with a footnote", [`As said [1]: ${json}`]],
    ["a brace too many", [`${json}}`]],
    ["a block of words before it", ["I have looked at it.", json]],
    ["empty blocks around it", ["", json, " "]],
  ])("is read from %s", (_form, texts) => {
    expect(readAnswer(texts)).toEqual({ value });
  });

  it.each([
    ["nothing", [""], "is empty"],
    ["words", ["I cannot do that."], "is no JSON"],
    ["a number that is too large", ['{"a":[1e400]}'], "too large"],
    ["an object within a list", ['The list: [{"a":1}]'], "is no JSON"],
    ["two objects", ['{"a":1} or {"a":2}'], "is no JSON"],
    ["two fences", ['```json\n{"a":1}\n```\n```json\n{"a":2}\n```'], "is no JSON"],
    ["JSON that was cut", ['{"a":[1,2'], "is no JSON"],
    ["too much", [`{"a":"${"x".repeat(1024 * 1024)}"}`], "is the most"],
    ["too deep nesting", [`${'{"a":'.repeat(200)}1${"}".repeat(200)}`], "levels deep"],
  ])("is not read from %s", (_form, texts, message) => {
    expect(readAnswer(texts)).toMatchObject({ problem: { path: "/", message: expect.stringContaining(message) } });
  });

  it("is never invented: any text gives a value only with JSON in it, and in linear time", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("{", "}", '"', "\\", "`", "\n", "a", ":", "1", "[", "]") }), (text) => {
        const read = readAnswer([text]);
        if ("value" in read && typeof read.value === "object" && read.value !== null)
          expect(text.replaceAll(/\s/g, "")).toContain(JSON.stringify(read.value));
      }),
      { numRuns: 1_000 },
    );
    expect(readAnswer(["{".repeat(1_000_000)])).toHaveProperty("problem");
    expect(readAnswer(["```\n".repeat(200_000)])).toHaveProperty("problem");
  });
});
