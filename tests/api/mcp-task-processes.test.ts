import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { InterruptAgentDocument } from "../generated/documents.ts";
import type { Sql } from "../../src/db/sql.ts";
import { temporaryFolder } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { ownServer, QUICK } from "../support/mcp.ts";
import { allowed, appWith } from "../support/mcp-app.ts";
import { startServerProcess } from "../support/server-process.ts";
import { silentLogger } from "../support/silent-logger.ts";

const WORK = ["mcp__own__work", {}] as const;

const LOST = {
  state: "FAILED",
  error: { message: expect.stringMatching(/process that had it has ended.*not known if the call had an effect/) },
};

/** A process whose tasks never end. */
const ENDLESS = ownServer("keeping.mjs", "600000");

const postgres = async () => ({ kind: "postgres", url: await testDatabaseUrl(), connections: 3 }) as const;

const stateOf = async (client: TestClient, agentId: string) => (await client.agent(agentId)).toolCalls.nodes[0];

const rowsOf = (sql: Sql) => sql.query<{ ref: string }>({ name: "", text: "SELECT ref FROM wait WHERE kind = 'MCP_TASK'" }, []);

/** An agent whose call waits for a task, and the id of the process that has the task. */
async function waiting(client: TestClient, sql: Sql) {
  const { id, cursor } = await client.createAgent();
  await client.send(id, "go");
  await client.until(id, "TOOL_WAITING", cursor);
  const [row] = await rowsOf(sql);
  return { id, cursor, pid: Number(/:(\d+)-/.exec(row?.ref ?? "")?.[1]) };
}

describe("a task of a process", () => {
  it("is lost at once when the process ends", async () => {
    const { app, client } = await appWith({ own: ENDLESS }, WORK, { template: allowed("own") });
    const { id, cursor, pid } = await waiting(client, app.database.sql);
    process.kill(pid, "SIGKILL");
    await client.until(id, "DONE", cursor);
    expect(await stateOf(client, id)).toMatchObject(LOST);
  }, 15_000);

  it("is lost soon when the process ends before the call waits", async () => {
    const { client } = await appWith({ own: ownServer("keeping.mjs", "leaves") }, WORK, { template: allowed("own") });
    const { id, cursor } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "DONE", cursor);
    expect(await stateOf(client, id)).toMatchObject(LOST);
  }, 10_000);

  it("is lost at once when Triplane is started again", async () => {
    const database = await postgres();
    const { app, client } = await appWith({ own: ENDLESS }, WORK, { template: allowed("own"), database });
    const { id } = await waiting(client, app.database.sql);
    await app.close();
    const folders = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
    const again = await appWith({ own: ENDLESS }, WORK, { template: allowed("own"), database, config: folders });
    await again.client.until(id, "DONE");
    expect(await stateOf(again.client, id)).toMatchObject(LOST);
  }, 20_000);

  it.each([
    ["disabled", { own: { ...ENDLESS, disabled: true } }],
    ["removed from the configuration", {}],
  ])(
    "is lost at once when Triplane is started again with its server %s",
    async (_how, servers) => {
      const database = await postgres();
      const { app, client } = await appWith({ own: ENDLESS }, WORK, { template: allowed("own"), database });
      const { id } = await waiting(client, app.database.sql);
      await app.close();
      const folders = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
      const again = await appWith(servers, WORK, { template: allowed("own"), database, config: folders });
      await again.client.until(id, "DONE");
      expect(await stateOf(again.client, id)).toMatchObject(LOST);
    },
    15_000,
  );

  it("is lost at once when Triplane is killed and started again, on the embedded database", async () => {
    const folder = await temporaryFolder();
    const env = { TRIPLANE_DATA_DIR: join(folder, "data"), TRIPLANE_CONFIG: await configuration(folder) };
    const first = await startServerProcess(env);
    const { id } = await connect(first.url).createAgent();
    await connect(first.url).send(id, "go");
    await connect(first.url).until(id, "TOOL_WAITING");
    first.child.kill("SIGKILL");
    await first.exited;
    const second = connect((await startServerProcess(env)).url);
    await second.until(id, "DONE");
    expect(await stateOf(second, id)).toMatchObject(LOST);
  }, 60_000);

  it("is found lost by another server soon after its own was killed", async () => {
    const folder = await temporaryFolder();
    const { url } = await postgres();
    const env = (name: string) => ({
      TRIPLANE_DATA_DIR: join(folder, name),
      DATABASE_URL: url,
      TRIPLANE_CONFIG: config,
      PORT: "0",
    });
    const config = await configuration(folder);
    const [first, second] = await Promise.all(
      ["one", "two"].map((name) => startServerProcess(env(name), "tests/support/short-lease-server.ts")),
    );
    if (first === undefined || second === undefined) throw new Error("two servers were started");
    const client = connect(first.url);
    const { id, cursor } = await client.createAgent();
    await client.send(id, "go");
    await client.until(id, "TOOL_WAITING", cursor);
    const other = connect(second.url);
    expect(await stateOf(other, id)).toMatchObject({ state: "WAITING" });
    first.child.kill("SIGKILL");
    await first.exited;
    await other.until(id, "DONE", cursor);
    expect(await stateOf(other, id)).toMatchObject(LOST);
  }, 60_000);

  it("is lost although another process has a task of the same id", async () => {
    const database = await postgres();
    const own = ownServer("keeping.mjs", "3000", "t-1");
    const options = { template: allowed("own"), database };
    const first = await appWith({ own }, WORK, options);
    const lost = await waiting(first.client, first.app.database.sql);
    const folders = { workspaceRoots: [first.app.workspace], defaultWorkspace: first.app.workspace };
    const second = await appWith({ own }, WORK, { ...options, config: folders });
    await expect.poll(() => second.app.services.of("local").mcpServers.get("own")?.state.kind).toBe("CONNECTED");
    const kept = await second.client.createAgent();
    await second.client.send(kept.id, "go");
    await second.client.until(kept.id, "TOOL_WAITING", kept.cursor);
    await first.app.close();
    await second.client.until(lost.id, "DONE", lost.cursor);
    await second.client.until(kept.id, "DONE", kept.cursor);
    expect(await stateOf(second.client, lost.id)).toMatchObject(LOST);
    expect(await stateOf(second.client, kept.id)).toMatchObject({ state: "COMPLETED" });
  }, 30_000);

  it("gives its result by the server that has it, also if another one has a process of its own", async () => {
    const options = { template: allowed("own"), database: await postgres() };
    const own = ownServer("keeping.mjs");
    const first = await appWith({ own }, WORK, options);
    const folders = { workspaceRoots: [first.app.workspace], defaultWorkspace: first.app.workspace };
    const second = await appWith({ own }, WORK, { ...options, config: folders });
    await expect.poll(() => second.app.services.of("local").mcpServers.get("own")?.state.kind).toBe("CONNECTED");
    const agents = await Promise.all([1, 2, 3, 4].map(() => first.client.createAgent()));
    for (const { id } of agents) await first.client.send(id, "go");
    await Promise.all(agents.map(({ id, cursor }) => first.client.until(id, "DONE", cursor)));
    for (const { id } of agents) {
      const call = await stateOf(first.client, id);
      expect(call).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("found by") });
    }
  }, 60_000);

  it("is cancelled by the server that has it, when its call is interrupted by another one", async () => {
    const said: string[] = [];
    const logger = {
      ...silentLogger,
      tell: (_kind: unknown, _message: string, fields?: { readonly reason?: unknown }) => void said.push(String(fields?.reason)),
    };
    const options = { template: allowed("own"), database: await postgres() };
    const first = await appWith({ own: ENDLESS }, WORK, { ...options, overrides: { mcpTimes: QUICK, logger } });
    const folders = { workspaceRoots: [first.app.workspace], defaultWorkspace: first.app.workspace };
    const second = await appWith({ own: ENDLESS }, WORK, { ...options, config: folders });
    const { id, cursor } = await waiting(first.client, first.app.database.sql);
    await second.client.get(InterruptAgentDocument, { input: { agentId: id } });
    await second.client.until(id, "DONE", cursor);
    await expect.poll(() => said.filter((line) => line.startsWith("cancelled")).length, { timeout: 10_000 }).toBe(1);
    const open = { name: "", text: "SELECT kind FROM wait WHERE settled_at IS NULL" };
    await expect.poll(() => first.app.database.sql.query(open, [])).toEqual([]);
  }, 30_000);
});

/** The file of a configuration with a process whose tasks never end, and a model that calls its tool. */
async function configuration(folder: string): Promise<string> {
  const config = join(folder, "triplane.config.ts");
  await writeFile(
    join(folder, "model.json"),
    JSON.stringify({
      replies: [
        { when: { result: "mcp__own__work" }, say: ["{{result}}"] },
        { when: {}, call: [{ tool: "mcp__own__work", input: {} }] },
      ],
    }),
  );
  await writeFile(
    config,
    `export default {
      models: { main: { provider: "scripted", script: "./model.json" } },
      mcpServers: { own: ${JSON.stringify(ENDLESS)} },
      workspaceRoots: ["."],
      templates: { assistant: { systemPrompt: "x", model: "main", tools: ["mcp__own__*"], permission: { mode: "auto", allow: ["mcp__own__*"] } } },
    };`,
  );
  return config;
}
