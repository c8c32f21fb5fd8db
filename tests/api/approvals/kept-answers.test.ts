import { describe, expect, it } from "vitest";
import { InterruptAgentDocument } from "../../generated/documents.ts";
import type { TestAppOptions } from "../../support/app.ts";
import { ofType, type TestClient } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { QUICK } from "../../support/mcp.ts";
import { allowed, appWith } from "../../support/mcp-app.ts";
import { asked, asks, roundsServer } from "../../support/mcp-asking.ts";

const BONN = { values: { city: "Bonn" } };

/** A server that asks once. */
const oneRound = () =>
  roundsServer(({ inputResponses }) => (inputResponses === undefined ? { inputRequests: { one: asks() } } : null));

const callOf = async (client: TestClient, id: string) => (await client.agent(id)).toolCalls.nodes.at(-1);

const OPEN = { name: "", text: "SELECT kind FROM wait WHERE settled_at IS NULL" };

/** An agent whose question is answered while its server is away, which Triplane knows (`isSeen`) or finds out. */
async function answeredWhileAway(isSeen: boolean, options: TestAppOptions = {}) {
  const server = await oneRound();
  const given = await asked(server.url, {
    ...options,
    overrides: { mcpTimes: isSeen ? { ...QUICK, againMs: 50 } : QUICK },
  });
  const { app, id, cursor, question } = given;
  await server.away();
  if (isSeen) await expect.poll(() => app.services.of("local").mcpServers.get("own")?.state.kind).toBe("AWAY");
  expect((await question.answer(BONN)).userErrors).toEqual([]);
  await expect.poll(() => app.database.sql.query(OPEN, [])).toEqual([{ kind: "MCP_SERVER" }]);
  return { ...given, server, id, cursor };
}

describe("an answer to a question of a server that is away", () => {
  it.each([
    ["is known to be away", true],
    ["turns out to be away", false],
  ])(
    "is kept, and sent once when the server is back, if it %s",
    async (_name, isSeen) => {
      const { client, app, id, cursor, server } = await answeredWhileAway(isSeen);
      expect((await callOf(client, id))?.state).toBe("APPROVAL_REQUIRED");
      const standing = await client.post<{ agent: unknown }>({ query: `{ agent(id: "${id}") { waitingFor } }` });
      expect(standing.data?.agent).toEqual({ waitingFor: "the MCP server own to take the answer to its question" });
      await server.back();
      const events = await client.until(id, "DONE", cursor);
      expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("Bonn") });
      expect(server.rounds).toHaveLength(2);
      expect(ofType(events, "ToolStart")).toHaveLength(1);
      const warned = ofType(events, "ErrorRaised").map(({ message }) => message);
      expect(warned).toEqual([expect.stringContaining("the answer of a person is kept until it is back")]);
      expect(await app.database.sql.query(OPEN, [])).toEqual([]);
    },
    30_000,
  );

  it("is sent by another server of Triplane", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const { app, id, server } = await answeredWhileAway(true, { database });
    await app.close();
    await server.back();
    const folders = { workspaceRoots: [app.workspace], defaultWorkspace: app.workspace };
    const own = { own: { url: server.url } };
    const { client } = await appWith(own, ["mcp__own__work", {}], { template: allowed("own"), database, config: folders });
    await client.until(id, "DONE");
    expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("Bonn") });
  }, 30_000);

  it("is kept for deferredTimeoutMs; then the call is sealed", async () => {
    const template = { ...allowed("own"), selfApproval: true, deferredTimeoutMs: 3_000 };
    const { client, id, cursor, server } = await answeredWhileAway(true, { template });
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "SEALED" });
    expect(server.rounds).toHaveLength(1);
  }, 30_000);

  it("is given up by an interrupt", async () => {
    const { app, client, id, cursor, server } = await answeredWhileAway(true);
    await client.get(InterruptAgentDocument, { input: { agentId: id } });
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "SEALED" });
    await expect.poll(() => app.database.sql.query(OPEN, []), { timeout: 10_000 }).toEqual([]);
    await server.back();
    expect(server.rounds).toHaveLength(1);
    await client.turn(id, "again");
  }, 30_000);
});

describe("an answer that a server does not take at first", () => {
  /** A server that refuses the first `times` requests with an answer. */
  const refusing = async (status: number, headers: Record<string, string>, times = 1) => {
    const answered: number[] = [];
    const server = await roundsServer(({ inputResponses }) => {
      if (inputResponses === undefined) return { inputRequests: { one: asks() } };
      answered.push(performance.now());
      return answered.length > times ? null : (response) => response.writeHead(status, headers).end();
    });
    return { ...server, answered };
  };

  it.each([
    [401, {}, 1_900],
    [429, {}, 1_900],
    [429, { "retry-after": "4" }, 3_900],
    [503, { "retry-after": "4" }, 3_900],
    [503, {}, 1_900],
  ])(
    "is kept after the status %i with %j, and sent again when its time has come",
    async (status, headers, leastMs) => {
      const server = await refusing(status, headers);
      const { client, app, id, cursor, question } = await asked(server.url);
      expect((await question.answer(BONN)).userErrors).toEqual([]);
      const events = await client.until(id, "DONE", cursor);
      expect(await callOf(client, id)).toMatchObject({ state: "COMPLETED", output: expect.stringContaining("Bonn") });
      const [first = 0, second = 0, ...others] = server.answered;
      expect(second - first).toBeGreaterThan(leastMs);
      expect(others).toEqual([]);
      expect(ofType(events, "PermissionRequired")).toHaveLength(1);
      expect(ofType(events, "ToolStart")).toHaveLength(1);
      expect(await app.database.sql.query(OPEN, [])).toEqual([]);
    },
    30_000,
  );

  it("is given up after deferredTimeoutMs: the call fails, and says why", async () => {
    const server = await refusing(429, {}, Infinity);
    const template = { ...allowed("own"), selfApproval: true, deferredTimeoutMs: 3_000 };
    const { client, id, cursor, question } = await asked(server.url, { template });
    await question.answer(BONN);
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({
      state: "FAILED",
      error: { message: expect.stringContaining("429: the answer of a person was not sent") },
    });
    expect(server.answered.length).toBeLessThanOrEqual(4);
  }, 30_000);

  it("is not sent again after a status that may follow an effect", async () => {
    const server = await refusing(502, {});
    const { client, id, cursor, question } = await asked(server.url);
    await question.answer(BONN);
    await client.until(id, "DONE", cursor);
    expect(await callOf(client, id)).toMatchObject({ state: "FAILED", output: expect.stringContaining("it is not known") });
    expect(server.answered).toHaveLength(1);
  }, 30_000);
});
