import { embeddedFolder } from "../support/embedded.ts";
import { describe, expect, it } from "vitest";
import { InterruptAgentDocument, RetryTurnDocument } from "../generated/documents.ts";
import { NEIGHBOURS, tokenActor } from "../support/actors.ts";
import { clockOf } from "../support/clock.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { calls, hangsAfter, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const retry = async (client: TestClient, agentId: string, idempotencyKey: string | null = null) =>
  (await client.get(RetryTurnDocument, { input: { agentId, idempotencyKey } })).retryTurn;

/** The provider fails, once and for good. */
async function* fails(): AsyncGenerator<never> {
  yield* [];
  throw new Error("the provider is out");
}

/** The events from a retry's cursor to the end of its turn. */
const retried = async (client: TestClient, agentId: string) => {
  const { cursor, userErrors } = await retry(client, agentId);
  expect(userErrors).toEqual([]);
  return client.until(agentId, "DONE", cursor);
};

describe("retryTurn", () => {
  it("answers the messages of a turn that ended with an error in a new turn, and adds nothing to the conversation", async () => {
    const model = playedModel(fails, fails, () => says("Hello."));
    const client = connect((await startTestApp({ model })).url);
    const agent = await client.createAgent();
    const failed = await client.turn(agent.id, "hi");
    expect(ofType(failed, "Done")).toMatchObject([{ turn: 1, reason: "ERROR" }]);
    const [message] = ofType(failed, "Done")[0]?.messageIds ?? [];
    expect((await retry(client, agent.id)).agent).toMatchObject({ doneReason: "ERROR" });
    await expect.poll(async () => ofType(await client.events(agent.id), "Done").length).toBe(2);
    const events = await retried(client, agent.id);
    expect(ofType(events, "Done")).toMatchObject([{ turn: 3, reason: "COMPLETED", messageIds: [message] }]);
    expect(textOf(events)).toBe("Hello.");
    expect(model.calls[2]?.request.messages).toEqual(model.calls[0]?.request.messages);
    expect(ofType(await client.events(agent.id), "TurnRetryRequested")).toMatchObject([
      { turn: 1, requestedBy: { actorId: "local" } },
      { turn: 2 },
    ]);
    expect(await retry(client, agent.id)).toMatchObject({ agent: null, userErrors: [{ code: "NOTHING_TO_RETRY" }] });
  });

  it("of an agent whose template is gone begins, and ends with an error that says so", async () => {
    // Where no other server could know it.
    const database = { kind: "embedded", folder: await embeddedFolder() } as const;
    const app = await startTestApp({ database, model: playedModel(fails) });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    await app.database.sql.query({ name: "gone", text: "UPDATE agent SET template_id = 'gone'" }, []);
    const events = await retried(client, agent.id);
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ message: expect.stringContaining("the template gone") }]);
    expect(ofType(events, "Done")).toMatchObject([{ turn: 2, reason: "ERROR" }]);
  });

  it("after an interrupt goes on with what the turn had done, and takes along what waits", async () => {
    const hang = ownTool("hang", () => new Promise<never>(() => {}));
    const model = playedModel(
      () => calls("hang"),
      () => says("Hello."),
    );
    const client = connect((await startTestApp({ model, config: { tools: [hang] } })).url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: "too slow" } });
    const first = ofType(await client.until(agent.id, "DONE"), "Done");
    const events = await retried(client, agent.id);
    expect(ofType(events, "Done")).toMatchObject([{ turn: 2, reason: "COMPLETED", messageIds: first[0]?.messageIds }]);
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain("too slow");
    expect((await client.agent(agent.id)).toolCalls.nodes).toHaveLength(1);
  });

  it("leaves it to the turn before who had asked for its calls: nobody allows their own by a retry (invariant 7)", async () => {
    const people = [tokenActor("petra", ["user", "approver"]), tokenActor("otto", ["approver"]), tokenActor("ada", ["admin"])];
    const tool = ownTool("deed", async () => ({ output: "done", details: null }));
    const model = playedModel(
      () => calls("deed"),
      fails,
      () => calls("deed"),
      () => says("Hello."),
    );
    const app = await startTestApp({
      model,
      config: { tools: [tool], actors: people.map(({ actor }) => actor) },
      template: { selfApproval: false, permission: { mode: "approval" } },
    });
    const [petra, otto, ada] = [connect(app.url, "petra-token"), connect(app.url, "otto-token"), connect(app.url, "ada-token")];
    const agent = await petra.createAgent();
    const allow = async (since?: string): Promise<void> => {
      const [required] = ofType(await petra.until(agent.id, "PERMISSION_REQUIRED", since), "PermissionRequired");
      const { approvalId = "", inputHash = "" } = required?.request ?? {};
      expect((await otto.decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toEqual([]);
    };
    await petra.send(agent.id, "go");
    await allow();
    await petra.until(agent.id, "DONE");
    const { cursor } = await retry(petra, agent.id);
    await petra.until(agent.id, "PERMISSION_REQUIRED", cursor);
    await ada.send(agent.id, "and this");
    await allow(cursor);
    await petra.until(agent.id, "DONE", cursor);
    const { data } = await petra.post({ query: "{ approvals { nodes { requestedBy { actorId } } } }" });
    expect(data).toMatchObject({
      approvals: {
        nodes: expect.arrayContaining([
          { requestedBy: [{ actorId: "petra" }] },
          { requestedBy: expect.arrayContaining([{ actorId: "petra" }, { actorId: "ada" }]) },
        ]),
      },
    });
  });

  it("asked for by many at once begins one turn, and under one key only once", async () => {
    const model = playedModel(
      fails,
      () => hangsAfter("I am"),
      () => says("Hello."),
    );
    const client = connect((await startTestApp({ model })).url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    const answers = await Promise.all(Array.from({ length: 8 }, () => retry(client, agent.id, "once")));
    expect(answers.flatMap(({ userErrors }) => userErrors)).toEqual([]);
    await client.until(agent.id, "TEXT_CHUNK");
    expect(await retry(client, agent.id)).toMatchObject({
      userErrors: [{ code: "NOTHING_TO_RETRY", message: expect.stringContaining("under way") }],
    });
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: null } });
    await expect.poll(async () => ofType(await client.events(agent.id), "Done").length).toBe(2);
    expect(await retry(client, agent.id, "once")).toMatchObject({ agent: { turn: 2 }, userErrors: [] });
    const events = await client.events(agent.id);
    expect(ofType(events, "TurnRetryRequested")).toHaveLength(1);
    expect(ofType(events, "Done").map(({ turn }) => turn)).toEqual([1, 2]);
  });

  it("under a key that is used again answers the place of its event, whatever the clocks of servers said", async () => {
    let behindMs = 0;
    const clock = clockOf(() => new Date(Date.now() - behindMs));
    const app = await startTestApp({ model: playedModel(fails), overrides: { clock } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    behindMs = 60_000;
    const first = await retry(client, agent.id, "lost");
    await client.until(agent.id, "DONE", first.cursor);
    expect(await retry(client, agent.id, "lost")).toMatchObject({
      cursor: first.cursor,
      agent: { id: agent.id },
      userErrors: [],
    });
  });

  it("under another key while one waits to begin is that one, and the key repeated asks for no other", async () => {
    const app = await startTestApp({ model: playedModel(fails) });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "hi");
    const set = (name: string, columns: string) => app.database.sql.query({ name, text: `UPDATE agent SET ${columns}` }, []);
    await set("asked", "retry_turn = turn, lease_owner = 'elsewhere', lease_until = now() + interval '1 hour'");
    expect(await retry(client, agent.id, "lost")).toMatchObject({ agent: { id: agent.id }, userErrors: [] });
    // The retried turn has failed, too, and who has not heard of the answer asks again.
    await set("failed", "retry_turn = NULL, lease_owner = NULL, lease_until = NULL");
    expect(await retry(client, agent.id, "lost")).toMatchObject({ agent: { id: agent.id }, userErrors: [] });
    expect(ofType(await client.events(agent.id), "TurnRetryRequested")).toEqual([]);
    expect(await retry(client, agent.id)).toMatchObject({ userErrors: [] });
    expect(ofType(await client.events(agent.id), "TurnRetryRequested")).toHaveLength(1);
  });

  it("is refused before the first turn, after one that went well, for an archived agent, and to who may not steer it", async () => {
    const model = playedModel(() => says("Hello."));
    const app = await startTestApp({ model, config: NEIGHBOURS });
    const anna = connect(app.url, "anna-token");
    const agent = await anna.createAgent();
    expect(await retry(anna, agent.id)).toMatchObject({ userErrors: [{ code: "NOTHING_TO_RETRY", field: ["agentId"] }] });
    await anna.turn(agent.id, "hi");
    expect(await retry(anna, agent.id)).toMatchObject({ userErrors: [{ code: "NOTHING_TO_RETRY" }] });
    await anna.post({ query: `mutation { archiveAgent(input: { agentId: "${agent.id}" }) { cursor } }` });
    expect(await retry(anna, agent.id)).toMatchObject({ userErrors: [{ code: "ARCHIVED" }] });
    for (const [who, code] of [
      ["ben", "NOT_FOUND"],
      ["vera", "FORBIDDEN"],
      ["zoe", "NOT_FOUND"],
    ] as const)
      expect(await retry(connect(app.url, `${who}-token`), agent.id)).toMatchObject({ userErrors: [{ code }] });
    expect(ofType(await anna.events(agent.id), "TurnRetryRequested")).toEqual([]);
  });
});
