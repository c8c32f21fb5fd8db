import { spawn } from "node:child_process";
import { once } from "node:events";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { freePort } from "../support/free-port.ts";
import { referenceServer } from "../support/mcp.ts";
import { allowed, answerOf, appWith } from "../support/mcp-app.ts";
import { httpServer } from "../support/mcp-http.ts";

const WORK = ["mcp__own__work", {}] as const;

describe("a server at an address", () => {
  it.each([
    ["streamableHttp", "/mcp", undefined],
    ["sse", "/sse", undefined],
    ["sse", "/sse", "sse"],
  ] as const)("of the registry (%s) is reached, with transport %s%s", async (kind, path, transport) => {
    const port = await freePort();
    const { command, args } = referenceServer("everything", kind);
    const child = spawn(command, args, { env: { ...process.env, PORT: String(port) }, stdio: ["ignore", "ignore", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stderr, "data");
    const url = `http://127.0.0.1:${port}${path}`;
    const { client } = await appWith(
      { all: { url, ...(transport && { transport }) } },
      ["mcp__all__echo", { message: "hello" }],
      {
        template: allowed("all"),
      },
    );
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "Echo: hello" });
  });

  const done = { content: [{ type: "text", text: "done" }] };
  it.each([
    ["a number", { jsonrpc: "2.0", result: 5 }, /not known/],
    ["missing", { jsonrpc: "2.0" }, /not known/],
    ["an error that is a text", { jsonrpc: "2.0", error: "no disk" }, /no disk/],
    ["beside an error that is null", { jsonrpc: "2.0", result: done, error: null }, null],
    ["without a version", { result: done }, null],
  ])("whose answer is %s keeps no call waiting, in a body and in a stream", async (_what, raw, problem) => {
    for (const type of ["application/json", "text/event-stream"]) {
      const { url } = await httpServer(({ id, method }) => {
        if (method !== "tools/call") return null;
        const text = JSON.stringify({ id, ...raw });
        return (response) =>
          response.writeHead(200, { "content-type": type }).end(type === "application/json" ? text : `data: ${text}\n\n`);
      });
      const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
      expect(await answerOf(client)).toMatchObject(
        problem === null
          ? { state: "COMPLETED", output: "done" }
          : { state: "FAILED", error: { message: expect.stringMatching(problem) } },
      );
    }
  });

  it("of the newer generation is reached, and one tool of an invalid form takes only itself away", async () => {
    const made = createMcpHandler(() => {
      const server = new McpServer({ name: "new", version: "1" });
      server.registerTool("add", { inputSchema: z.object({ a: z.number() }) }, ({ a }) => ({
        content: [{ type: "text", text: String(a + 1) }],
      }));
      return server;
    });
    const { url } = await httpServer(({ id, method, params, http }) => (response) => {
      const headers = new Headers(
        Object.entries(http.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
      );
      const request = new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers,
        body: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
      });
      void made.fetch(request).then(async (answer) => {
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
        for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? [])
          response.write(piece.replace('"tools":[', '"tools":[{"name":"bad","inputSchema":{"anyOf":[]}},'));
        response.end();
      });
    });
    const { client, tools } = await appWith({ new: { url } }, ["mcp__new__add", { a: 1 }], { template: allowed("new") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "2" });
    expect([...tools.keys()].filter((name) => name.startsWith("mcp__"))).toEqual(["mcp__new__add"]);
  });

  it("of the newer generation is told the folder of the agent, and refused other input", async () => {
    const answered: unknown[] = [];
    const asked = (method: string) => ({
      resultType: "input_required",
      inputRequests: { one: { method, params: {} } },
      requestState: "state",
    });
    const modern = await httpServer(({ method, params }) => {
      if (method === "server/discover")
        return {
          result: {
            resultType: "complete",
            supportedVersions: ["2026-07-28"],
            capabilities: { tools: {} },
            ttlMs: 0,
            cacheScope: "private",
          },
        };
      if (method === "tools/list")
        return {
          result: {
            resultType: "complete",
            tools: ["work", "ask"].map((name) => ({ name, inputSchema: { type: "object" } })),
            ttlMs: 0,
            cacheScope: "private",
          },
        };
      if (method !== "tools/call") return null;
      if (params["name"] === "ask") return { result: asked("sampling/createMessage") };
      if (params["inputResponses"] === undefined) return { result: asked("roots/list") };
      answered.push([params["inputResponses"], params["requestState"]]);
      return { result: { resultType: "complete", content: [{ type: "text", text: "done" }] } };
    });
    const { app, client } = await appWith({ own: { url: modern.url } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "done" });
    expect(answered).toEqual([[{ one: { roots: [{ uri: `file://${app.workspace}` }] } }, "state"]]);
    const other = await appWith({ own: { url: modern.url } }, ["mcp__own__ask", {}], { template: allowed("own") });
    expect(await answerOf(other.client)).toMatchObject({
      state: "FAILED",
      error: {
        message: expect.stringContaining(
          "it asks for input (sampling/createMessage), which people and models cannot give it here",
        ),
      },
    });
  });

  it("is sent the headers; one that answers 401 is unavailable, with the reason and without them", async () => {
    const secret = "Bearer a-very-secret-token";
    const { url, arrived } = await httpServer(() => (response) => void response.writeHead(401).end(secret));
    const { client, tools } = await appWith({ own: { url, headers: { authorization: secret } } }, WORK);
    expect(arrived[0]?.http.headers.authorization).toBe(secret);
    expect(tools.serverReason("own")).toContain("it answered 401: it does not accept the headers of its configuration");
    expect(tools.serverReason("own")).not.toContain("secret-token");
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: { type: "DISABLED", message: expect.stringContaining("401") },
    });
  });

  it("that has forgotten the session is asked for a new one, and takes the call once", async () => {
    let sessions = 0;
    let isForgotten = false;
    const { url, arrived } = await httpServer(({ method, id, http }) => {
      if (method === "initialize") {
        sessions += 1;
        isForgotten = false;
        const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "own", version: "1" } };
        return (response) =>
          void response
            .writeHead(200, { "content-type": "application/json", "mcp-session-id": `session-${sessions}` })
            .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      }
      if (method === "tools/call" && http.headers["mcp-session-id"] === "session-1") isForgotten = true;
      return isForgotten ? (response) => void response.writeHead(404).end("Session not found") : null;
    });
    const { client } = await appWith({ own: { url, transport: "http" } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({ state: "COMPLETED", output: "done" });
    expect(arrived.filter(({ method }) => method === "tools/call").map(({ http }) => http.headers["mcp-session-id"])).toEqual([
      "session-1",
      "session-2",
    ]);
  });

  it("that answers above 10 MB fails the call, and is reached again", async () => {
    const { url } = await httpServer(({ method }) =>
      method === "tools/call" ? { result: { content: [{ type: "text", text: "x".repeat(11 * 1024 * 1024) }] } } : null,
    );
    const { client, tools } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: { message: expect.stringContaining("larger than 10485760 bytes") },
    });
    await expect.poll(() => tools.get("mcp__own__work")?.unavailable).toBeNull();
  });

  it("that goes away during a call fails it, with an unknown effect", async () => {
    const { url } = await httpServer(({ method }) => (method === "tools/call" ? (response) => void response.destroy() : null));
    const { client } = await appWith({ own: { url } }, WORK, { template: allowed("own") });
    expect(await answerOf(client)).toMatchObject({
      state: "FAILED",
      error: { message: expect.stringContaining("not known if the call had an effect") },
    });
  });
});

it("a server at an address that asks in an unknown form, and waits for the answer, has its call ended by the time limit", async () => {
  const { url } = await httpServer(({ method }) =>
    method === "tools/call"
      ? (response) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          response.write('data: {"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":null}\n\n');
        }
      : null,
  );
  const { client } = await appWith({ own: { url, toolTimeoutMs: 300 } }, WORK, { template: allowed("own") });
  expect(await answerOf(client)).toMatchObject({
    state: "FAILED",
    error: { type: "TIMEOUT", message: expect.stringContaining("300 ms") },
  });
});
