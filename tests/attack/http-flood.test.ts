import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { McpConnection } from "../../src/agent/mcp/connection.ts";
import type { McpServer } from "../../src/agent/mcp/server.ts";
import { ToolRegistry } from "../../src/agent/tools/tool-registry.ts";
import { MCP_TIMES } from "../../src/mcp-servers.ts";
import { silentLogger } from "../support/silent-logger.ts";

it.fails("a server at an address that asks without end, and never answers the answers, does not take up connections without end", async () => {
  let open = 0, most = 0;
  const http = createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      let n = 0;
      const timer = setInterval(() => {
        let text = "";
        for (let i = 0; i < 100; i += 1) text += `data: ${JSON.stringify({ jsonrpc: "2.0", id: `p${(n += 1)}`, method: "ping" })}\n\n`;
        response.write(text);
      }, 20);
      response.on("close", () => clearInterval(timer));
      return;
    }
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { id, method } = JSON.parse(body || "{}");
      const answer = (result: object) => { response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "s" }); response.end(JSON.stringify({ jsonrpc: "2.0", id, result })); };
      if (method === "initialize") answer({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } });
      else if (method === "tools/list") answer({ tools: [{ name: "work", inputSchema: { type: "object" } }] });
      else if (method === "notifications/initialized") { response.writeHead(202); response.end(); }
      else if (method !== undefined) { response.writeHead(200, { "content-type": "application/json" }); response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } })); }
      else { open += 1; most = Math.max(most, open); response.on("close", () => (open -= 1)); }
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", () => resolve()));
  const { port } = http.address() as AddressInfo;
  const server: McpServer = { name: "own", way: { kind: "http", url: `http://127.0.0.1:${port}/mcp`, headers: {} }, include: null, exclude: [], readOnlyTools: [], toolTimeoutMs: null };
  const registry = new ToolRegistry([]);
  const connection = new McpConnection(server, { registries: [registry], known: async () => [], start: async () => { throw new Error("none"); }, times: { ...MCP_TIMES, firstMs: 60_000 }, clock: { now: () => new Date(), monotonicMs: () => performance.now() }, logger: silentLogger });
  onTestFinished(async () => { http.closeAllConnections(); http.close(); void connection.close(); });
  const rss = process.memoryUsage().rss;
  connection.open();
  for (let n = 0; n < 60 && registry.serverReason("own") === null; n += 1) await delay(100);
  console.log({ most, rssMB: (process.memoryUsage().rss - rss) / 1e6, reason: registry.serverReason("own"), tools: registry.size });
  expect((process.memoryUsage().rss - rss) / 1e6).toBeLessThan(150);
}, 30_000);
