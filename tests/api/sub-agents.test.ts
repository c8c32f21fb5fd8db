import { describe, expect, it } from "vitest";
import {
  AgentsDocument,
  ArchiveAgentDocument,
  CompleteToolCallDocument,
  DecideApprovalDocument,
  InterruptAgentDocument,
} from "../generated/documents.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { ACTORS, PEOPLE } from "../support/office.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { callsWith, hangsAfter, says } from "../support/models.ts";
import { lead, task, team, teamModel, treeOf, until, worker, type Player } from "../support/team.ts";
import { ownTool } from "../support/tools.ts";

describe("task_run", () => {
  it("starts a child that sees only its prompt, waits for it, and returns its answer", async () => {
    const { client, agent, model } = await team({
      lead: [() => callsWith(task({ context: "There are few." })), () => says("It says three.")],
      worker: [() => says("Three files.")],
    });
    const events = await client.until(agent.id, "DONE");
    expect(textOf(events)).toBe("It says three.");
    const [spawned] = ofType(events, "AgentSpawned");
    expect(spawned).toMatchObject({ description: "count", templateId: "worker", isBackground: false });
    expect(ofType(events, "AgentReturned")).toMatchObject([{ outcome: "OK", answer: "Three files.", childId: spawned?.childId }]);
    const [, ofChild, after] = model.calls.map(({ request }) => JSON.stringify(request.messages));
    expect(ofChild).toContain("Count the files.\\n\\nContext:\\nThere are few.");
    expect(ofChild).not.toContain('"go"');
    expect(after).toContain("Three files.");
    const tree = await treeOf(client, agent.id);
    expect(tree.children).toMatchObject([
      {
        id: spawned?.childId,
        title: "count",
        depth: 1,
        doneReason: "COMPLETED",
        template: { templateId: "worker" },
        workspace: tree.workspace,
      },
    ]);
    expect(tree.treeUsage.totalTokens).toBe(tree.usage.totalTokens + 2);
    expect((await client.get(AgentsDocument, {})).agents.nodes.map(({ id }) => id)).toEqual([agent.id]);
  });

  it("has the result of its child alone: nobody completes it from elsewhere", async () => {
    const hang = Promise.withResolvers<void>();
    const { client, agent } = await team({
      lead: [() => callsWith(task()), () => says("It says three.")],
      worker: [
        async function* () {
          await hang.promise;
          yield* says("Three files.");
        },
      ],
    });
    const [waiting] = ofType(await client.until(agent.id, "TOOL_WAITING"), "ToolWaiting");
    expect(waiting?.waitsFor).toBe("CHILD");
    const callId = waiting?.call.callId ?? "";
    const { completeToolCall } = await client.get(CompleteToolCallDocument, { input: { callId, result: "all passed" } });
    expect(completeToolCall.userErrors).toMatchObject([{ code: "FORBIDDEN", message: expect.stringContaining("interrupt it") }]);
    hang.resolve();
    const [returned] = ofType(await client.until(agent.id, "DONE"), "AgentReturned");
    expect(returned).toMatchObject({ outcome: "OK", answer: "Three files." });
  });

  it("takes the names of other systems, and is told of an agent, a model or a level that there is not", async () => {
    const { client, agent, model } = await team({
      lead: [
        () => callsWith(["task_run", { description: "d", prompt: "p", subagent_type: "worker", model_name: "test" }]),
        () =>
          callsWith(task({ agentTemplateId: "nobody" }), task({ model: "none" }), [
            "task_run",
            { description: "d", prompt: "p" },
          ]),
        () => says("Done."),
      ],
      worker: [() => callsWith(task()), () => says("I have none.")],
    });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["COMPLETED", "FAILED", "FAILED", "FAILED"]);
    const last = JSON.stringify(model.calls.at(-1)?.request.messages);
    expect(last).toContain("the agents are worker");
    expect(last).toContain('there is no model \\"none\\"');
    expect(last).toContain("agentTemplateId");
    // A worker may start nobody: it has no such tool.
    const ofWorker = model.calls.find(({ request }) => request.system === "worker");
    expect(ofWorker?.request.tools.map(({ name }) => name)).not.toContain("task_run");
    expect(JSON.stringify(model.calls.findLast(({ request }) => request.system === "worker")?.request.messages)).toContain(
      "not available to you",
    );
  });

  it("runs several children of one answer concurrently, while the parent holds neither lease nor place", async () => {
    const release = Promise.withResolvers<void>();
    let working = 0;
    const slow: Player = async function* () {
      working += 1;
      await release.promise;
      yield* says("done");
    };
    const { app, client, agent } = await team({
      lead: [() => callsWith(task(), task(), task()), () => says("All.")],
      worker: [slow],
    });
    await expect.poll(() => working).toBe(3);
    const tree = await until(client, agent.id, ({ state }) => state === "PAUSED");
    expect(tree).toMatchObject({ breakpoint: "TOOL_EXECUTING", children: [{}, {}, {}] });
    expect(tree.waitingFor).toMatch(/^the agents count \(.*\), count \(.*\), count \(.*\) to end$/);
    const text = "SELECT lease_owner AS owner FROM agent WHERE parent_id IS NULL";
    expect(await app.services.sql.query({ name: "", text }, [])).toEqual([{ owner: null }]);
    release.resolve();
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "AgentReturned")).toHaveLength(3);
    expect(await app.services.sql.query({ name: "", text: "SELECT kind FROM wait WHERE settled_at IS NULL" }, [])).toEqual([]);
  });

  it("starts no more than may be at work, also of one answer", async () => {
    const release = Promise.withResolvers<void>();
    const slow: Player = async function* () {
      await release.promise;
      yield* says("done");
    };
    const few = { ...lead, toolConcurrency: 8, subagents: { templates: ["worker"], atOnce: 2 } };
    const { client, agent } = await team(
      { lead: [() => callsWith(...Array.from({ length: 6 }, () => task())), () => says("Two.")], worker: [slow] },
      { assistant: few, worker },
    );
    await until(client, agent.id, ({ children }) => children.length === 2);
    await expect.poll(async () => ofType(await client.events(agent.id), "ToolEnd").length).toBe(4);
    release.resolve();
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "AgentSpawned")).toHaveLength(2);
    const failed = ofType(events, "ToolError").map(({ error }) => error);
    expect(failed).toHaveLength(4);
    expect(failed[0]).toContain("2 agents that you have started are at work");
  });

  it("in the background answers with a receipt, and the child's end wakes an idle parent once", async () => {
    const release = Promise.withResolvers<void>();
    const slow: Player = async function* () {
      await release.promise;
      yield* says("Found it.");
    };
    const { client, agent, model } = await team({
      lead: [() => callsWith(task({ background: true })), () => says("It runs."), () => says("It found it.")],
      worker: [slow],
    });
    const first = await client.until(agent.id, "DONE");
    expect(textOf(first)).toBe("It runs.");
    expect(ofType(first, "ToolEnd")).toMatchObject([
      { call: { state: "COMPLETED", output: expect.stringContaining("has started on: count") } },
    ]);
    release.resolve();
    await expect.poll(async () => ofType(await client.events(agent.id), "Done").length).toBe(2);
    const events = await client.events(agent.id);
    expect(ofType(events, "AgentReturned")).toMatchObject([{ outcome: "OK", answer: "Found it." }]);
    expect(ofType(events, "Done").at(-1)).toMatchObject({ reason: "COMPLETED", messageIds: [] });
    expect(JSON.stringify(model.calls.at(-1)?.request.messages)).toContain("has ended (ok):\\nFound it.");
    expect((await treeOf(client, agent.id)).state).toBe("READY");
  });

  it("in the background ends without a break in its parent's answer, which knows of it with the next step", async () => {
    const [childMayEnd, parentMayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { client, agent, model } = await team({
      lead: [
        () => callsWith(task({ background: true })),
        async function* () {
          childMayEnd.resolve();
          await parentMayEnd.promise;
          yield* says("It runs.");
        },
        () => says("It found it."),
      ],
      worker: [
        async function* () {
          await childMayEnd.promise;
          yield* says("Found it.");
        },
      ],
    });
    await expect.poll(async () => ofType(await client.events(agent.id), "AgentReturned").length, { timeout: 10_000 }).toBe(1);
    const ofLead = model.calls.filter(({ request }) => request.system === "lead");
    expect(ofLead).toHaveLength(2);
    expect(ofLead[1]?.signal.aborted).toBe(false);
    parentMayEnd.resolve();
    await expect.poll(async () => ofType(await client.events(agent.id), "Done").length, { timeout: 10_000 }).toBe(2);
    const events = await client.events(agent.id);
    expect(textOf(events)).toBe("It runs.It found it.");
    expect(ofType(events, "Done").map(({ reason }) => reason)).toEqual(["COMPLETED", "COMPLETED"]);
  });

  it("returns what a child said until it failed or was interrupted", async () => {
    const { client, agent, model } = await team({
      lead: [() => callsWith(task()), () => says("Pity.")],
      worker: [() => hangsAfter("I have found two so far")],
    });
    const { children } = await until(client, agent.id, (tree) => tree.children.some(({ state }) => state === "WORKING"));
    const childId = children[0]?.id ?? "";
    await expect.poll(async () => ofType(await client.events(childId), "TextChunk").length).toBe(1);
    await client.get(InterruptAgentDocument, { input: { agentId: childId, note: "enough" } });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "AgentReturned")).toMatchObject([{ outcome: "INTERRUPTED" }]);
    const told = JSON.stringify(model.calls.at(-1)?.request.messages);
    expect(told).toContain("did not complete its task (interrupted)");
    expect(told).toContain("enough");
    expect(told).toContain("I have found two so far");
    expect(textOf(events)).toBe("Pity.");
  });

  it.each([[false], [true]])(
    "returns the note of the interrupt of a child that said nothing (background: %s)",
    async (background) => {
      const { client, agent, model } = await team({
        lead: [() => callsWith(task({ background })), () => says("I see."), () => says("Pity.")],
        worker: [() => hangsAfter("")],
      });
      const { children } = await until(client, agent.id, (tree) => tree.children.some(({ state }) => state === "WORKING"));
      const childId = children[0]?.id ?? "";
      if (background) await client.until(agent.id, "DONE");
      await expect.poll(() => model.calls.some(({ request }) => request.system === "worker")).toBe(true);
      await client.get(InterruptAgentDocument, { input: { agentId: childId, note: "enough" } });
      await expect.poll(async () => ofType(await client.events(agent.id), "AgentReturned").length).toBe(1);
      if (background) await client.send(agent.id, "well?");
      await expect.poll(() => model.calls.filter(({ request }) => request.system === "lead").length).toBe(background ? 3 : 2);
      const told = model.calls
        .at(-1)
        ?.request.messages.map((message) => JSON.stringify(message))
        .join("\n");
      expect(told).toMatch(/has ended \(interrupted\), and said nothing\. [^\n]*enough/);
    },
  );

  it("an interrupt of the parent ends the children that it waits for, down to the last; one of the tree also those in the background", async () => {
    const middle = { ...lead, systemPrompt: "middle", subagents: { templates: ["worker"] } };
    const { app, client, agent } = await team(
      {
        lead: [() => callsWith(task({ agentTemplateId: "middle" }), task({ background: true })), () => says("I was not asked.")],
        middle: [() => callsWith(task())],
        worker: [() => hangsAfter("working")],
      },
      { assistant: { ...lead, subagents: { templates: ["middle", "worker"], depth: 2 } }, middle, worker },
    );
    await until(
      client,
      agent.id,
      (tree) => tree.children.length === 2 && tree.children.some(({ children }) => children.length === 1),
    );
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id } });
    await client.until(agent.id, "DONE");
    const after = await until(client, agent.id, ({ children }) =>
      children.some((child) => child.children.some(({ doneReason }) => doneReason === "INTERRUPTED")),
    );
    const background = after.children.find(({ template }) => template?.templateId === "worker");
    expect(background?.state).toBe("WORKING");
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, tree: true } });
    await until(client, agent.id, ({ children }) => children.every(({ state }) => state === "READY"));
    const open = { name: "", text: "SELECT kind FROM wait WHERE settled_at IS NULL" };
    await expect.poll(async () => app.services.sql.query(open, [])).toEqual([]);
    // An interrupt wants quiet: the parent is told with its next step.
    expect(ofType(await client.events(agent.id), "Done")).toHaveLength(1);
  });

  it("an interrupt of the tree tells the parent of the child that its call waited for, whose effects are unknown", async () => {
    const { client, agent, model } = await team({
      lead: [() => callsWith(task()), () => says("I see.")],
      worker: [() => hangsAfter("I have changed two so far")],
    });
    const { children } = await until(client, agent.id, (tree) => tree.children.some(({ state }) => state === "WORKING"));
    const childId = children[0]?.id ?? "";
    await expect.poll(async () => ofType(await client.events(childId), "TextChunk").length).toBe(1);
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id, tree: true, note: "enough" } });
    await client.until(agent.id, "DONE");
    const [call] = (await client.agent(agent.id)).toolCalls.nodes;
    expect(call).toMatchObject({
      state: "SEALED",
      details: {
        status: "interrupted",
        agentId: rowId("Agent", childId),
        template: "worker",
        usage: { inputTokens: expect.any(Number) },
        permissionIds: [],
        data: { note: expect.stringContaining("enough") },
      },
    });
    await client.turn(agent.id, "and?");
    const told = JSON.stringify(model.calls.at(-1)?.request.messages);
    expect(told).toContain("its effects are unknown");
    expect(told).not.toContain("nothing has changed");
  });

  it("a call that is cancelled ends at once, and its child soon after", async () => {
    const { client, agent } = await team({
      lead: [() => callsWith(task()), () => says("Without.")],
      worker: [() => hangsAfter("…")],
    });
    const { children } = await until(client, agent.id, (tree) => tree.children.some(({ state }) => state === "WORKING"));
    const [waiting] = ofType(await client.events(agent.id), "ToolWaiting");
    await client.post({
      query: `mutation { cancelToolCall(input: { callId: "${waiting?.call.callId}" }) { userErrors { code } } }`,
    });
    expect(textOf(await client.until(agent.id, "DONE"))).toBe("Without.");
    await until(client, agent.id, (tree) => tree.children[0]?.doneReason === "INTERRUPTED");
    expect(children).toHaveLength(1);
  });

  it("is not archived while a child works, unless the tree is meant; children go with the root", async () => {
    const { client, agent } = await team({
      lead: [() => callsWith(task({ background: true })), () => says("It runs.")],
      worker: [() => hangsAfter("…")],
    });
    await client.until(agent.id, "DONE");
    await until(client, agent.id, (tree) => tree.children.some(({ state }) => state === "WORKING"));
    const refused = await client.get(ArchiveAgentDocument, { input: { agentId: agent.id } });
    expect(refused.archiveAgent.userErrors).toMatchObject([
      { code: "CHILDREN_WORK", message: expect.stringMatching(/^an agent below it is at work: /) },
    ]);
    const done = await client.get(ArchiveAgentDocument, { input: { agentId: agent.id, tree: true } });
    expect(done.archiveAgent.userErrors).toEqual([]);
    await until(
      client,
      agent.id,
      ({ archivedAt, children }) =>
        archivedAt !== null && children.every((child) => child.archivedAt !== null && child.state === "READY"),
    );
  });
});

describe("the permission of a child", () => {
  const tools = [ownTool("write", () => "written", false)];
  const states = async (client: TestClient, id: string) =>
    ofType(await client.events(id), "ToolEnd").map(({ call }) => call.state);

  it.each([
    ["a mode that reads only", { mode: "readonly" as const }, "DENIED"],
    ["a deny rule about files", { mode: "auto" as const, deny: ["fs_write(path:**)"] }, "DENIED"],
    ["no tools of its own but to delegate", { mode: "auto" as const, allowTools: ["task_run"] }, "COMPLETED"],
    ["a denied tool, which it may not use itself", { mode: "auto" as const, deny: ["fs_write"] }, "COMPLETED"],
  ])("is bounded by that of all above: %s", async (_what, permission, state) => {
    const players = {
      lead: [() => callsWith(task({ agentTemplateId: "middle" })), () => says("End.")],
      middle: [() => callsWith(task()), () => says("Middle.")],
      worker: [() => callsWith(["fs_write", { path: "a.txt", content: "x" }]), () => says("Worker.")],
    };
    const templates = {
      assistant: { ...lead, permission, subagents: { templates: ["middle"], depth: 2 } },
      middle: { ...lead, systemPrompt: "middle", subagents: { templates: ["worker"] } },
      worker,
    };
    const { client, agent } = await team(players, templates);
    await client.until(agent.id, "DONE");
    const tree = await treeOf(client, agent.id);
    expect(await states(client, tree.children[0]?.children[0]?.id ?? "")).toEqual([state]);
  });

  it("lets only a person's decision answer what a child asks; the requester of the root asked for it (four eyes)", async () => {
    const model = teamModel({
      lead: [() => callsWith(task()), () => says("End.")],
      worker: [() => callsWith(["write", {}]), () => says("Written.")],
    });
    const templates = {
      assistant: { ...lead, selfApproval: false } as TemplateConfig,
      worker: { ...worker, selfApproval: false, permission: { mode: "approval" } } as TemplateConfig,
    };
    const app = await startTestApp({ model, config: { ...ACTORS, templates, tools } });
    const [anna, pia] = [connect(app.url, PEOPLE.anna.token), connect(app.url, PEOPLE.pia.token)];
    const agent = await pia.createAgent();
    await pia.send(agent.id, "go");
    const { children } = await until(pia, agent.id, (tree) =>
      tree.children.some(({ pendingApprovals }) => pendingApprovals.length > 0),
    );
    const [approval] = children[0]?.pendingApprovals ?? [];
    const input = { approvalId: approval?.id ?? "", decision: "ALLOW", inputHash: approval?.inputHash ?? "" } as const;
    // She asked the root: what the child asks for is her request.
    expect((await pia.get(DecideApprovalDocument, { input })).decideApproval.userErrors).toMatchObject([
      { code: "SELF_APPROVAL" },
    ]);
    expect((await anna.get(DecideApprovalDocument, { input })).decideApproval.userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
    const paul = connect(app.url, PEOPLE.paul.token);
    expect((await paul.get(DecideApprovalDocument, { input })).decideApproval.userErrors).toEqual([]);
    expect(textOf(await pia.until(agent.id, "DONE"))).toBe("End.");
  });
});
