import { describe, expect, it, onTestFinished } from "vitest";
import { McpConnection, type McpTimes } from "../../../src/agent/mcp/connection.ts";
import type { McpServer } from "../../../src/agent/mcp/server.ts";
import { ToolRegistry } from "../../../src/agent/tools/tool-registry.ts";
import { MCP_TIMES } from "../../../src/mcp-servers.ts";
import { httpServer } from "../../support/mcp-http.ts";
import { NO_PROCESSES, NO_VERDICT } from "../../support/mcp.ts";
import { silentLogger } from "../../support/silent-logger.ts";

const SERVER: McpServer = {
  name: "own",
  way: { kind: "stdio", command: "x", args: [], env: {}, cwd: "/", sandbox: "none" },
  variableValues: [],
  include: null,
  exclude: [],
  readOnlyTools: [],
  roots: "asked",
  toolTimeoutMs: null,
};

/** Tries a server that never starts so often; each connection lasts as long as `lasts` says, by its clock. */
async function waitsOf(tries: number, lasts: (attempt: number) => number): Promise<readonly number[]> {
  const waits: number[] = [];
  let now = 0;
  let attempts = 0;
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const times: McpTimes = {
    ...MCP_TIMES,
    wait: async (ms, signal) => {
      if (signal.aborted) return;
      waits.push(ms);
      if (waits.length < tries) return;
      resolve();
      await new Promise((ended) => signal.addEventListener("abort", ended, { once: true }));
    },
  };
  const connection = new McpConnection(SERVER, {
    isCommon: true,
    registries: [{ registry: new ToolRegistry([]), known: async () => [] }],
    verdict: NO_VERDICT,
    processes: NO_PROCESSES,
    start: async () => {
      attempts += 1;
      now += lasts(attempts);
      throw new Error("it does not start");
    },
    times,
    clock: { now: () => new Date(now), monotonicMs: () => now },
    logger: silentLogger,
  });
  onTestFinished(() => connection.close());
  connection.open();
  await done;
  return waits;
}

describe("a server that fails again and again", () => {
  it("is tried after 1 s, and later each time, up to 5 minutes", async () => {
    const waits = await waitsOf(12, () => 10);
    for (const [index, ms] of waits.entries()) {
      const wait = Math.min(300_000, 1_000 * 2 ** index);
      expect(ms).toBeGreaterThanOrEqual(wait * 0.8);
      expect(ms).toBeLessThanOrEqual(wait * 1.2);
    }
  });

  it("is tried after 1 s again once a connection has lasted a minute", async () => {
    const waits = await waitsOf(6, (attempt) => (attempt === 5 ? 61_000 : 10));
    expect(waits[3]).toBeGreaterThan(6_000);
    expect(waits[4]).toBeLessThanOrEqual(1_200);
    expect(waits[5]).toBeGreaterThan(1_500);
  });
});

it("a server that is retried while its tools are read from rows is tried at once", async () => {
  const read = Promise.withResolvers<void>();
  const ended: boolean[] = [];
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  const connection = new McpConnection(SERVER, {
    isCommon: true,
    registries: [{ registry: new ToolRegistry([]), known: () => read.promise.then(() => []) }],
    verdict: NO_VERDICT,
    processes: NO_PROCESSES,
    start: () => Promise.reject(new Error("it does not start")),
    times: {
      ...MCP_TIMES,
      wait: async (_ms, signal) => {
        ended.push(signal.aborted);
        resolve();
        if (!signal.aborted || ended.length > 1)
          await new Promise((end) => (signal.aborted ? end(null) : signal.addEventListener("abort", end, { once: true })));
      },
    },
    clock: { now: () => new Date(0), monotonicMs: () => 0 },
    logger: silentLogger,
  });
  onTestFinished(() => connection.close());
  connection.open();
  await expect.poll(() => connection.state.kind).toBe("AWAY");
  connection.retry();
  read.resolve();
  await waits;
  expect(ended[0]).toBe(true);
});

it("a connection that is closed while the tools of its server are read ends at once", async () => {
  const closing = Promise.withResolvers<void>();
  let lists = 0;
  const server = await httpServer(({ id, method }) => {
    if (method !== "tools/list") return null;
    return (response) => {
      if (lists === 0) closing.resolve(connection.close());
      lists += 1;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ jsonrpc: "2.0", id, result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } }),
      );
    };
  });
  const connection = new McpConnection(
    { ...SERVER, way: { kind: "http", url: server.url, headers: {} } },
    {
      isCommon: true,
      registries: [{ registry: new ToolRegistry([]), known: async () => [] }],
      verdict: NO_VERDICT,
      processes: NO_PROCESSES,
      start: () => Promise.reject(new Error("it has an address")),
      times: MCP_TIMES,
      clock: { now: () => new Date(), monotonicMs: () => performance.now() },
      logger: silentLogger,
    },
  );
  connection.open();
  await closing.promise;
});
