import { describe, expect, it } from "vitest";
import { InterruptAgentDocument, SendMessageDocument, WithdrawMessageDocument } from "../generated/documents.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";
import { beforeJoin } from "../support/writes.ts";

const withdraw = async (client: TestClient, messageId: string) =>
  (await client.get(WithdrawMessageDocument, { input: { messageId } })).withdrawMessage;

async function conversation(client: TestClient, agentId: string): Promise<(string | null)[]> {
  const query = `{ agent(id: "${agentId}") { messages(first: 50) { nodes { text } } } }`;
  const { data } = await client.post<{ agent: { messages: { nodes: { text: string | null }[] } } }>({ query });
  return (data?.agent.messages.nodes ?? []).map(({ text }) => text);
}

/** A message that is withdrawn in the moment between the decision on a turn and the commit by which it would have joined. */
async function withdrawnAsItJoins(before: (client: TestClient, agentId: string) => Promise<void>) {
  const withdrawn = Promise.withResolvers<unknown>();
  const sent = Promise.withResolvers<{ client: TestClient; agentId: string; messageId: string }>();
  const model = playedModel(() => says("Hello."));
  const app = await startTestApp({
    model,
    overrides: {
      sql: (sql) =>
        beforeJoin(sql, async () => {
          const { client, agentId, messageId } = await sent.promise;
          await before(client, agentId);
          withdrawn.resolve(await withdraw(client, messageId));
        }),
    },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  sent.resolve({ client, agentId: agent.id, messageId: await client.send(agent.id, "a slip") });
  expect(await withdrawn.promise).toMatchObject({ userErrors: [] });
  return { app, client, agent, model };
}

describe("withdrawMessage", () => {
  it("takes back a message that waits: the model never reads it, and one that follows it joins", async () => {
    const release = Promise.withResolvers<void>();
    const holds = ownTool("holds", async () => ({ output: String(await release.promise), details: null }));
    const model = playedModel(
      () => calls("holds"),
      () => says("Hello."),
    );
    const client = connect((await startTestApp({ model, config: { tools: [holds] } })).url);
    const agent = await client.createAgent();
    const first = await client.send(agent.id, "hold");
    await client.until(agent.id, "TOOL_START");
    const slip = await client.send(agent.id, "a slip");
    const meant = await client.send(agent.id, "what I meant");
    expect(await withdraw(client, slip)).toMatchObject({ message: { text: "a slip", withdrawnAt: expect.any(String) } });
    expect(await withdraw(client, slip)).toMatchObject({ message: { id: slip }, userErrors: [] });
    expect(await withdraw(client, first)).toMatchObject({
      message: null,
      userErrors: [{ code: "ALREADY_JOINED", field: ["messageId"] }],
    });
    expect(await conversation(client, agent.id)).toEqual(["hold", expect.anything(), "what I meant"]);
    release.resolve();
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ messageIds: [first, meant] }]);
    expect(ofType(events, "MessageWithdrawn")).toMatchObject([{ messageId: slip, withdrawnBy: { actorId: "local" } }]);
    expect(JSON.stringify(model.calls[1]?.request.messages)).not.toContain("a slip");
  });

  it("just before the message would join, by a turn that had been decided on: nothing is lost and no turn is begun for nothing", async () => {
    const { client, agent, model } = await withdrawnAsItJoins(async () => {});
    await expect.poll(async () => (await client.agent(agent.id)).state).toBe("READY");
    expect(model.calls).toEqual([]);
    const after = await client.turn(agent.id, "what I meant");
    expect(ofType(after, "Done")).toMatchObject([{ turn: 1, reason: "COMPLETED" }]);
    expect(JSON.stringify(model.calls[0]?.request.messages)).not.toContain("a slip");
  });

  it("after an interrupt of the turn that would have begun leaves nothing that interrupts the next one", async () => {
    const { app, client, agent } = await withdrawnAsItJoins(async (here, agentId) => {
      await here.get(InterruptAgentDocument, { input: { agentId } });
    });
    await expect
      .poll(() => app.database.sql.query({ name: "held", text: "SELECT lease_owner, runnable_at FROM agent" }, []))
      .toEqual([{ lease_owner: null, runnable_at: null }]);
    expect(ofType(await client.turn(agent.id, "what I meant"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("makes room in a queue that is full", async () => {
    const release = Promise.withResolvers<void>();
    const holds = ownTool("holds", async () => ({ output: String(await release.promise), details: null }));
    const model = playedModel(
      () => calls("holds"),
      () => says("Hello."),
    );
    const client = connect((await startTestApp({ model, config: { tools: [holds] } })).url);
    const agent = await client.createAgent();
    await client.send(agent.id, "hold");
    await client.until(agent.id, "TOOL_START");
    const sent = await Promise.all(Array.from({ length: 100 }, (_, index) => client.send(agent.id, `message ${index}`)));
    const more = async () => (await client.get(SendMessageDocument, { input: { agentId: agent.id, text: "more" } })).sendMessage;
    expect(await more()).toMatchObject({ userErrors: [{ code: "QUEUE_FULL" }] });
    await withdraw(client, sent[50] ?? "");
    expect(await more()).toMatchObject({ userErrors: [] });
    release.resolve();
    const [done] = ofType(await client.until(agent.id, "DONE"), "Done");
    expect(done?.messageIds).toHaveLength(101);
    expect(done?.messageIds).not.toContain(sent[50]);
  });

  it("is for who may steer the agent, and says of the rest only what they may know (invariant 12)", async () => {
    const app = await startTestApp({ config: NEIGHBOURS });
    const anna = connect(app.url, "anna-token");
    const agent = await anna.createAgent();
    await anna.turn(agent.id, "hi");
    const messageId = ofType(await anna.events(agent.id), "MessageReceived")[0]?.messageId ?? "";
    for (const [who, code] of [
      ["anna", "ALREADY_JOINED"],
      ["ben", "NOT_FOUND"],
      ["vera", "FORBIDDEN"],
      ["zoe", "NOT_FOUND"],
    ] as const)
      expect(await withdraw(connect(app.url, `${who}-token`), messageId)).toMatchObject({
        message: null,
        userErrors: [{ code, field: ["messageId"] }],
      });
    for (const nothing of ["", "nonsense", agent.id])
      expect(await withdraw(anna, nothing)).toMatchObject({ userErrors: [{ code: "NOT_FOUND" }] });
  });
});
