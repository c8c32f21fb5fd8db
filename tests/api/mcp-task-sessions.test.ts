import { expect, it } from "vitest";
import { StandstillDocument } from "../generated/documents.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { allowed, appWith } from "../support/mcp-app.ts";
import { httpServer, type Answer } from "../support/mcp-http.ts";
import { seenAs, startedAs, taskServer } from "../support/mcp-tasks.ts";

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

it.each([
  ["disabled", true, "the MCP server own, which is disabled"],
  ["removed", false, "the MCP server own, which is not in the configuration"],
])(
  "a task at an address stays when its server is %s, the state says so, and it goes on when the server is there again",
  async (_how, isDisabled, words) => {
    let isDone = false;
    const { url } = await taskServer("newer", ({ method }) => {
      const ended = { status: "completed", result: { content: [{ type: "text", text: "found" }] } };
      return method === "tasks/get" ? seenAs("newer", isDone ? ended : {}) : null;
    });
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const work = ["mcp__own__work", {}] as const;
    const { app, client } = await appWith({ own: { url } }, work, { template: allowed("own"), database });
    const { id, cursor } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "TOOL_WAITING", cursor);
    await app.close();
    const config = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
    const options = { template: allowed("own"), database, config };
    const without = await appWith(isDisabled ? { own: { url, disabled: true } } : {}, work, options);
    const { agent } = await without.client.get(StandstillDocument, { id });
    expect(agent?.state).toBe("PAUSED");
    expect(agent?.waitingFor).toMatch(/^the result of mcp__own__work, until .*Z, and /);
    expect(agent?.waitingFor).toContain(words);
    await without.app.close();
    isDone = true;
    const again = await appWith({ own: { url } }, work, options);
    await again.client.until(id, "DONE", cursor);
    expect((await again.client.agent(id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED", output: "found" }]);
  },
  30_000,
);
