import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { QuestionRefused, readQuestion } from "../../../src/agent/mcp/asking/elicitation.ts";
import { continued, furtherInput, NO_ROUNDS } from "../../../src/agent/mcp/asking/input-rounds.ts";
import { formValues } from "../../../src/agent/tools/input-form.ts";
import { isJsonObject, type Json } from "../../../src/lib/json.ts";
import { FORM } from "../../support/mcp-asking.ts";

const of = (properties: Json, more: object = {}): Json => ({
  message: "m",
  requestedSchema: { type: "object", properties, ...more } as Json,
});
const fieldOf = (schema: Json) => readQuestion("own", of({ a: schema })).fields[0];

/** Any value of JSON, in places among the words of forms. */
const anything = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(null, [], {}, 0, -1, 1e300, "", "x".repeat(100_000), "\ud800", [null], { type: "string" }),
);
const WORDS = [
  "type",
  "enum",
  "enumNames",
  "oneOf",
  "anyOf",
  "items",
  "default",
  "format",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "title",
  "const",
];
const schema = fc.dictionary(
  fc.constantFrom(...WORDS),
  fc.oneof(
    anything,
    fc.constantFrom<Json>(
      "string",
      "integer",
      "number",
      "boolean",
      "array",
      ["a", "b"],
      { enum: ["a"] },
      [{ const: "a" }],
      "date",
      3,
    ),
  ),
) as fc.Arbitrary<Json>;

describe("the form of a question", () => {
  it("is read or refused with a reason, whatever a server sends", () => {
    const names = fc.oneof(fc.string(), fc.constantFrom("a", "__proto__", "constructor", "\ud800"));
    const params = fc.oneof(
      anything,
      fc.record(
        { message: fc.oneof(fc.string(), anything), mode: fc.oneof(fc.constant("form"), anything), requestedSchema: anything },
        { requiredKeys: [] },
      ),
      fc.dictionary(names, schema).map((properties) => of(properties as Json)),
    ) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(params, fc.oneof(anything, fc.dictionary(names, anything)) as fc.Arbitrary<Json>, (given, values) => {
        let question;
        try {
          question = readQuestion("own", given);
        } catch (error) {
          expect(error).toBeInstanceOf(QuestionRefused);
          return;
        }
        expect(JSON.stringify(question).length).toBeLessThanOrEqual(64 * 1024);
        // Its hash has a canonical form.
        expect(() => canonicalize(question)).not.toThrow();
        const checked = formValues(question.fields, values);
        if (checked.ok) expect(formValues(question.fields, checked.value).ok).toBe(true);
        // Each default is a value that fits.
        const defaults = question.fields.flatMap((field) =>
          field.default === null ? [] : [[field.name, field.default] as const],
        );
        const others = question.fields.filter((field) => field.default === null && field.isRequired).map(({ name }) => name);
        const wrong = formValues(question.fields, Object.fromEntries(defaults));
        expect(new Set(wrong.ok ? [] : wrong.refusal.map(({ field }) => field))).toEqual(new Set(others));
      }),
      { numRuns: 2_000 },
    );
  });

  it("keeps each kind of field, with its bounds, options and default", () => {
    const { fields } = readQuestion("own", { message: "m", requestedSchema: FORM as unknown as Json });
    expect(fields.map(({ kind }) => kind)).toEqual([
      "TEXT",
      "TEXT",
      "INTEGER",
      "NUMBER",
      "BOOLEAN",
      "CHOICE",
      "CHOICE",
      "CHOICES",
    ]);
    expect(fieldOf({ type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, default: ["b"] })).toMatchObject({
      options: [
        { value: "a", title: "a" },
        { value: "b", title: "b" },
      ],
      minItems: 1,
      default: ["b"],
    });
  });

  it("keeps no default that does not fit", () => {
    for (const one of [
      { type: "string", minLength: 2, default: "a" },
      { type: "string", enum: ["a"], default: "b" },
      { type: "integer", default: 1.5 },
      { type: "boolean", default: "true" },
      { type: "array", items: { enum: ["a"] }, default: ["a", "a"] },
      { type: "string", format: "date", default: "2026-02-30" },
      { type: "string", default: "half \ud800" },
      { type: "string", default: "shown\u202enedorw" },
    ] as const)
      expect(fieldOf(one as unknown as Json)?.default).toBeNull();
  });

  it.each<[string, Json]>([
    ["a nested object", { type: "object", properties: {} }],
    ["a pattern", { type: "string", pattern: "(a+)+$" }],
    ["an unknown format", { type: "string", format: "password" }],
    ["a reference", { $ref: "#/$defs/a" }],
    ["a list of texts", { type: "array", items: { type: "string" } }],
    ["a type among several", { type: ["string", "null"] }],
    ["bounds that no value fits", { type: "integer", minimum: 2, maximum: 1 }],
    ["a length that is no count", { type: "string", minLength: -1 }],
    ["no options", { type: "string", enum: [] }],
    ["an option twice", { type: "string", enum: ["a", "a"] }],
    ["options that are no texts", { type: "string", enum: [1] }],
    ["an option with half a character", { type: "string", enum: ["\ud800"] }],
  ])("is refused with %s", (_what, field) => {
    expect(() => readQuestion("own", of({ a: field }))).toThrow(QuestionRefused);
  });

  it("is refused with 10,000 fields, hidden characters in names, or required fields that it does not have", () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, { type: "string" }]));
    for (const params of [
      of(many),
      of({ "a\u202e": { type: "string" } }),
      of({ "a\ud800": { type: "string" } }),
      of({ "": { type: "string" } }),
      of({}, { required: ["a"] }),
      of({}, { allOf: [] }),
      of(JSON.parse('{"__proto__":{"type":"string"}}') as Json),
    ])
      expect(() => readQuestion("own", params)).toThrow(QuestionRefused);
  });

  it("shows hidden characters of all texts as escapes", () => {
    const question = readQuestion("own", {
      message: "all\u202eow\u0000\ud800",
      requestedSchema: {
        type: "object",
        properties: { a: { type: "string", title: "t\u200b", description: "d\u0007", enum: ["x\u2066"] } },
      },
    });
    expect(question).toMatchObject({
      message: "all\\u202eow\u2400\ufffd",
      fields: [{ title: "t\\u200b", description: "d\\u0007", options: [{ value: "x\u2066", title: "x\\u2066" }] }],
    });
  });

  it("has formats that ordinary values fit", () => {
    const fits = (format: string, value: string) =>
      formValues(
        [fieldOf({ type: "string", format })].flatMap((field) => field ?? []),
        { a: value },
      ).ok;
    for (const [format, right, wrong] of [
      ["email", ["a@b", "anna+x@example.com", "ä@exämple.de"], ["a", "a@", "@b", "a b@c", "a@b@c"]],
      ["uri", ["https://a.b/c?d=é", "mailto:a@b", "urn:isbn:1"], ["a", "/path", "http://a b", "http://[", ""]],
      ["date", ["2024-02-29", "0001-01-01"], ["2025-02-29", "2025-2-1", "today", "2025-13-01"]],
      [
        "date-time",
        ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.123+02:00"],
        ["2026-01-31", "2026-01-31T12:00:00", "2026-01-31T25:00:00Z"],
      ],
    ] as const) {
      expect(right.filter((value) => !fits(format, value))).toEqual([]);
      expect(wrong.filter((value) => fits(format, value))).toEqual([]);
    }
  });
});

it("the rounds of a call are read or refused with a reason, whatever a server sends", () => {
  const input = fc.record(
    { inputRequests: fc.oneof(anything, fc.dictionary(fc.string(), anything)), requestState: anything },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(input as fc.Arbitrary<Json>, (given) => {
      try {
        const { inputRequests = {}, requestState } = isJsonObject(given) ? given : {};
        const rounds = furtherInput(NO_ROUNDS, inputRequests, requestState, { server: "own", root: "/work" });
        expect(continued(JSON.parse(JSON.stringify(rounds)) as Json)).toEqual(rounds);
      } catch (error) {
        expect((error as Error).message).toMatch(/^(it asks|the state|the key|its form|its field|the name)/);
      }
    }),
    { numRuns: 1_000 },
  );
});
