import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import { NO_TOKENS, type ModelEvent } from "../../../src/agent/models/model.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { ownTool } from "../../support/tools.ts";

/** Calls a tool that makes a link, and one that writes below it, in one answer. */
async function* linksAndWrites(): AsyncGenerator<ModelEvent> {
  yield { type: "tool_use", block: 0, id: "a", name: "link", arguments: "{}" };
  yield {
    type: "tool_use",
    block: 1,
    id: "b",
    name: "fs_write",
    arguments: JSON.stringify({ path: "notes/hook", content: "written" }),
  };
  yield { type: "end", stopReason: "tool_use", usage: { ...NO_TOKENS, inputTokens: 1, outputTokens: 1 } };
}

it("a verdict does not outlive a sibling that may have changed what it was about (invariant 14)", async () => {
  const link = defineTool<Record<string, never>>({
    name: "link",
    description: "Replaces the folder notes by a link.",
    readOnly: false,
    inputSchema: { type: "object", required: [], properties: {} },
    run: async (_input, { workspace }) => {
      await symlink(join(workspace.root, "closed"), join(workspace.root, "notes"));
      return { output: "linked", details: null };
    },
  });
  const app = await startTestApp({
    model: playedModel(linksAndWrites, () => says("done")),
    config: { tools: [link] },
    template: { trace: true, permission: { mode: "approval", allow: ["link", "fs_write(path:notes/hook)"] } },
  });
  await mkdir(join(app.workspace, "closed"));
  await writeFile(join(app.workspace, "closed", "hook"), "as before");
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  const events = await client.until(agent.id, "PERMISSION_REQUIRED");
  expect(ofType(events, "PermissionRequired")).toMatchObject([{ request: { call: { name: "fs_write" } } }]);
  expect(await readFile(join(app.workspace, "closed", "hook"), "utf8")).toBe("as before");
  // It went through the gate twice, and its row has both passages; it entered the gate once.
  const all = await client.events(agent.id);
  const { toolCalls } = await client.agent(agent.id);
  const written = toolCalls.nodes.find(({ name }) => name === "fs_write");
  expect(written?.stages.map(({ stage }) => stage)).toEqual(
    ofType(all, "StageStarted").flatMap(({ callId, stage }) => (callId === written?.callId ? [stage] : [])),
  );
  expect(written?.stages.filter(({ stage }) => stage === "PERMISSION")).toHaveLength(2);
  expect(ofType(all, "ExecutionStarted")).toHaveLength(2);
});

it("nor does one that was being formed while the sibling ran (invariant 14)", async () => {
  let world = "before";
  const hookLooks = Promise.withResolvers<void>();
  const changeMayEnd = Promise.withResolvers<void>();
  const hookMayEnd = Promise.withResolvers<void>();
  const tool = (name: string, run: () => Promise<void>) =>
    defineTool<Record<string, never>>({
      name,
      description: name,
      readOnly: false,
      inputSchema: { type: "object", required: [], properties: {} },
      run: async () => {
        await run();
        return { output: name, details: null };
      },
    });
  async function* changesAndActs(): AsyncGenerator<ModelEvent> {
    yield { type: "tool_use", block: 0, id: "a", name: "change", arguments: "{}" };
    yield { type: "tool_use", block: 1, id: "b", name: "act", arguments: "{}" };
    yield { type: "end", stopReason: "tool_use", usage: { ...NO_TOKENS, inputTokens: 1, outputTokens: 1 } };
  }
  let looks = 0;
  const app = await startTestApp({
    model: playedModel(changesAndActs, () => says("done")),
    config: {
      tools: [
        tool("change", async () => {
          await changeMayEnd.promise;
          world = "changed";
        }),
        tool("act", () => Promise.resolve()),
      ],
    },
    template: {
      permission: { mode: "approval", allow: ["change"] },
      hooks: {
        preToolUse: [
          async ({ name }) => {
            if (name !== "act") return undefined;
            looks += 1;
            const seen = world;
            if (looks === 2) {
              hookLooks.resolve();
              await hookMayEnd.promise;
            }
            return seen === "changed" ? { decision: "deny", reason: "the world has changed" } : undefined;
          },
        ],
      },
    },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  const [asked] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
  if (asked === undefined) throw new Error("act is asked about");
  await client.decide({ approvalId: asked.request.approvalId, decision: "ALLOW", inputHash: asked.request.inputHash });
  await hookLooks.promise;
  changeMayEnd.resolve();
  await client.until(agent.id, "TOOL_END");
  hookMayEnd.resolve();
  const ends = ofType(await client.until(agent.id, "DONE"), "ToolEnd");
  expect(ends.map(({ call }) => [call.name, call.state])).toEqual([
    ["change", "COMPLETED"],
    ["act", "DENIED"],
  ]);
});

it("a call that was judged, parked behind its sibling's approval and judged again is traced as its row has it", async () => {
  const free = ownTool("free", () => ({ output: "x", details: null }), false);
  const asked = ownTool("asked", () => ({ output: "x", details: null }), false);
  const clock = movableClock();
  const app = await startTestApp({
    model: playedModel(
      () => calls("asked", "free", "asked"),
      () => says("done"),
    ),
    config: { tools: [free, asked] },
    template: { trace: true, permission: { mode: "auto", requireApprovalTools: ["asked"] } },
    overrides: { clock },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  await expect.poll(async () => (await client.agent(agent.id)).pendingApprovals.length).toBe(2);
  for (const decision of ["ALLOW", "DENY"] as const) {
    await clock.passHours(1);
    const [approval] = (await client.agent(agent.id)).pendingApprovals;
    const { userErrors } = await client.decide({
      approvalId: approval?.id ?? "",
      decision,
      ...(decision === "ALLOW" ? { inputHash: approval?.inputHash ?? "" } : {}),
    });
    expect(userErrors).toEqual([]);
  }
  await client.until(agent.id, "DONE");
  const all = await client.events(agent.id);
  const { toolCalls } = await client.agent(agent.id);
  expect(toolCalls.nodes.map(({ state }) => state).toSorted((a, b) => a.localeCompare(b))).toEqual([
    "COMPLETED",
    "COMPLETED",
    "DENIED",
  ]);
  for (const { callId, name, stages } of toolCalls.nodes) {
    const ofCall = <Event extends { readonly callId: string | null }>(events: readonly Event[]): readonly Event[] =>
      events.filter((event) => event.callId === callId);
    expect(ofCall(ofType(all, "ExecutionStarted"))).toHaveLength(1);
    expect([...ofCall(ofType(all, "ExecutionCompleted")), ...ofCall(ofType(all, "ExecutionFailed"))]).toHaveLength(1);
    const passed = stages.map(({ stage }) => stage);
    expect(
      ofCall(ofType(all, "StageCompleted")).map(({ stage }) => stage),
      name,
    ).toEqual(passed);
    expect(ofCall(ofType(all, "StageStarted")).map(({ stage }) => stage)).toEqual(passed);
    const longest = Math.max(...stages.flatMap(({ stage, durationMs }) => (stage === "CONFIRMATION" ? [durationMs] : [])));
    if (name === "asked") expect(longest).toBeGreaterThanOrEqual(3_600_000);
    else expect(longest).toBeLessThan(3_600_000);
  }
});
