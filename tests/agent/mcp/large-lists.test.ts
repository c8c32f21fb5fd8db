import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/lib/json.ts";
import { readTools } from "../../../src/agent/mcp/tool-list.ts";
import { schemaCheck, schemaProblem } from "../../../src/agent/mcp/schema-check.ts";
import type { McpServer } from "../../../src/agent/mcp/server.ts";

const SERVER: McpServer = {
  name: "own",
  way: { kind: "http", url: "http://a.example", headers: {} },
  variableValues: [],
  include: null,
  exclude: [],
  readOnlyTools: [],
  roots: "asked",
  toolTimeoutMs: null,
};

describe("the list of a hostile server", () => {
  it("takes up no more than a few MB, however many large tools it has", async () => {
    let page = 0;
    const schema = () => ({
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 1000 }, (_n, i) => [`p${i}`, { type: "string", description: "d".repeat(200) }]),
      ),
    });
    const session = {
      page: async () => ({
        tools: Array.from({ length: 10 }, (_n, i) => ({
          name: `t${page}_${i}`,
          inputSchema: schema(),
          outputSchema: schema(),
          annotations: { x: "y".repeat(400_000) },
        })),
        nextCursor: String((page += 1)),
      }),
    };
    const { tools } = await readTools(SERVER, session, 1_000);
    const bytes = tools.reduce((sum, { canonical }) => sum + canonical.length, 0);
    expect(bytes).toBeLessThan(16 * 1024 * 1024);
  }, 120_000);

  it("loses only the tool whose name cannot be kept, with a note; texts lose their halves of characters", async () => {
    const inputSchema = { type: "object" };
    const tools = [
      { name: "work", inputSchema },
      { name: "half", description: "shown \ud800", inputSchema },
      { name: "schema", inputSchema: { ...inputSchema, properties: { a: { title: "\udc00", type: "string" } } } },
      { name: "name\ud800", inputSchema },
      { name: "large", inputSchema: { ...inputSchema, properties: { a: { default: Infinity } } } },
    ];
    const list = await readTools(SERVER, { page: async () => ({ tools }) }, 1_000);
    expect(list.tools.map(({ ownName }) => ownName)).toEqual(["half", "large", "schema", "work"]);
    expect(list.tools[0]).toMatchObject({ description: "shown \ufffd" });
    expect(list.tools.every(({ canonical }) => canonical.isWellFormed())).toBe(true);
    expect(list.tools.map(({ inputSchema: schema }) => canonicalize(schema))).not.toContain(undefined);
    expect(list.notes).toEqual(["name\ufffd: its name has half a character: it is left out"]);
  });
});

const alternatives = (levels: number): JsonObject =>
  levels === 0 ? { type: "string" } : { anyOf: [alternatives(levels - 1), alternatives(levels - 1)] };

describe("a schema of a hostile server", () => {
  it("does not hold up the server when its tool is called", () => {
    const schema = { type: "object", properties: { x: alternatives(13) } };
    expect(schemaProblem(schema)).toBeNull();
    const began = performance.now();
    schemaCheck(schema)({ x: 3 });
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
