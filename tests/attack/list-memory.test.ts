import { describe, expect, it } from "vitest";
import { readTools } from "../../src/agent/mcp/tool-list.ts";
import type { McpServer } from "../../src/agent/mcp/server.ts";

const SERVER: McpServer = {
  name: "own", way: { kind: "http", url: "http://a.example", headers: {} },
  include: null, exclude: [], readOnlyTools: [], toolTimeoutMs: null,
};

describe("the list of a hostile server", () => {
  it("takes up no more than a few MB, however many large tools it has", async () => {
    let page = 0;
    const schema = () => ({ type: "object", properties: Object.fromEntries(Array.from({ length: 1000 }, (_n, i) => [`p${i}`, { type: "string", description: "d".repeat(200) }])) });
    const session = {
      page: async () => ({
        tools: Array.from({ length: 10 }, (_n, i) => ({ name: `t${page}_${i}`, inputSchema: schema(), outputSchema: schema(), annotations: { x: "y".repeat(400_000) } })),
        nextCursor: String((page += 1)),
      }),
    };
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const began = performance.now();
    const { tools, notes } = await readTools(SERVER, session as never, 1000);
    const bytes = tools.reduce((sum, { canonical }) => sum + canonical.length, 0);
    console.log({ tools: tools.length, bytes, rss: (process.memoryUsage().rss - before) / 1e6, ms: performance.now() - began, notes: notes.slice(0, 3) });
    expect(bytes).toBeLessThan(16 * 1024 * 1024);
  }, 120_000);
});
