import { describe, expect, it } from "vitest";
import {
  ArchiveAgentDocument,
  RenameAgentDocument,
  SendMessageDocument,
  UnarchiveAgentDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { hangsAfter, playedModel, says } from "../support/models.ts";
import { beforeCommit } from "../support/writes.ts";

const rename = async (client: TestClient, agentId: string, title: string | null) =>
  (await client.get(RenameAgentDocument, { input: { agentId, title } })).renameAgent;
const archive = async (client: TestClient, agentId: string) =>
  (await client.get(ArchiveAgentDocument, { input: { agentId } })).archiveAgent;
const unarchive = async (client: TestClient, agentId: string) =>
  (await client.get(UnarchiveAgentDocument, { input: { agentId } })).unarchiveAgent;
const send = async (client: TestClient, agentId: string) =>
  (await client.get(SendMessageDocument, { input: { agentId, text: "hi" } })).sendMessage;

async function listed(client: TestClient, filter: string): Promise<string[]> {
  const { data } = await client.post<{ agents: { nodes: { id: string }[] } }>({ query: `{ agents${filter} { nodes { id } } }` });
  return (data?.agents.nodes ?? []).map(({ id }) => id);
}

describe("renameAgent", () => {
  it("gives another title, tells it with the one before, and does nothing twice", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent({ title: "First" });
    const renamed = await rename(client, agent.id, "  Second ");
    expect(renamed).toMatchObject({ agent: { title: "Second" }, userErrors: [] });
    expect(await rename(client, agent.id, "Second")).toMatchObject({ agent: { title: "Second" }, userErrors: [] });
    await Promise.all(["Third", "Third", "Third"].map((title) => rename(client, agent.id, title)));
    expect(await rename(client, agent.id, "")).toMatchObject({ agent: { title: null } });
    expect(ofType(await client.events(agent.id), "AgentRenamed")).toMatchObject([
      { previousTitle: "First", title: "Second", changedBy: { actorId: "local" } },
      { previousTitle: "Second", title: "Third" },
      { previousTitle: "Third", title: null },
    ]);
  });

  it("refuses what is no title, and who may not steer the agent (invariant 12)", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const anna = connect(app.url, "anna-token");
    const agent = await anna.createAgent();
    for (const title of ["two\nlines", "x".repeat(201)])
      expect(await rename(anna, agent.id, title)).toMatchObject({
        agent: null,
        userErrors: [{ code: "INVALID", field: ["title"] }],
      });
    for (const [who, code] of [
      ["ben", "NOT_FOUND"],
      ["vera", "FORBIDDEN"],
      ["zoe", "NOT_FOUND"],
    ] as const)
      for (const command of [rename, archive, unarchive])
        expect(await command(connect(app.url, `${who}-token`), agent.id, "Mine")).toMatchObject({ userErrors: [{ code }] });
    expect(ofType(await anna.events(agent.id), "AgentRenamed")).toEqual([]);
  });
});

describe("archiveAgent", () => {
  it("takes an agent off the lists and lets it take no message, until it is taken back; each is told once", async () => {
    const client = connect((await startTestApp()).url);
    const [agent, other] = [await client.createAgent(), await client.createAgent()];
    expect(await archive(client, agent.id)).toMatchObject({ agent: { archivedAt: expect.any(String) }, userErrors: [] });
    expect(await archive(client, agent.id)).toMatchObject({ agent: { archivedAt: expect.any(String) }, userErrors: [] });
    expect(await listed(client, "")).toEqual([other.id]);
    expect(await listed(client, "(filter: { isArchived: true })")).toEqual([agent.id]);
    expect(await send(client, agent.id)).toMatchObject({
      message: null,
      userErrors: [{ code: "ARCHIVED", field: ["agentId"], message: expect.stringContaining("unarchiveAgent") }],
    });
    expect(await unarchive(client, agent.id)).toMatchObject({ agent: { archivedAt: null }, userErrors: [] });
    await unarchive(client, agent.id);
    expect((await listed(client, "")).toSorted()).toEqual([agent.id, other.id].toSorted());
    await client.turn(agent.id, "hi");
    const told = (await client.events(agent.id)).flatMap(({ __typename }) =>
      __typename === "AgentArchived" || __typename === "AgentUnarchived" ? [__typename] : [],
    );
    expect(told).toEqual(["AgentArchived", "AgentUnarchived"]);
  });

  it("a message that was taken before is answered again under its key, not refused", async () => {
    const client = connect((await startTestApp()).url);
    const agent = await client.createAgent();
    const input = { agentId: agent.id, text: "hi", idempotencyKey: "once" };
    const first = (await client.get(SendMessageDocument, { input })).sendMessage;
    await client.until(agent.id, "DONE");
    await archive(client, agent.id);
    expect((await client.get(SendMessageDocument, { input })).sendMessage).toMatchObject({
      message: { id: first.message?.id },
      userErrors: [],
    });
  });

  it("lets what is under way end as it would have", async () => {
    const ends = Promise.withResolvers<void>();
    const model = playedModel(async function* () {
      await ends.promise;
      yield* says("Hello.");
    });
    const client = connect((await startTestApp({ model })).url);
    const agent = await client.createAgent();
    await client.send(agent.id, "hi");
    await archive(client, agent.id);
    ends.resolve();
    expect(ofType(await client.until(agent.id, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("a message that comes while the agent is archived is refused, whatever its command saw before", async () => {
    let agentId = "";
    let client: TestClient | null = null;
    const app = await startTestApp({
      model: playedModel(() => hangsAfter("never")),
      overrides: {
        sql: (sql) =>
          beforeCommit(
            sql,
            ({ received }) => received !== undefined,
            async () => client && archive(client, agentId),
          ),
      },
    });
    client = connect(app.url);
    agentId = (await client.createAgent()).id;
    expect(await send(client, agentId)).toMatchObject({ message: null, userErrors: [{ code: "ARCHIVED" }] });
    expect((await client.agent(agentId)).messages.nodes).toEqual([]);
  });
});
