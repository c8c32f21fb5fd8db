import { expect, it } from "vitest";
import { InterruptAgentDocument } from "../generated/documents.ts";
import { startTestApp, temporaryFolder, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { metric } from "../support/metric.ts";
import { playedModel, says } from "../support/models.ts";
import { silentLogger } from "../support/silent-logger.ts";
import type { Logger } from "../../src/telemetry/log.ts";
import type { ModelEvent } from "../../src/agent/models/model.ts";

/** Two servers of one database, as in the minute in which another configuration is rolled: the second has one template more. */
async function twoConfigurations(model: () => TestAppOptions["model"]) {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
  const workspace = await temporaryFolder();
  const folders = { workspaceRoots: [workspace], defaultWorkspace: workspace };
  const overrides = { leaseTimes: { ttlMs: 2_000, renewMs: 300, startMs: 1_300 } };
  const told: string[] = [];
  const logger: Logger = { ...silentLogger, tell: (event, message) => void (event === "agents_unknown" && told.push(message)) };
  const old = await startTestApp({ database, config: folders, overrides: { ...overrides, logger, unknownAgentsMs: 50 } });
  const startNew = () =>
    startTestApp({
      database,
      model: model() ?? playedModel(),
      config: {
        ...folders,
        templates: { newbie: { model: "test", systemPrompt: "x" }, assistant: { model: "test", systemPrompt: "x" } },
      },
      overrides,
    });
  return { old, startNew, told };
}

async function waitingFor(client: TestClient, id: string): Promise<string | null> {
  const { data } = await client.post<{ agent: { waitingFor: string | null } }>({
    query: `{ agent(id: "${id}") { waitingFor } }`,
  });
  return data?.agent.waitingFor ?? null;
}

async function newAgent(client: TestClient): Promise<string> {
  const query = `mutation { createAgent(input: { templateId: "newbie" }) { agent { id } userErrors { message } } }`;
  const { data } = await client.post<{ createAgent: { agent: { id: string } } }>({ query });
  if (data === null) throw new Error("no agent was created");
  return data.createAgent.agent.id;
}

it("an agent whose template a server does not know is left to those that know it, whoever is told of its messages", async () => {
  const { old, startNew } = await twoConfigurations(() => playedModel(...Array.from({ length: 9 }, () => () => says("Hello."))));
  const known = await startNew();
  const [asOld, asNew] = [connect(old.url), connect(known.url)];
  const agent = await newAgent(asNew);
  for (let times = 0; times < 3; times += 1) {
    const { cursor } = await asOld.agent(agent);
    await asOld.send(agent, "hello");
    const events = await asOld.until(agent, "DONE", cursor);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(textOf(events)).toBe("Hello.");
  }
  // Others go on at the old one as ever.
  const other = await asOld.createAgent();
  expect(ofType(await asOld.turn(other.id, "hi"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
});

it("it waits while no server knows its template, says so, and goes on when one does; its turn can be interrupted meanwhile", async () => {
  const hangs = async function* (): AsyncGenerator<ModelEvent> {
    yield { type: "text_start", block: 0 };
    yield { type: "text_delta", block: 0, text: "Half" };
    await new Promise(() => {});
  };
  let first = true;
  const { old, startNew, told } = await twoConfigurations(() => {
    const model = first
      ? playedModel(hangs, hangs)
      : playedModel(
          () => says("Whole."),
          () => says("Whole."),
        );
    first = false;
    return model;
  });
  const known = await startNew();
  const [asOld, asNew] = [connect(old.url), connect(known.url)];
  const [agent, interrupted] = [await newAgent(asNew), await newAgent(asNew)];
  for (const each of [agent, interrupted]) {
    await asNew.send(each, "go");
    await asNew.until(each, "TEXT_CHUNK");
  }
  await known.close();
  const words = "a server that has the template newbie in its configuration: the one that was asked has not";
  await expect.poll(() => waitingFor(asOld, agent)).toBe(words);
  await asOld.get(InterruptAgentDocument, { input: { agentId: interrupted } });
  expect(ofType(await asOld.until(interrupted, "DONE"), "Done")).toHaveLength(1);
  expect(await waitingFor(asOld, agent)).toBe(words);
  expect(told).toEqual([]);
  // As if nobody had taken it for a minute.
  const age = "UPDATE agent SET runnable_at = runnable_at - interval '1 minute' WHERE runnable_at IS NOT NULL";
  await old.database.sql.query({ name: "age", text: age }, []);
  await expect.poll(() => metric(old, "triplane_agents_unknown")).toBe(1);
  expect(told).toEqual([expect.stringContaining("agents of template newbie with model test are not claimed")]);
  const again = await startNew();
  const events = await connect(again.url).until(agent, "DONE");
  expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  expect(textOf(events)).toContain("Whole.");
  await expect.poll(() => metric(old, "triplane_agents_unknown")).toBe(0);
});

it("an agent whose folder only one server has, as its own below its data folder, is left to that server", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
  const overrides = { leaseTimes: { ttlMs: 2_000, renewMs: 300, startMs: 1_300 } };
  const config = { defaultWorkspace: undefined as never };
  const start = () => startTestApp({ database, config, overrides });
  const [first, second] = [await start(), await start()];
  const agents = await Promise.all(Array.from({ length: 6 }, () => connect(first.url).createAgent()));
  for (const { id } of agents) {
    const events = await connect(second.url).turn(id, "hello");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  }
  await first.close();
  const [left] = agents;
  const other = connect(second.url);
  await other.send(left?.id ?? "", "again");
  await expect
    .poll(() => waitingFor(other, left?.id ?? ""))
    .toMatch(/^a server that has a workspace root, or a data folder, around /);
  const own = await other.createAgent();
  expect(ofType(await other.turn(own.id, "hello"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
});
