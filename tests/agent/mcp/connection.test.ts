import { describe, expect, it, onTestFinished } from "vitest";
import { McpConnection, type McpTimes } from "../../../src/agent/mcp/connection.ts";
import type { McpServer } from "../../../src/agent/mcp/server.ts";
import { ToolRegistry } from "../../../src/agent/tools/tool-registry.ts";
import { MCP_TIMES } from "../../../src/mcp-servers.ts";
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
