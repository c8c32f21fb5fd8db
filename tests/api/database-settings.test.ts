import { describe, expect, it } from "vitest";
import { clockOf } from "../support/clock.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";
import { administrator, emptyDatabaseUrl, setOnDatabase, testDatabaseUrl } from "../support/database.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const NOON = "2031-01-01T12:00:00.000Z";
const BEFORE = "2031-01-01T11:59:00.000Z";
const AFTER = "2031-01-01T12:01:00.000Z";

/** A server by whose clock it is always noon, and an agent that has called a tool. */
async function called(url: string): Promise<TestApp & { readonly client: TestClient; readonly agentId: string }> {
  const app = await startTestApp({
    database: { kind: "postgres", url, connections: 3 },
    model: playedModel(
      () => calls("look"),
      () => says("Done."),
    ),
    config: { tools: [ownTool("look", () => ({ output: "seen", details: null }), true)] },
    overrides: { clock: clockOf(() => new Date(NOON)) },
  });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent();
  const told = await client.turn(agentId, "go");
  expect(new Set(told.map(({ timestamp }) => timestamp))).toEqual(new Set([NOON]));
  return { ...app, client, agentId };
}

const READ = (agentId: string): string => `{
  agent(id: ${JSON.stringify(agentId)}) { createdAt lastActivityAt }
  idle: agents(filter: { idleSince: "${NOON}", states: [READY] }) { totalCount }
  busy: agents(filter: { idleSince: "${BEFORE}" }) { totalCount }
  calls: toolCalls(filter: { created: { from: "${NOON}", to: "${AFTER}" }, states: [COMPLETED] }) { nodes { createdAt } }
  earlier: toolCalls(filter: { created: { from: "${BEFORE}", to: "${NOON}" } }) { totalCount }
}`;

const IS_READ = {
  agent: { createdAt: NOON, lastActivityAt: NOON },
  idle: { totalCount: 1 },
  busy: { totalCount: 0 },
  calls: { nodes: [{ createdAt: NOON }] },
  earlier: { totalCount: 0 },
};

describe("settings of the database change nothing of what people read", () => {
  it.each([
    ["another time zone", { TimeZone: "'Asia/Tokyo'" }],
    ["another form of times", { DateStyle: "'German, DMY'", TimeZone: "'America/St_Johns'" }],
  ])("%s", async (_name, settings) => {
    const url = await testDatabaseUrl();
    await setOnDatabase(url, settings);
    const { client, agentId } = await called(url);
    expect((await client.post({ query: READ(agentId) })).data).toEqual(IS_READ);
  });

  it("another schema, in which everything lies", async () => {
    const url = await emptyDatabaseUrl();
    await setOnDatabase(url, { search_path: "triplane" });
    const admin = await administrator(url);
    await admin.query("CREATE SCHEMA triplane");
    const { client, agentId } = await called(url);
    expect((await client.post({ query: READ(agentId) })).data).toEqual(IS_READ);
    const { rows } = await admin.query(
      "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('agent', 'event', 'tool_call')",
    );
    expect(rows).toEqual([{ schemaname: "triplane" }]);
  });

  it("a schema that came later than the tables, and comes before theirs", async () => {
    const url = await testDatabaseUrl();
    await (await administrator(url)).query("CREATE SCHEMA later");
    await setOnDatabase(url, { search_path: "later, public" });
    const { client, agentId } = await called(url);
    expect((await client.post({ query: READ(agentId) })).data).toEqual(IS_READ);
  });
});
