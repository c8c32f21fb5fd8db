import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { httpServer, type Arrived, type Answer } from "./mcp-http.ts";

export type Generation = "older" | "newer";

/** A server at an address whose tool `work` answers with a task; `answer` returns null for the usual answers. */
export async function taskServer(generation: Generation, answer: (arrived: Arrived) => Answer | null) {
  return generation === "older" ? olderServer(answer) : newerServer(answer);
}

const RUNNING = { taskId: "t-1", status: "working", createdAt: "2026-07-28T00:00:00Z", lastUpdatedAt: "2026-07-28T00:00:00Z" };

/** The answer of a server of this generation to a call, a task with these fields. */
export function startedAs(generation: Generation, fields: object = {}): Answer {
  const task = { ...RUNNING, ...fields };
  return generation === "older"
    ? { result: { task: { ttl: 60_000, pollInterval: 10, ...task } } }
    : { result: { resultType: "task", ttlMs: 60_000, pollIntervalMs: 10, ...task } };
}

/** Its answer to a question for the task. */
export function seenAs(generation: Generation, fields: object): Answer {
  const task = { ...RUNNING, ...fields };
  return generation === "older"
    ? { result: { ttl: 60_000, pollInterval: 10, ...task } }
    : { result: { resultType: "complete", ttlMs: 60_000, pollIntervalMs: 10, ...task } };
}

function olderServer(answer: (arrived: Arrived) => Answer | null) {
  return httpServer((arrived) => {
    const given = answer(arrived);
    if (given !== null) return given;
    switch (arrived.method) {
      case "initialize":
        return {
          result: {
            protocolVersion: "2025-11-25",
            capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
            serverInfo: { name: "tasks", version: "1" },
          },
        };
      case "tools/list":
        return {
          result: { tools: [{ name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }] },
        };
      case "tools/call":
        return startedAs("older");
      default:
        return null;
    }
  });
}

function newerServer(answer: (arrived: Arrived) => Answer | null) {
  const made = createMcpHandler(() => {
    const server = new McpServer({ name: "tasks", version: "1" });
    server.registerTool("work", { inputSchema: z.object({}) }, () => ({ content: [] }));
    return server;
  });
  return httpServer((arrived) => {
    const given = answer(arrived);
    if (given !== null) return given;
    if (arrived.method === "tools/call") return startedAs("newer");
    const { id, method, params, http } = arrived;
    return (response) => {
      const headers = new Headers(
        Object.entries(http.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
      );
      const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      void made.fetch(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body })).then(async (own) => {
        response.writeHead(own.status, { "content-type": own.headers.get("content-type") ?? "text/plain" });
        response.end(await own.text());
      });
    };
  });
}
