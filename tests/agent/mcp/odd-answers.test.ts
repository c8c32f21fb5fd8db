import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toolResultOf, ToolReportedError } from "../../../src/agent/mcp/call-result.ts";
import { readListedTool } from "../../../src/agent/mcp/listed-tool.ts";
import { mcpTool } from "../../../src/agent/mcp/mcp-tool.ts";
import { schemaCheck } from "../../../src/agent/mcp/schema-check.ts";
import type { McpServer } from "../../../src/agent/mcp/server.ts";
import { readTools } from "../../../src/agent/mcp/tool-list.ts";
import { isServerTool } from "../../../src/agent/tools/tool.ts";
import type { Json, JsonObject } from "../../../src/lib/json.ts";

const SERVER: McpServer = {
  name: "own",
  way: { kind: "http", url: "http://a.example", headers: {} },
  variableValues: [],
  include: null,
  exclude: [],
  readOnlyTools: ["work"],
  roots: "asked",
  toolTimeoutMs: null,
};

/** Any value in the place of a field: missing, null, a list, an object, a number, a huge text. */
const odd = fc.oneof(
  fc.constant(undefined),
  fc.constant(null),
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.integer(),
  fc.constant("x".repeat(300_000)),
  fc.constant([]),
  fc.constant({}),
);

/** An object of this form, one field of which has an odd value. */
const withOdd = (form: JsonObject) =>
  fc
    .tuple(fc.constantFrom(...Object.keys(form)), odd)
    .map(([field, value]) => JSON.parse(JSON.stringify({ ...form, [field]: value })) as JsonObject);

const TOOL = {
  name: "work",
  title: "Work",
  description: "Works.",
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
  outputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
};
const SCHEMA = {
  type: "object",
  properties: { a: { type: "string" } },
  required: ["a"],
  additionalProperties: false,
  $ref: "#/x",
  $defs: {},
  $schema: "x",
  $id: "y",
  oneOf: [{}],
  items: {},
};
const BLOCK = {
  type: "resource",
  text: "t",
  data: "AAAA",
  mimeType: "m",
  uri: "u",
  name: "n",
  resource: { uri: "u", text: "t", blob: "AAAA" },
};

describe("odd answers of a server", () => {
  it("make a tool, or a reason why there is none", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          withOdd(TOOL),
          withOdd(SCHEMA).map((inputSchema) => Object.assign({}, TOOL, { inputSchema })),
          odd,
        ),
        odd,
        (entry, input) => {
          const listed = readListedTool("own", entry);
          if (!listed.ok) {
            expect(typeof listed.refusal).toBe("string");
            return;
          }
          const tool = mcpTool(SERVER, listed.value, () => Promise.reject(new Error("not called")));
          expect(isServerTool(tool.name) && tool.name.length <= 64).toBe(true);
          expect(typeof tool.bind(input ?? null).ok).toBe("boolean");
        },
      ),
      { numRuns: 500 },
    );
  });

  it("make a list of tools, or an error", async () => {
    await fc.assert(
      fc.asyncProperty(withOdd({ tools: [TOOL], nextCursor: "next" }), async (page) => {
        const list = await readTools(SERVER, { page: async () => page }, 1_000).catch((error: unknown) => error);
        expect(list instanceof Error || (list as { tools: unknown[] }).tools.length <= 1).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it("make a result with a text, or the server's own error", () => {
    const check = schemaCheck({ type: "object", properties: { a: { type: "string" } }, required: ["a"] });
    const results = fc.oneof(
      withOdd({ content: [BLOCK], structuredContent: { a: "b" }, isError: false }),
      withOdd(BLOCK).map((block): JsonObject => ({ content: [block] })),
      withOdd({ ...BLOCK.resource }).map((resource): JsonObject => ({ content: [{ ...BLOCK, resource }] })),
    );
    fc.assert(
      fc.property(results, (result) => {
        try {
          expect(typeof toolResultOf(result, check).output).toBe("string");
        } catch (error) {
          expect(error).toBeInstanceOf(ToolReportedError);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("take no time for a text of padding that is none", () => {
    const padding = `${"=".repeat(1_000_000)}x`;
    const content = [
      { type: "image", mimeType: "image/png", data: padding },
      { type: "audio", mimeType: "audio/wav", data: padding },
      { type: "resource", resource: { uri: "a:b", mimeType: "image/png", blob: padding } },
    ];
    expect(toolResultOf({ content }, null).output).toContain("[audio audio/wav, 750000 bytes]");
  });

  it("are checked for fields named as methods of objects, too: none is there unasked, also if only the top is checked", () => {
    const text = { type: "string" } as const;
    const required = ["constructor", "toString"];
    for (const schema of [
      { type: "object", properties: { constructor: text, toString: text }, required },
      { type: "object", properties: { constructor: { $ref: "#/$defs/a" } }, $defs: { a: text }, required },
    ]) {
      expect(schemaCheck(schema)({ constructor: "a", toString: "b" })).toEqual([]);
      expect(schemaCheck(schema)({}).map(({ message, value }) => [message, value])).toEqual([
        ["must have required property 'constructor'", undefined],
        ["must have required property 'toString'", undefined],
      ]);
    }
  });
});
