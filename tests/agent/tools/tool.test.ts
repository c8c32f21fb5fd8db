import canonicalize from "canonicalize";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BUILTIN_TOOLS } from "../../../src/agent/tools/builtin.ts";
import { ToolDefinitionError } from "../../../src/agent/tools/input-schema.ts";
import { defineTool, optional } from "../../../src/agent/tools/tool.ts";
import { Type } from "../../../src/triplane.ts";

const run = () => ({ output: "", details: null });
const tool = (name: string, inputSchema: object) =>
  defineTool<never>({ name, description: "x", readOnly: true, inputSchema: inputSchema as never, run });

describe("the schema of a tool's input", () => {
  it("may refer to itself, and to nothing of another tool", () => {
    const tree = tool("tree", { type: "object", properties: { children: { type: "array", items: { $ref: "#" } } } });
    expect(tree.bind({ children: [{ children: [] }] })).toMatchObject({ ok: true });
    expect(tree.bind({ children: [{ children: 1 }] })).toMatchObject({ ok: false });
    const shared = { $id: "shared", type: "object", properties: { a: { $id: "inner", type: "integer" } } };
    expect([tool("one", shared), tool("two", shared)].map(({ bind }) => bind({ a: 1 }).ok)).toEqual([true, true]);
    expect(() => tool("three", { type: "object", properties: { a: { $ref: "inner" } } })).toThrow(ToolDefinitionError);
  });

  it("gives `run` the type of its input, also of what may be left out or null", () => {
    const typed = defineTool({
      name: "typed",
      description: "x",
      readOnly: true,
      inputSchema: Type.Object({ path: Type.String(), most: optional(Type.Integer({ minimum: 1 })) }),
      run: ({ path, most }) => ({ output: path.slice(0, most ?? 1), details: null }),
    });
    for (const input of [{ path: "a" }, { path: "a", most: null }, { path: "a", most: 2 }])
      expect(typed.bind(input)).toEqual({ ok: true, value: { input, preview: null, run: expect.any(Function) } });
    expect(typed.bind({ path: "a", most: 0 })).toMatchObject({
      ok: false,
      refusal: [{ path: "/most", message: "must be at least 1" }],
    });
    expect(typed.bind({ most: 1 })).toMatchObject({ ok: false, refusal: [{ message: "must have required property 'path'" }] });
  });

  it("lists all problems of an input, but the first one only of an input with thousands of parts", () => {
    const builtin = (name: string) => BUILTIN_TOOLS.find((each) => each.name === name) ?? tool(name, {});
    const edits = (count: number) => ({ edits: Array.from({ length: count }, () => ({})) });
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_none, index) => [`k${index}`, 1]));
    expect(builtin("fs_multi_edit").bind(edits(2))).toMatchObject({ refusal: { length: 6 } });
    expect(builtin("fs_multi_edit").bind(edits(6_000))).toEqual({
      ok: false,
      refusal: [{ path: "/edits", message: expect.stringContaining("100"), value: expect.any(Array) }],
    });
    expect(builtin("bash_run").bind({ command: "true", ...fields(6_000) })).toMatchObject({ refusal: { length: 1 } });
    const most = Type.Object({ list: Type.Array(Type.Integer()), most: Type.Optional(Type.Integer({ default: 7 })) });
    const list = Array.from({ length: 6_000 }, () => 1);
    expect(tool("many", most).bind({ list })).toMatchObject({ ok: true, value: { input: { list, most: 7 } } });
  });

  it("closes the objects within it that name their properties, and checks formats of texts", () => {
    const point = { type: "object", properties: { x: { type: "integer" } } };
    const odd = tool("odd", {
      type: "object",
      properties: {
        lines: point,
        list: { type: "array", items: point },
        free: { type: "object" },
        either: { anyOf: [point, { type: "string", format: "email" }] },
        both: {
          type: "object",
          properties: { a: { type: "string" } },
          anyOf: [
            { properties: { b: { type: "integer" } }, required: ["b"] },
            { properties: { c: { type: "integer" } }, required: ["c"] },
          ],
        },
        open: { type: "object", properties: { a: { type: "string" } }, additionalProperties: true },
        at: { type: "string", format: "date-time" },
      },
    });
    for (const input of [
      { lines: { x: 1, strange: 2 } },
      { list: [{ x: 1 }, { strange: 2 }] },
      { either: { strange: 2 } },
      { either: "nobody" },
      { at: "2026-02-31T12:00:00Z" },
      { lines: { x: "1" } },
    ])
      expect(odd.bind(input).ok, JSON.stringify(input)).toBe(false);
    for (const input of [
      { lines: { x: 1 } },
      { free: { anything: 1 } },
      { either: "a@example.org" },
      { both: { a: "", b: 1 } },
      { open: { b: 1 } },
      { at: "2026-02-28T12:00:00Z" },
    ])
      expect(odd.bind(input).ok, JSON.stringify(input)).toBe(true);
    const typo = { type: "object", properties: { a: { type: "string", format: "e-mail" } } };
    expect(() => tool("typo", typo)).toThrow(/unknown format "e-mail"/);
  });

  it("of a built-in tool stays what approvals are bound to: a call that was allowed before an upgrade runs after it", () => {
    const hash = (schema: object): string =>
      createHash("sha256")
        .update(canonicalize(schema) ?? "")
        .digest("hex")
        .slice(0, 16);
    expect(Object.fromEntries(BUILTIN_TOOLS.map(({ name, inputSchema }) => [name, hash(inputSchema)]))).toEqual({
      fs_read: "2a57425cf1622402",
      fs_write: "44f9ff8cb18f98cf",
      fs_edit: "b0c1b0f0ca96efdc",
      bash_run: "30701ca452ac724e",
      bash_logs: "4869f76d68045b65",
      bash_kill: "c49e3070ab729de8",
      fs_multi_edit: "2f2911480cdaca26",
      fs_glob: "871edd2efde2b328",
      fs_grep: "5439c3058e5f8530",
      read_output: "860381ee3e097e59",
      todo_read: "d746974fa9afd5e9",
      todo_write: "87541429de16b69f",
      memory: "3506226929ec0574",
      task_run: "84b4d9eec3178837",
    });
  });
});

const TEXT_INPUT = { type: "object", properties: { text: { type: "string" } } };

describe("the definition of a tool", () => {
  const right = { name: "t", description: "x", readOnly: true, inputSchema: Type.Object({ n: Type.Integer() }), run };

  it.each([
    [{ risk: "HUGE" }, "tool t: risk must be one of LOW, MEDIUM, HIGH"],
    [{ readOnly: "no" }, "tool t: readOnly must be boolean"],
    [{ description: "" }, "tool t: description must not be empty"],
    [{ run: undefined }, "tool t: the definition must have required property 'run'"],
    [
      { timeout: 5 },
      'tool t: the definition has no field "timeout" (did you mean timeoutMs?): the fields are aliases, cacheable, commands',
    ],
    [{ timeoutMs: 0 }, "tool t: timeoutMs must be at least 1, not 0"],
    [{ paths: { n: "reed" } }, "tool t: paths.n must be one of read, write"],
    [
      { cacheable: true, readOnly: false, paths: {} },
      "tool t cannot be cacheable: it is not readOnly, and what changes something must happen at each call",
    ],
    [{ cacheable: true }, "tool t cannot be cacheable: name the files that it reads in paths, or say paths: {} if it reads none"],
    [
      { cacheable: true, inputSchema: TEXT_INPUT, paths: { text: "write" } },
      'tool t cannot be cacheable: paths.text is not "read": only files that are named can be compared',
    ],
    [
      { cacheable: true, inputSchema: TEXT_INPUT, paths: { text: { searchIn: null } } },
      'tool t cannot be cacheable: paths.text is not "read": only files that are named can be compared',
    ],
    [
      { cacheable: true, inputSchema: TEXT_INPUT, paths: {}, commands: ["text"] },
      "tool t cannot be cacheable: what its commands depend on is not known",
    ],
    [
      { hooks: { preToolUses: [] } },
      'tool t: hooks has no field "preToolUses" (did you mean preToolUse?): the fields are postToolUse, preToolUse',
    ],
    [{ hooks: { preToolUse: "guard" } }, "tool t: hooks.preToolUse must be a function, or a list of functions"],
    [{ hooks: { preToolUse: [() => {}, 1] } }, "tool t: hooks.preToolUse.1 must be a function"],
    [
      { inputSchema: { type: "object", properties: { n: { type: "integer", default: "two" } } } },
      "the default of n of tool t does not fit: it must be integer",
    ],
  ])("that is wrong is refused at the start: %j", (wrong, message) => {
    expect(() => defineTool({ ...right, ...wrong } as never)).toThrow(message);
    expect(() => defineTool({ ...right, ...wrong } as never)).toThrow(ToolDefinitionError);
  });

  it("says of an input what came, also if that is null", () => {
    expect(defineTool(right).bind({ n: null })).toMatchObject({
      refusal: [{ path: "/n", message: "must be integer", value: null }],
    });
  });
});
