import { expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { CONVERSATION, type Conversation, type ConversationPage } from "../../clients/src/conversation.ts";
import { iterate } from "../../clients/src/index.ts";
import type { TimelineView } from "../../clients/src/timeline-view.ts";
import { CHILD, childState, EMPTY_TREE, followTree, type Tree } from "../../clients/src/tree.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { InterruptAgentDocument } from "../generated/documents.ts";
import { connect, type TestClient } from "../support/client.ts";
import { cuttingProxy } from "../support/cutting-proxy.ts";
import { startTeam } from "../support/scripted-team.ts";
import { ownTool } from "../support/tools.ts";

/** A page of a frontend without a framework: the conversation of an agent, and the tree below it. */
function opened(url: string, agentId: string) {
  const transport = overWebSocket({ url: url.replace("http", "ws"), webSocketImpl: WebSocket });
  onTestFinished(() => transport.dispose());
  const counts = { open: 0 };
  const follow = (
    id: string,
    { document, empty, after }: TimelineView<ConversationPage, Conversation>,
    tell: (view: Conversation, error: Error | null) => void,
  ) => {
    counts.open += 1;
    let view = empty;
    const pages = iterate<{ timeline: ConversationPage }>(transport, { query: document, variables: { agentId: id, since: "0" } });
    void (async () => {
      for await (const { data, errors } of pages) {
        if (errors) tell(view, new Error(JSON.stringify(errors)));
        if (data) tell((view = after(view, data.timeline)), null);
      }
    })();
    return () => {
      counts.open -= 1;
      void pages.return?.();
    };
  };
  const page = { view: CONVERSATION.empty, tree: EMPTY_TREE, counts };
  const tree = followTree(
    (id, tell) => follow(id, CHILD, tell),
    (next) => (page.tree = next),
  );
  const end = follow(agentId, CONVERSATION, (view) => {
    page.view = view;
    tree.take(view.children);
  });
  onTestFinished(() => {
    tree.close();
    end();
  });
  return page;
}

const childrenIn = ({ items }: Conversation) =>
  items.flatMap((item) => (item.kind === "tool" && item.child !== null ? [item.child] : []));

/** The paths of open approvals. Calls of one answer start their agents in any order. */
const pathsIn = ({ approvals }: Tree) =>
  approvals
    .map(({ path, item }) => [...path.map(({ description }) => description), item.request.call?.name].join(" "))
    .toSorted();

async function allowAll(client: TestClient, { approvals }: Tree): Promise<void> {
  for (const { item } of approvals) {
    const { approvalId, inputHash } = item.request;
    await client.decide({ approvalId, inputHash, decision: "ALLOW" });
  }
}

it("a conversation shows the children of its calls: what each is to do, how it stands, what it asks by path, and how it ended", async () => {
  const app = await startTeam();
  const proxy = await cuttingProxy(app.port);
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const page = opened(`http://127.0.0.1:${proxy.port}/graphql`, id);
  await client.send(id, "split the work");
  await expect.poll(() => pathsIn(page.tree)).toEqual(["delegate b.txt write b.txt fs_write", "write a.txt fs_write"]);
  await expect.poll(() => page.view.children.length).toBe(2);
  const states = childrenIn(page.view).map((child) => [child.description, child.templateId, childState(child, page.tree)]);
  expect(states).toEqual([
    ["look around", "worker", "ok"],
    ["write a.txt", "worker", "asks"],
    ["delegate b.txt", "worker", "asks"],
  ]);

  // A reload, and a connection that was lost, show the same.
  const again = opened(app.url, id);
  await expect.poll(() => pathsIn(again.tree)).toEqual(pathsIn(page.tree));
  proxy.cutNow();
  await allowAll(client, again.tree);
  for (const shown of [page, again]) {
    await expect.poll(() => shown.view.isWorking, { timeout: 10_000 }).toBe(false);
    await expect.poll(() => shown.counts.open).toBe(1);
    expect(shown.tree).toMatchObject({ approvals: [], error: null });
  }
  expect(childrenIn(page.view)).toMatchObject([
    { end: { outcome: "OK", answer: "There is a folder." }, isBackground: false },
    { end: { outcome: "OK", answer: "It is written." } },
    { end: { outcome: "OK", answer: "A worker said: It is written." } },
  ]);
  expect(page.view).toEqual(again.view);
  // Each child opens as a conversation of its own.
  const [, child] = childrenIn(page.view);
  const own = opened(app.url, child?.agentId ?? "");
  await expect.poll(() => own.view.items.at(-1)).toMatchObject({ kind: "text", text: "It is written." });
});

it("a child of a background call works on after the end of its parent's turn, and asks from there", async () => {
  const app = await startTeam();
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const page = opened(app.url, id);
  await client.turn(id, "write in the background");
  await expect.poll(() => pathsIn(page.tree)).toEqual(["write c.txt fs_write"]);
  const item = page.view.items.find(({ kind }) => kind === "tool");
  expect(item).toMatchObject({ call: { state: "COMPLETED" }, child: { isBackground: true, end: null } });
  await allowAll(client, page.tree);
  await expect.poll(() => childrenIn(page.view)).toMatchObject([{ end: { outcome: "OK", answer: "It is written." } }]);
  await expect.poll(() => page.counts.open).toBe(1);
});

it("a child that fails and one that is interrupted say so", async () => {
  const started = Promise.withResolvers<void>();
  const think = ownTool("think", () => (started.resolve(), new Promise(() => {})));
  const app = await startTeam({ config: { tools: [think] } });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const page = opened(app.url, id);
  await client.send(id, "fail and think");
  await started.promise;
  await expect.poll(() => childrenIn(page.view).map((child) => childState(child, page.tree))).toEqual(["error", "working"]);
  const [failed, thinking] = childrenIn(page.view);
  expect(failed?.end?.answer).toContain("I begin.");
  const calls = () => page.tree.conversations.get(thinking?.agentId ?? "")?.items;
  await expect.poll(calls).toMatchObject([{ kind: "tool", call: { name: "think", state: "EXECUTING" } }]);
  await client.get(InterruptAgentDocument, { input: { agentId: thinking?.agentId ?? "" } });
  await expect.poll(() => childrenIn(page.view).map((child) => childState(child, page.tree))).toEqual(["error", "interrupted"]);
  await expect.poll(() => page.counts.open).toBe(1);
});

it("sixty children at work are each followed until they return", async () => {
  const app = await startTeam();
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const page = opened(app.url, id);
  await client.send(id, "start 60");
  await expect.poll(() => page.tree.approvals.length, { timeout: 30_000 }).toBe(60);
  expect(page.counts).toEqual({ open: 61 });
  await allowAll(client, page.tree);
  await expect.poll(() => page.view.isWorking, { timeout: 30_000 }).toBe(false);
  expect(new Set(childrenIn(page.view).map(({ end }) => end?.outcome))).toEqual(new Set(["OK"]));
  await expect.poll(() => page.counts).toEqual({ open: 1 });
}, 90_000);
