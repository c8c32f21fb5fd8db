import { expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { NO_TOKENS, type ModelEvent } from "../../src/agent/models/model.ts";
import {
  approvalEndText,
  cacheText,
  contextText,
  CONVERSATION,
  type Conversation,
  type ConversationPage,
} from "../../clients/src/conversation.ts";
import { iterate } from "../../clients/src/index.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import {
  CompactAgentDocument,
  InterruptAgentDocument,
  RetryTurnDocument,
  WithdrawMessageDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { hangsAfter, playedModel } from "../support/models.ts";
import { windowedModel } from "../support/windowed-model.ts";
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

/** The view of a page with these events; each has a cursor. */
function after(view: Conversation, ...events: readonly Record<string, unknown>[]): Conversation {
  const known = events.map((event, place) => Object.assign({ cursor: `${view.items.length}.${place}` }, event));
  return CONVERSATION.after(view, { cursor: "1", caughtUp: true, outage: null, events: known } as unknown as ConversationPage);
}

const received = (messageId: string) => ({
  __typename: "MessageReceived",
  messageId,
  text: messageId,
  images: 0,
  sentBy: { actorId: "a", name: null },
});
const state = (previousState: string, to: string) => ({ __typename: "StateChanged", previousState, state: to });
const done = (...messageIds: readonly string[]) => ({
  __typename: "Done",
  reason: "COMPLETED",
  value: null,
  problems: [],
  messageIds,
});

it("a conversation shows the value of an answer, and the problems of one that does not have its shape", () => {
  const value = { files: 2 };
  const problems = [{ path: "/files", message: "must be integer" }];
  const view = after(CONVERSATION.empty, { ...done(), value }, { ...done(), reason: "SHAPE", problems });
  expect(view.items).toMatchObject([
    { kind: "value", value },
    { kind: "end", reason: "SHAPE", problems: ["/files: must be integer"] },
  ]);
});

it("a message sent during a turn waits until a turn has answered it, whatever the turn waits for meanwhile", () => {
  const begun = after(CONVERSATION.empty, received("one"), state("READY", "WORKING"));
  expect(begun).toMatchObject({ waiting: [], isInTurn: true });
  const paused = after(begun, received("two"), received("three"), state("WORKING", "PAUSED"), state("PAUSED", "WORKING"));
  expect(paused.waiting).toEqual(["two", "three"]);
  const ended = after(paused, done("one", "two"), state("WORKING", "READY"));
  expect(ended).toMatchObject({ waiting: ["three"], isInTurn: false, isWorking: true });
  expect(after(ended, state("READY", "WORKING"), done("three"), state("WORKING", "READY"))).toMatchObject({
    waiting: [],
    isWorking: false,
  });
});

it("a conversation shows thoughts, the progress of tools, what failed, todos and usage", () => {
  const call = (status: string) => ({
    callId: "c",
    name: "crawl",
    state: status,
    inputPreview: "{}",
    output: null,
    durationMs: null,
  });
  const view = after(
    CONVERSATION.empty,
    { __typename: "ThinkChunkStart", step: 1, block: 0 },
    { __typename: "ThinkChunk", step: 1, block: 0, delta: "Hm" },
    { __typename: "ThinkChunkEnd", step: 1, block: 0, text: "Hm.", aborted: false },
    { __typename: "ToolStart", call: call("EXECUTING") },
    { __typename: "ToolCustomEvent", callId: "c", eventType: "pages", eventData: { read: 3 } },
    { __typename: "ToolCustomEvent", callId: null, eventType: "pages", eventData: null },
    { __typename: "ToolEnd", call: call("COMPLETED") },
    { __typename: "ErrorRaised", severity: "WARN", phase: "MODEL", message: "slow", detail: "slow_step", retryAt: null },
    {
      __typename: "ErrorRaised",
      severity: "INFO",
      phase: "MODEL",
      message: "busy",
      detail: "rate",
      retryAt: "2026-01-01T00:00:00Z",
    },
    { __typename: "ErrorRaised", severity: "ERROR", phase: "MODEL", message: null, detail: "rejected", retryAt: null },
    { __typename: "TodoChanged", todos: [{ todoId: "1", title: "Look", status: "PENDING", assignee: null, notes: null }] },
    { __typename: "TokensUsed", totalTokens: 10, costUsd: 0.25 },
    { __typename: "TokensUsed", totalTokens: 5, costUsd: 0.5 },
    { __typename: "OfANewerServer" },
  );
  expect(view.items).toMatchObject([
    { kind: "thinking", text: "Hm.", state: "kept" },
    { kind: "tool", call: { state: "COMPLETED" }, progress: { eventType: "pages", eventData: { read: 3 } } },
    { kind: "error", text: "busy", retryAt: "2026-01-01T00:00:00Z" },
    { kind: "error", text: "(erased)", retryAt: null },
  ]);
  expect(view).toMatchObject({ todos: [{ title: "Look" }], usage: { totalTokens: 15, costUsd: 0.75 } });
  expect(after(view, { __typename: "TokensUsed", totalTokens: 1, costUsd: null }).usage).toEqual({
    totalTokens: 16,
    costUsd: null,
  });
});

it("a block ends where the next one begins, and is struck out where the answer was broken off", () => {
  const block = (kind: "TextChunk" | "ThinkChunk", number: number) => [
    { __typename: `${kind}Start`, step: 1, block: number },
    { __typename: kind, step: 1, block: number, delta: "Hm" },
  ];
  const begun = after(CONVERSATION.empty, ...block("ThinkChunk", 0), ...block("TextChunk", 1), ...block("TextChunk", 2));
  expect(begun.items.map((item) => "state" in item && item.state)).toEqual(["kept", "kept", "streaming"]);
  const broken = after(begun, { __typename: "TextChunkEnd", step: 1, block: 1, text: "Hm", aborted: true });
  expect(broken.items.map((item) => "state" in item && item.state)).toEqual(["kept", "aborted", "streaming"]);
});

it("a delta touches its own item only, and no view of before", () => {
  let view = after(CONVERSATION.empty, ...Array.from({ length: 5_000 }, (_none, place) => received(`m${place}`)));
  view = after(view, { __typename: "TextChunkStart", step: 1, block: 0 });
  const next = after(view, { __typename: "TextChunk", step: 1, block: 0, delta: "Hello" });
  expect(next.items.filter((item, place) => item !== view.items[place])).toMatchObject([{ kind: "text", text: "Hello" }]);
  expect(view.items.at(-1)).toMatchObject({ text: "" });
});

it("a question says who ended it, how and with which words", () => {
  const request = { approvalId: "a1", kind: "TOOL_CALL" };
  const decidedBy = { actorId: "anna", name: "Anna" };
  const endOf = (event: Record<string, unknown>): string | null => {
    const item = after(CONVERSATION.empty, { __typename: "PermissionRequired", request, approval: null }, event).items[0];
    return item?.kind !== "approval" || item.end === null ? null : approvalEndText(item.end);
  };
  const decided = (decision: string, note: string | null, missingDecisions = 0): string | null =>
    endOf({ __typename: "PermissionDecided", approvalId: "a1", decision, decidedBy, note, missingDecisions });
  expect(decided("DENY", "Keep the cache.")).toBe("Denied by Anna: Keep the cache.");
  expect(["ALLOW", "DONE", "RETRY", "FAIL"].map((decision) => decided(decision, null))).toEqual([
    "Allowed by Anna",
    "Reported as done by Anna",
    "Run again by Anna",
    "Reported as failed by Anna",
  ]);
  expect(decided("ALLOW", null, 1)).toBeNull();
  const closed = (approvalState: string): string | null =>
    endOf({ __typename: "PermissionClosed", approvalId: "a1", approvalState });
  expect(["EXPIRED", "SEALED", "STALE"].map(closed)).toEqual(["Expired", "Closed with the turn", "Replaced by a newer question"]);
  const done = { __typename: "Done", reason: "COMPLETED", value: null, problems: [], messageIds: [] };
  expect(endOf(done)).toBe("Closed with the turn");
});

it("a conversation shows the size of the context, and that it was compacted", async () => {
  const model = windowedModel({ window: 20_000, reply: () => ({ text: "ok" }), summary: () => "Facts: blue." });
  const app = await startTestApp({ model, template: { tools: ["todo_read"] } });
  const client = connect(app.url);
  const { id: agentId } = await client.createAgent();
  for (const turn of [0, 1, 2, 3]) await client.turn(agentId, `${turn} ${"m".repeat(4_000)}`);
  let before: Conversation["context"] | null = null;
  for await (const { items, context, caughtUp } of conversationsOf(app.url, agentId)) {
    const compacted = items.find(({ kind }) => kind === "compaction");
    if (compacted !== undefined) {
      expect(compacted).toMatchObject({
        method: "SUMMARY",
        summary: expect.stringContaining("Facts: blue."),
        text: expect.stringMatching(/^Context compacted, older messages were summarised: \d+ → \d+ tokens$/),
      });
      expect(context.tokens).toBeLessThan(before?.tokens ?? 0);
      break;
    }
    if (!caughtUp || before !== null) continue;
    before = context;
    expect(contextText(context)).toMatch(/^context 2\d % of 20k tokens$/);
    await client.get(CompactAgentDocument, { input: { agentId } });
  }
});

it("a conversation shows the share of the newest answer's input that came from the provider's cache", async () => {
  async function* says(): AsyncGenerator<ModelEvent> {
    yield { type: "text_start", block: 0 };
    yield { type: "text_delta", block: 0, text: "Yes." };
    yield { type: "end", stopReason: "end_turn", usage: { ...NO_TOKENS, inputTokens: 100, cacheReadTokens: 300 } };
  }
  const app = await startTestApp({ model: playedModel(says) });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  for await (const { cache, caughtUp } of conversationsOf(app.url, id)) {
    if (!caughtUp) continue;
    expect(cacheText(cache)).toBe("75 % from the cache");
    break;
  }
  expect(cacheText({ share: 0, miss: "TOOLS_CHANGED" })).toBe("0 % from the cache, a miss: tools changed");
  expect(cacheText({ share: 0, miss: null })).toBe("");
});
