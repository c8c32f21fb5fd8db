import { describe, expect, it } from "vitest";
import { Type } from "typebox";
import { entriesOf, flatEntries, flatFields, inputOf, valueFields, valueOf } from "../../console/src/calls/flat-form.ts";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";

const SCHEMA = Type.Object({
  path: Type.String({ description: "The file." }),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  isWhole: Type.Optional(Type.Boolean()),
  mode: Type.Optional(Type.Union([Type.Literal("read"), Type.Literal("write")])),
  parts: Type.Optional(Type.Array(Type.String({ enum: ["head", "body"] }))),
});

function fieldsOf(schema: unknown) {
  const fields = flatFields(schema);
  if (fields === null) throw new Error("the schema is not flat");
  return fields;
}

describe("the form of a tool's input", () => {
  it("has a field for each flat property", () => {
    expect(fieldsOf(SCHEMA).map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ["path", "TEXT", true],
      ["limit", "INTEGER", false],
      ["isWhole", "BOOLEAN", false],
      ["mode", "CHOICE", false],
      ["parts", "CHOICES", false],
    ]);
  });

  it("does not exist for required properties of another shape, and for no schema", () => {
    expect(flatFields(Type.Object({ edits: Type.Array(Type.Object({ path: Type.String() })) }))).toBeNull();
    expect(flatFields(Type.Array(Type.String()))).toBeNull();
    expect(flatFields(null)).toBeNull();
  });

  it("exists for the built-in tools that people edit most", () => {
    for (const name of ["fs_write", "fs_edit", "bash_run"]) {
      const tool = BUILTIN_TOOLS.find((each) => each.name === name);
      expect(flatFields(tool?.inputSchema), name).not.toBeNull();
    }
  });

  it("gives back exactly the input that it was made of", () => {
    for (const input of [{ path: "a" }, { path: "", limit: 3, isWhole: false, mode: "read", parts: ["head"] }]) {
      const fields = fieldsOf(SCHEMA);
      const entries = entriesOf(fields, input);
      expect(entries === null ? null : inputOf(fields, entries, input)).toEqual(input);
    }
  });

  it("leaves an emptied optional property out, and keeps a text that is no number for the server to refuse", () => {
    const fields = fieldsOf(SCHEMA);
    const entries = { path: "b", limit: "", isWhole: true, mode: "", parts: [] };
    expect(inputOf(fields, entries, { path: "a", limit: 3 })).toEqual({ path: "b", isWhole: true });
    expect(inputOf(fields, { ...entries, limit: "many" }, {})).toMatchObject({ limit: "many" });
  });

  it("does not show an input that has other properties or types", () => {
    const fields = fieldsOf(SCHEMA);
    expect(entriesOf(fields, { path: "a", other: 1 })).toBeNull();
    expect(entriesOf(fields, { path: { deep: true } })).toBeNull();
    expect(entriesOf(fields, { path: null })).toBeNull();
  });
});

describe("the form of a result", () => {
  it.each([
    ["a text", { type: "string" }, { result: "blue" }, "blue"],
    ["a number", { type: "integer" }, { result: "4" }, 4],
    ["a choice", { enum: ["red", "blue"] }, { result: "blue" }, "blue"],
    ["an object", { type: "object", properties: { result: { type: "string" } } }, { result: "blue" }, { result: "blue" }],
  ])("makes %s", (_name, schema, entries, value) => {
    expect(valueOf(schema, valueFields(schema) ?? [], entries)).toEqual(value);
  });

  it("does not exist for lists, and for no schema", () => {
    expect(valueFields({ type: "array", items: { type: "object" } })).toBeNull();
    expect(valueFields(null)).toBeNull();
  });
});

describe("the values of an input by the fields of its schema", () => {
  const shown = (input: unknown) => flatEntries(SCHEMA, input)?.map(({ field, text }) => [field.name, text]) ?? null;

  it("are those that the input has, in the schema's order", () => {
    expect(shown({ parts: ["head"], limit: 5, path: "a.md", isWhole: false })).toEqual([
      ["path", "a.md"],
      ["limit", "5"],
      ["isWhole", "false"],
      ["parts", '["head"]'],
    ]);
    expect(shown({ path: "" })).toEqual([["path", ""]]);
  });

  it.each([
    ["a further parameter", { path: "a", host: "evil" }],
    ["an inherited name", { path: "a", constructor: "x" }],
    ["a number for a text", { path: 5 }],
    ["a text for a number", { path: "a", limit: "5" }],
    ["null", { path: null }],
    ["an object", { path: { a: 1 } }],
    ["a list", ["a"]],
    ["no input", null],
    ["an empty input", {}],
  ])("are shown as JSON with %s", (_name, input) => {
    expect(shown(input)).toBeNull();
  });
});
