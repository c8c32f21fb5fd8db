import { spawn } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { McpConnection } from "../../../src/agent/mcp/connection.ts";
import type { McpServer } from "../../../src/agent/mcp/server.ts";
import { ToolRegistry } from "../../../src/agent/tools/tool-registry.ts";
import type { ProcessGroup } from "../../../src/agent/workspace/process-groups.ts";
import { MCP_TIMES } from "../../../src/mcp-servers.ts";
import { NO_PROCESSES, NO_VERDICT, ownServer } from "../../support/mcp.ts";
import { silentLogger } from "../../support/silent-logger.ts";

describe("a server that asks without end and reads no answer", () => {
  it("is ended, and does not fill the memory", async () => {
    const server: McpServer = {
      name: "own",
      way: { kind: "stdio", command: "x", args: [], env: {}, cwd: "/", sandbox: "none" },
      variableValues: [],
      include: null,
      exclude: [],
      readOnlyTools: [],
      roots: "asked",
      toolTimeoutMs: null,
    };
    const { command, args } = ownServer("flooding.mjs");
    const registry = new ToolRegistry([]);
    const child = spawn(command, args);
    child.stdin.on("error", () => {});
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const connection = new McpConnection(server, {
      isCommon: true,
      registries: [{ registry, known: async () => [] }],
      verdict: NO_VERDICT,
      processes: NO_PROCESSES,
      start: async () => ({ process: child, ended, end: () => child.kill("SIGKILL") }) as unknown as ProcessGroup,
      times: { ...MCP_TIMES, firstMs: 60_000, lastMs: 60_000 },
      clock: { now: () => new Date(), monotonicMs: () => performance.now() },
      logger: silentLogger,
    });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await connection.close();
    });
    connection.open();
    await expect.poll(() => registry.serverReason("own"), { timeout: 30_000 }).toContain("does not read");
  }, 60_000);
});
