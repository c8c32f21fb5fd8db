import { describe, expect, it, onTestFinished } from "vitest";
import { McpConnection } from "../../../src/agent/mcp/connection.ts";
import { withoutSecrets, type McpServer } from "../../../src/agent/mcp/server.ts";
import { mcpServersOf } from "../../../src/config/mcp-servers.ts";
import { ToolRegistry } from "../../../src/agent/tools/tool-registry.ts";
import type { ProcessGroup } from "../../../src/agent/workspace/process-groups.ts";
import type { Logger } from "../../../src/telemetry/log.ts";
import { spawn } from "node:child_process";
import { NO_PROCESSES, NO_VERDICT, QUICK } from "../../support/mcp.ts";

const SECRET = "sk-live-0123456789abcdefghijklmnop";

async function said(line: string): Promise<string> {
  const server: McpServer = {
    name: "own",
    way: { kind: "stdio", command: "x", args: [], env: { TOKEN: SECRET }, cwd: "/", sandbox: "none" },
    variableValues: [],
    include: null,
    exclude: [],
    readOnlyTools: [],
    roots: "asked",
    toolTimeoutMs: null,
  };
  const lines: string[] = [];
  const logger: Logger = { tell: (_e, _m, fields) => void lines.push(JSON.stringify(fields)), warn: () => {}, error: () => {} };
  const connection = new McpConnection(server, {
    isCommon: true,
    registries: [{ registry: new ToolRegistry([]), known: async () => [] }],
    verdict: NO_VERDICT,
    processes: NO_PROCESSES,
    start: async () => {
      const process = spawn("node", ["-e", `console.error(${JSON.stringify(line)}); setTimeout(() => {}, 300)`]);
      const ended = new Promise<void>((resolve) => process.once("close", () => resolve()));
      return { process, ended, end: () => process.kill() } as unknown as ProcessGroup;
    },
    times: QUICK,
    clock: { now: () => new Date(), monotonicMs: () => performance.now() },
    logger,
  });
  onTestFinished(() => connection.close());
  connection.open();
  await expect.poll(() => lines.some((each) => each.includes("mcpServer") && each.includes("reason"))).toBe(true);
  return lines.join("\n");
}

describe("a secret that a variable puts into the arguments or the path of an address", () => {
  it("is hidden in texts of the server", () => {
    const configs = {
      base: { command: "supabase-mcp", args: ["--access-token", "${TOKEN}", "${HOME}/work"] },
      zap: { url: "https://mcp.example.com/s/${TOKEN}/mcp" },
    };
    const variables = { TOKEN: "sbp_0123456789abcdef", HOME: "/home/somebody" };
    const { servers } = mcpServersOf("c", "/", configs, {}, variables);
    expect(servers).toHaveLength(2);
    for (const { server } of servers)
      expect(withoutSecrets(server, "bad token sbp_0123456789abcdef in /home/somebody")).toBe(
        "bad token [hidden] in /home/somebody",
      );
  });
});

describe("the log of a server's process", () => {
  it("does not have a secret, nor most of one where a long line is cut", async () => {
    expect(await said(`TOKEN=${SECRET}`)).not.toContain("sk-live");
    expect(await said(`${"x".repeat(980)}TOKEN=${SECRET}`)).not.toContain("sk-live");
  });
});
