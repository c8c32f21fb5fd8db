import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { asks, inputsOf, openQuestion, roundsServer } from "../support/mcp-asking.ts";
import { seenAs, taskServer } from "../support/mcp-tasks.ts";
import { ownServer } from "../support/mcp.ts";
import { startServerProcess } from "../support/server-process.ts";

/** A server of Triplane as a process, on a database of its own, with an agent whose first call is `work` of the MCP server. */
async function world(own: object, input: object = {}) {
  const folder = await temporaryFolder();
  const config = {
    models: {
      m: {
        provider: "scripted",
        script: {
          replies: [
            { when: { user: "^go$" }, call: [{ tool: "mcp__own__work", input }] },
            { when: {}, say: ["Done."] },
          ],
        },
      },
    },
    mcpServers: { own },
    templates: {
      assistant: { model: "m", systemPrompt: "x", selfApproval: true, permission: { mode: "auto", allow: ["mcp__own__*"] } },
    },
  };
  const path = join(folder, "triplane.config.ts");
  await writeFile(path, `export default ${JSON.stringify(config)};`);
  const env = { DATABASE_URL: await testDatabaseUrl(), TRIPLANE_CONFIG: path, TRIPLANE_DATA_DIR: folder };
  const start = () => startServerProcess(env, "tests/support/short-lease-server.ts");
  const server = await start();
  const { id, cursor } = await connect(server.url).createAgent();
  return {
    id,
    cursor,
    client: connect(server.url),
    kill: () => server.child.kill("SIGKILL"),
    restarted: async (): Promise<TestClient> => {
      await server.exited;
      return connect((await start()).url);
    },
  };
}

/** The state of the agent's call, with its output, after its turn. */
async function endOf(client: TestClient, id: string, cursor: string) {
  await client.until(id, "DONE", cursor);
  const events = await client.events(id);
  expect(ofType(events, "ToolStart")).toHaveLength(1);
  expect(ofType(events, "ToolEnd")).toHaveLength(1);
  return (await client.agent(id)).toolCalls.nodes[0];
}

const TOWN = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

it("a question of an MCP server is asked once, and its tool runs once, if the server is killed while it is open", async () => {
  const mcp = await roundsServer(({ inputResponses }) =>
    inputResponses === undefined ? { inputRequests: { one: asks(TOWN) }, requestState: "kept" } : null,
  );
  const { id, cursor, client, kill, restarted } = await world({ url: mcp.url });
  await client.send(id, "go");
  await client.until(id, "PERMISSION_REQUIRED", cursor);
  kill();
  const again = await restarted();
  expect((await (await openQuestion(again, id)).answer({ values: { city: "Bonn" } })).userErrors).toEqual([]);
  const call = await endOf(again, id, cursor);
  expect(call).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("Bonn") });
  expect(mcp.rounds).toHaveLength(2);
  expect(ofType(await again.events(id), "PermissionRequired")).toHaveLength(1);
}, 60_000);

it("a call is never run twice if its server is killed after the answer to its question left", async () => {
  let dies = (): unknown => null;
  const mcp = await roundsServer(({ inputResponses }) => {
    if (inputResponses === undefined) return { inputRequests: { one: asks(TOWN) } };
    dies();
    return null;
  });
  const { id, cursor, client, kill, restarted } = await world({ url: mcp.url });
  dies = kill;
  await client.send(id, "go");
  await client.until(id, "PERMISSION_REQUIRED", cursor);
  expect((await (await openQuestion(client, id)).answer({ values: { city: "Bonn" } })).userErrors).toEqual([]);
  const again = await restarted();
  expect(await endOf(again, id, cursor)).toMatchObject({ state: "SEALED", output: expect.stringContaining("unknown") });
  expect(mcp.rounds).toHaveLength(2);
  expect((await inputsOf(again, id)).map(({ state }) => state)).toEqual(["ALLOWED"]);
}, 60_000);

it("a question of a running call is closed with its call if the server is killed", async () => {
  const { id, cursor, client, kill, restarted } = await world(ownServer("asking.mjs"), { ask: asks(TOWN).params });
  await client.send(id, "go");
  await client.until(id, "PERMISSION_REQUIRED", cursor);
  const question = await openQuestion(client, id);
  kill();
  const again = await restarted();
  expect(await endOf(again, id, cursor)).toMatchObject({ state: "SEALED" });
  const late = { approvalId: question.id, decision: "ALLOW", inputHash: question.inputHash, values: { city: "Bonn" } } as const;
  expect((await again.decide(late)).userErrors).toMatchObject([{ code: "SEALED" }]);
  expect(ofType(await again.events(id), "PermissionRequired")).toHaveLength(1);
}, 60_000);

it("a task of an MCP server gives its call one result if the server is killed while the call waits", async () => {
  let isDone = false;
  const result = { content: [{ type: "text", text: "found" }] };
  const mcp = await taskServer("newer", ({ method }) => {
    if (method !== "tasks/get") return null;
    return seenAs("newer", isDone ? { status: "completed", result } : {});
  });
  const { id, cursor, client, kill, restarted } = await world({ url: mcp.url });
  await client.send(id, "go");
  await client.until(id, "TOOL_WAITING", cursor);
  kill();
  isDone = true;
  const again = await restarted();
  expect(await endOf(again, id, cursor)).toMatchObject({ state: "COMPLETED", output: "found" });
  const calls = mcp.arrived.map(({ method }) => method).filter((method) => method === "tools/call" || method === "tasks/cancel");
  expect(calls).toEqual(["tools/call"]);
}, 90_000);
