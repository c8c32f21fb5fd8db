import { expect, it } from "vitest";
import type { TemplateConfig } from "../../src/triplane.ts";
import { globalId, rowId } from "../../src/lib/global-id.ts";
import {
  ArchiveAgentDocument,
  CancelToolCallDocument,
  InterruptAgentDocument,
  WithdrawMessageDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { says } from "../support/models.ts";
import { first, lead, task, teamModel, treeOf, until, worker } from "../support/team.ts";

/** A parent that waits for a child, while another agent has the only place: the child has not begun. */
async function queuedChild() {
  const [mayStart, placeTaken, placeFree] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const model = teamModel({
    lead: [
      async function* (request) {
        await mayStart.promise;
        yield* first(task())(request);
      },
      first(task()),
    ],
    worker: [() => says("Three.")],
    other: [
      async function* () {
        placeTaken.resolve();
        await placeFree.promise;
        yield* says("Ok.");
      },
    ],
  });
  const templates = { assistant: lead, worker, other: { ...worker, systemPrompt: "other" } } as Record<string, TemplateConfig>;
  const app = await startTestApp({ model, config: { templates, agentLimit: 1 } });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  await expect.poll(() => model.calls.length).toBe(1);
  const other = await client.createAgent({ templateId: "other" });
  await client.send(other.id, "go");
  mayStart.resolve();
  await placeTaken.promise;
  const { children } = await until(client, agent.id, (tree) => tree.children.length === 1);
  return { app, client, model, agent, childId: children[0]?.id ?? "", freePlace: () => placeFree.resolve() };
}

const modelCallsOf = (model: ReturnType<typeof teamModel>, system: string) =>
  model.calls.filter(({ request }) => request.system === system).length;

it("a child that has not begun is at work: its parent is not archived, unless the tree is meant, which ends both", async () => {
  const { client, model, agent, freePlace } = await queuedChild();
  const refused = await client.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
  expect(refused.archiveAgent.userErrors).toMatchObject([{ code: "CHILDREN_WORK" }]);
  const done = await client.get(ArchiveAgentDocument, { input: { agentId: agent.id, tree: true } });
  expect(done.archiveAgent.userErrors).toEqual([]);
  freePlace();
  await until(client, agent.id, ({ state, children }) => state === "READY" && children[0]?.doneReason !== null);
  expect(await treeOf(client, agent.id)).toMatchObject({ doneReason: "INTERRUPTED", children: [{ doneReason: "INTERRUPTED" }] });
  expect([modelCallsOf(model, "lead"), modelCallsOf(model, "worker")]).toEqual([1, 0]);
});

it("the task of a child is not withdrawn: its parent waits for the answer", async () => {
  const { app, client, agent, childId, freePlace } = await queuedChild();
  const find = { name: "", text: "SELECT id FROM message WHERE agent_id = $1" };
  const [task] = await app.database.sql.query<{ id: string }, [string]>(find, [rowId("Agent", childId)]);
  const input = { messageId: globalId("Message", task?.id ?? "") };
  const { withdrawMessage } = await client.get(WithdrawMessageDocument, { input });
  expect(withdrawMessage.userErrors).toMatchObject([
    { code: "FORBIDDEN", message: expect.stringMatching(/interruptAgent.*cancelToolCall/) },
  ]);
  freePlace();
  expect(ofType(await client.until(agent.id, "DONE"), "AgentReturned")).toMatchObject([{ outcome: "OK" }]);
});

it("an interrupt of a child that will never begin returns it as interrupted", async () => {
  const { app, client, agent, childId, freePlace } = await queuedChild();
  const withdraw = { name: "", text: "UPDATE message SET withdrawn_at = now() WHERE agent_id = $1" };
  await app.database.sql.query(withdraw, [rowId("Agent", childId)]);
  await client.get(InterruptAgentDocument, { input: { agentId: childId } });
  expect(ofType(await client.until(agent.id, "AGENT_RETURNED"), "AgentReturned")).toMatchObject([{ outcome: "INTERRUPTED" }]);
  freePlace();
  await client.until(agent.id, "DONE");
});

it("a cancelled call ends at once, although no place is free", async () => {
  const { client, agent, freePlace } = await queuedChild();
  const [waiting] = ofType(await client.until(agent.id, "TOOL_WAITING"), "ToolWaiting");
  const input = { callId: waiting?.call.callId ?? "", note: "enough" };
  const { cancelToolCall } = await client.get(CancelToolCallDocument, { input });
  expect(cancelToolCall.userErrors).toEqual([]);
  expect(ofType(await client.events(agent.id), "ToolEnd")).toMatchObject([{ call: { state: "FAILED" } }]);
  freePlace();
  await client.until(agent.id, "DONE");
  await until(client, agent.id, ({ children }) => children[0]?.doneReason === "INTERRUPTED");
});
