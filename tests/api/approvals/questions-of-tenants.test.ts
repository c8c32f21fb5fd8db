import { expect, it } from "vitest";
import { tokenActor } from "../../support/actors.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, type TestClient } from "../../support/client.ts";
import { allowed, appWith } from "../../support/mcp-app.ts";
import { asks, inputsOf, openQuestion, streamingServer } from "../../support/mcp-asking.ts";
import { ownServer, QUICK } from "../../support/mcp.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";

it("questions of one connection are those of the calls on whose streams they arrive, for agents of two tenants", async () => {
  const server = await streamingServer();
  const [anna, zoe] = [tokenActor("anna", ["admin"], "local"), tokenActor("zoe", ["admin"], "other")];
  const model = playedModel(({ messages }) => {
    const content = messages.at(-1)?.content ?? [];
    const who = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).at(-1) ?? "";
    return content.some(({ type }) => type === "tool_result") ? says("Done.") : callsWith(["mcp__own__work", { who }]);
  });
  const app = await startTestApp({
    model,
    template: { ...allowed("own"), selfApproval: true },
    config: { actors: [anna.actor, zoe.actor], mcpServers: { own: { url: server.url } } },
    overrides: { mcpTimes: QUICK },
  });
  const agents = await Promise.all(
    [anna, zoe].map(async ({ token, actor }) => {
      const client = connect(app.url, token);
      const { id, cursor } = await client.createAgent();
      return { who: actor.id, client, id, cursor };
    }),
  );
  // Both calls are under way before either is answered.
  for (const { client, id, who } of agents) await client.send(id, who);
  for (const { client, id, cursor } of agents) await client.until(id, "PERMISSION_REQUIRED", cursor);
  const outputs = [];
  for (const { client, id, who, cursor } of agents.toReversed()) {
    const question = await openQuestion(client, id);
    expect(question.subject).toMatchObject({ message: `for ${who}` });
    expect((await question.answer({ values: { city: `City of ${who}` } })).userErrors).toEqual([]);
    await client.until(id, "DONE", cursor);
    outputs.push(await outputOf(client, id));
  }
  expect(outputs).toMatchObject([
    { id: "q-zoe", result: { action: "accept", content: { city: "City of zoe" } } },
    { id: "q-anna", result: { action: "accept", content: { city: "City of anna" } } },
  ]);
  const [own, other] = agents;
  if (own === undefined || other === undefined) throw new Error("there are two agents");
  expect(await inputsOf(own.client, other.id)).toEqual([]);
});

it("a question of a task of the older generation is that of no call, also if only one is under way", async () => {
  const of = { _meta: { "io.modelcontextprotocol/related-task": { taskId: "t-1" } } };
  const call = ["mcp__own__work", { ask: { ...asks().params, ...of } }] as const;
  const { client } = await appWith({ own: ownServer("asking.mjs") }, call, { template: allowed("own") });
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  expect(await outputOf(client, id)).toEqual([{ error: expect.stringContaining("a task asks") }]);
  expect(await inputsOf(client, id)).toEqual([]);
});

async function outputOf(client: TestClient, id: string): Promise<unknown> {
  return JSON.parse((await client.agent(id)).toolCalls.nodes.at(-1)?.output ?? "null");
}
