import { expect, it } from "vitest";
import { allowed, appWith } from "../support/mcp-app.ts";
import { httpServer, type Answer } from "../support/mcp-http.ts";
import { seenAs, startedAs } from "../support/mcp-tasks.ts";

function written(headers: Readonly<Record<string, string>>, message: object): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
  };
}

/** A server of the older generation that knows a task in the session of its call alone. */
async function sessionsServer() {
  let sessions = 0;
  let ofCall: unknown = null;
  return httpServer(({ method, id, http }) => {
    const session = http.headers["mcp-session-id"];
    switch (method) {
      case "initialize": {
        const capabilities = { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } };
        const result = { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "sessions", version: "1" } };
        return written({ "mcp-session-id": `s${(sessions += 1)}` }, { id, result });
      }
      case "tools/list":
        return {
          result: { tools: [{ name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }] },
        };
      case "tools/call":
        ofCall = session;
        return startedAs("older");
      case "tasks/get":
        if (session === ofCall) return seenAs("older", { status: "completed" });
        return written({}, { id, error: { code: -32_602, message: "Task not found" } });
      case "tasks/result":
        return { result: { content: [{ type: "text", text: `found in ${String(session)}` }] } };
      default:
        return null;
    }
  });
}

it.each([
  ["one for each folder", "told", "found in s2"],
  ["one for all folders", "asked", "found in s1"],
] as const)(
  "a task at an address is asked for in the session of its call: %s",
  async (_name, roots, output) => {
    const { url } = await sessionsServer();
    const { client } = await appWith({ own: { url, roots } }, ["mcp__own__work", {}], { template: allowed("own") });
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    expect((await client.agent(id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED", output }]);
  },
  15_000,
);
