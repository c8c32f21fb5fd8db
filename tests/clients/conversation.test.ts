import { expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { CONVERSATION, type Conversation, type ConversationPage } from "../../clients/src/conversation.ts";
import { iterate } from "../../clients/src/index.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { InterruptAgentDocument, RetryTurnDocument, WithdrawMessageDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { hangsAfter, playedModel } from "../support/models.ts";
import { beforeJoin } from "../support/writes.ts";

/** The conversation of an agent after each page, from its first event on. */
async function* conversationsOf(url: string, agentId: string): AsyncGenerator<Conversation> {
  const transport = overWebSocket({ url: url.replace("http", "ws"), webSocketImpl: WebSocket });
  onTestFinished(() => transport.dispose());
  const request = { query: CONVERSATION.document, variables: { agentId, since: "0" } };
  let view = CONVERSATION.empty;
  for await (const { data } of iterate<{ timeline: ConversationPage }>(transport, request))
    if (data) yield (view = CONVERSATION.after(view, data.timeline));
}

it("a conversation is working while a turn is under way, also in one that no new message began", async () => {
  const model = playedModel(
    () => hangsAfter("first"),
    () => hangsAfter("second"),
    () => hangsAfter("third"),
  );
  const app = await startTestApp({ model });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent();
  const conversations = conversationsOf(app.url, agentId);
  /** True if it is working when it says this text, or, of null, when another turn has ended. */
  const isWorkingAt = async (text: string | null): Promise<boolean | undefined> => {
    for (;;) {
      const { value, done } = await conversations.next();
      if (done === true) throw new Error("the conversation has ended");
      const last = value?.items.at(-1);
      if (text === null ? last?.kind === "end" : last?.kind === "text" && last.text === text) return value?.isWorking;
    }
  };
  const interrupt = () => client.get(InterruptAgentDocument, { input: { agentId } });
  await client.send(agentId, "go");
  expect(await isWorkingAt("first")).toBe(true);
  await interrupt();
  expect(await isWorkingAt(null)).toBe(false);
  await client.get(RetryTurnDocument, { input: { agentId } });
  expect(await isWorkingAt("second")).toBe(true);
  await client.send(agentId, "a message that waits for the next turn");
  await interrupt();
  expect(await isWorkingAt("third")).toBe(true);
});

it("a conversation is not working once the message that waited for its turn is taken back, and is still if a turn goes on", async () => {
  const withdrawn = Promise.withResolvers<void>();
  const model = playedModel(() => hangsAfter("first"));
  const app = await startTestApp({
    model,
    overrides: {
      sql: (sql) => beforeJoin(sql, () => withdrawn.promise),
    },
  });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent();
  const conversations = conversationsOf(app.url, agentId);
  const messagesUntil = async (count: number): Promise<Conversation> => {
    for (;;) {
      const { value, done } = await conversations.next();
      if (done === true) throw new Error("the conversation has ended");
      if (value?.items.filter(({ kind }) => kind === "message").length === count) return value;
    }
  };
  const withdraw = async (messageId: string) => client.get(WithdrawMessageDocument, { input: { messageId } });
  const slip = await client.send(agentId, "a slip");
  expect((await messagesUntil(1)).isWorking).toBe(true);
  const second = await client.send(agentId, "a second slip");
  await messagesUntil(2);
  await withdraw(slip);
  expect((await messagesUntil(1)).isWorking).toBe(true);
  await withdraw(second);
  expect((await messagesUntil(0)).isWorking).toBe(false);
  withdrawn.resolve();

  await client.send(agentId, "go");
  await client.until(agentId, "TEXT_CHUNK");
  const other = await client.send(agentId, "another slip");
  await messagesUntil(2);
  await withdraw(other);
  expect((await messagesUntil(1)).isWorking).toBe(true);
});
