import { expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { CONVERSATION, type Conversation, type ConversationPage } from "../../clients/src/conversation.ts";
import { iterate } from "../../clients/src/index.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { InterruptAgentDocument, RetryTurnDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { hangsAfter, playedModel } from "../support/models.ts";

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
