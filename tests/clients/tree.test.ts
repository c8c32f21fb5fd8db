import { expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import { CONVERSATION, type Conversation } from "../../clients/src/conversation.ts";
import { iterate, ResumeError } from "../../clients/src/index.ts";
import type { TimelineView } from "../../clients/src/timeline-view.ts";
import { childrenOf, childState, TREE, type Tree } from "../../clients/src/tree.ts";
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
  const page = { view: CONVERSATION.empty, tree: TREE.empty };
  const follow = async <Page, View>({ document, empty, after }: TimelineView<Page, View>, tell: (view: View) => void) => {
    let view = empty;
    const request = { query: document, variables: { agentId, since: "0" } };
    for await (const { data, errors } of iterate<{ timeline: Page }>(transport, request)) {
      if (errors) throw new Error(JSON.stringify(errors));
      if (data) tell((view = after(view, data.timeline)));
    }
  };
  const failed = (error: unknown): void => {
    if (!(error instanceof ResumeError && error.code === "DISPOSED")) throw error;
  };
  follow(CONVERSATION, (view) => (page.view = view)).catch(failed);
  follow(TREE, (tree) => (page.tree = tree)).catch(failed);
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
  await expect.poll(() => childrenIn(page.view).filter(({ end }) => end === null).length).toBe(2);
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
    await expect.poll(() => shown.tree.approvals).toEqual([]);
  }
  expect(childrenIn(page.view)).toMatchObject([
    { end: { outcome: "OK", answer: "There is a folder." }, isBackground: false },
    { end: { outcome: "OK", answer: "It is written." } },
    { end: { outcome: "OK", answer: "A worker said: It is written." } },
  ]);
  expect(page.view).toEqual(again.view);
  expect(page.tree).toEqual(again.tree);
  const delegate = childrenIn(page.view).at(-1)?.agentId ?? "";
  expect(childrenOf(delegate, page.tree)).toMatchObject([{ description: "write b.txt", end: { answer: "It is written." } }]);
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
  await client.get(InterruptAgentDocument, { input: { agentId: thinking?.agentId ?? "" } });
  await expect.poll(() => childrenIn(page.view).map((child) => childState(child, page.tree))).toEqual(["error", "interrupted"]);
});

it("sixty children at work are shown, and what each asks, until they return", async () => {
  const app = await startTeam();
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const page = opened(app.url, id);
  await client.send(id, "start 60");
  await expect.poll(() => page.tree.approvals.length, { timeout: 30_000 }).toBe(60);
  await allowAll(client, page.tree);
  await expect.poll(() => page.view.isWorking, { timeout: 30_000 }).toBe(false);
  expect(new Set(childrenIn(page.view).map(({ end }) => end?.outcome))).toEqual(new Set(["OK"]));
}, 90_000);
