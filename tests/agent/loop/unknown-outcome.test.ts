import { describe, expect, it } from "vitest";
import type { ToolLimits } from "../../../src/agent/calls/slots.ts";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import type { TemplateConfig } from "../../../src/triplane.ts";
import { StandstillDocument, type DecideApprovalInput } from "../../generated/documents.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { loseLeases, SHORT_LEASES } from "../../support/lost-leases.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { ownTool } from "../../support/tools.ts";

/** An agent whose server "died" while its call ran. The first run of the tool hangs, later ones answer. */
async function broken(
  options: {
    idempotent?: boolean;
    template?: Partial<TemplateConfig>;
    toolLimits?: ToolLimits;
    hangs?: number;
    calls?: readonly string[];
  } = {},
) {
  let runs = 0;
  const tool = defineTool<{ target?: string }>({
    name: "deploy",
    description: "x",
    readOnly: false,
    idempotent: options.idempotent ?? false,
    inputSchema: { type: "object", required: [], properties: { target: { type: "string", nullable: true } } },
    run: () => {
      runs += 1;
      return runs <= (options.hangs ?? 1) ? new Promise(() => {}) : { output: `run ${runs}`, details: { runs } };
    },
  });
  const model = playedModel(
    () => calls(...(options.calls ?? ["deploy"])),
    () => says("Settled."),
  );
  const clock = movableClock();
  const app = await startTestApp({
    model,
    config: {
      tools: [tool, ownTool("asked", () => ({ output: "x", details: null }), false)],
      ...(options.toolLimits === undefined ? {} : { toolLimits: options.toolLimits }),
    },
    template: { permission: { mode: "auto" }, ...options.template },
    overrides: { leaseTimes: SHORT_LEASES, clock },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  await client.until(agent.id, "TOOL_START");
  await loseLeases(app);
  return { app, client, agent, model, clock, runs: () => runs };
}

/** The open question, and a way to answer it. */
async function asked(client: TestClient, agentId: string) {
  const events = await client.until(agentId, "PERMISSION_REQUIRED");
  const request = ofType(events, "PermissionRequired")[0]?.request;
  if (request === undefined) throw new Error("nobody was asked");
  const decide = (input: Omit<DecideApprovalInput, "approvalId">) => client.decide({ approvalId: request.approvalId, ...input });
  return { request, decide, events };
}

const ASKS = { template: { unknownOutcome: "ask" } } as const;

describe("a call whose server died while it ran (invariant 5)", () => {
  it("of an idempotent tool runs again, with one TOOL_START and one TOOL_END, and its attempts counted", async () => {
    const { client, agent, runs } = await broken({ idempotent: true });
    const events = await client.until(agent.id, "DONE");
    expect(runs()).toBe(2);
    expect(ofType(events, "ToolStart")).toHaveLength(1);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED", output: "run 2" } }]);
    expect(ofType(events, "AgentResumed")).toMatchObject([{ strategy: "CRASH", sealed: [] }]);
    expect((await client.agent(agent.id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED", attempt: 2 }]);
  });

  it("is not judged again when it has ended, while another call of the same answer is open", async () => {
    let judged = 0;
    const { client, agent, runs } = await broken({
      idempotent: true,
      calls: ["deploy", "asked"],
      template: {
        permission: { mode: "auto", requireApprovalTools: ["asked"] },
        hooks: { preToolUse: [({ name }) => void (name === "deploy" && (judged += 1))] },
      },
    });
    await expect.poll(runs).toBe(2);
    await client.until(agent.id, "TOOL_END");
    await expect.poll(async () => (await client.get(StandstillDocument, { id: agent.id })).agent?.state).toBe("PAUSED");
    await client.send(agent.id, "and?");
    await expect.poll(async () => (await client.get(StandstillDocument, { id: agent.id })).agent?.state).toBe("PAUSED");
    expect(judged).toBe(2);
  });

  it("of an idempotent tool that takes its server with it each time is sealed in the end", async () => {
    const { app, client, agent, runs } = await broken({ idempotent: true, hangs: 3 });
    for (const expected of [2, 3]) {
      await expect.poll(runs).toBe(expected);
      await loseLeases(app);
    }
    const events = await client.until(agent.id, "DONE");
    expect(runs()).toBe(3);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
  });

  it("is sealed with the changes that the same answer would have made after it; what only reads runs", async () => {
    const { client, agent, runs, model } = await broken({ calls: ["deploy", "deploy", "todo_read", "asked"] });
    const events = await client.until(agent.id, "DONE");
    expect(runs()).toBe(1);
    expect(ofType(events, "ToolEnd").map(({ call }) => [call.name, call.state])).toEqual(
      expect.arrayContaining([
        ["deploy", "SEALED"],
        ["deploy", "SEALED"],
        ["todo_read", "COMPLETED"],
        ["asked", "SEALED"],
      ]),
    );
    expect(ofType(events, "ToolStart")).toHaveLength(4);
    expect(ofType(events, "AgentResumed")).toMatchObject([{ strategy: "CRASH", sealed: [{}, {}, {}] }]);
    const results = JSON.stringify(model.calls.at(-1)?.request.messages);
    expect(results).toContain("It had no effect.");
    expect(results).toContain("a call before it in the same answer broke off");
  });

  it("lets the others of its answer go on after a person has said what came of it", async () => {
    const { client, agent, runs } = await broken({ ...ASKS, calls: ["deploy", "deploy"] });
    const { request, decide } = await asked(client, agent.id);
    expect(runs()).toBe(1);
    await decide({ decision: "DONE", inputHash: request.inputHash, result: "it went well" });
    const events = await client.until(agent.id, "DONE");
    expect(runs()).toBe(2);
    expect(ofType(events, "ToolEnd").map(({ call }) => call.state)).toEqual(["COMPLETED", "COMPLETED"]);
  });

  it("is asked about if the template wants that, and DONE gives the model the person's result", async () => {
    const { client, agent, model, runs } = await broken(ASKS);
    const { request, decide, events } = await asked(client, agent.id);
    expect(request).toMatchObject({ kind: "OUTCOME_UNKNOWN", call: { name: "deploy", state: "APPROVAL_REQUIRED" } });
    expect(ofType(events, "ToolEnd")).toEqual([]);
    await expect
      .poll(async () => (await client.get(StandstillDocument, { id: agent.id })).agent)
      .toMatchObject({ state: "PAUSED", breakpoint: "AWAITING_APPROVAL", waitingFor: "a person to say what came of deploy" });
    expect(await decide({ decision: "ALLOW", inputHash: request.inputHash })).toMatchObject({
      userErrors: [{ code: "INVALID" }],
    });
    expect(await decide({ decision: "DONE" })).toMatchObject({ userErrors: [{ code: "INVALID", field: ["result"] }] });
    expect(await decide({ decision: "DONE", result: "deployed as version 7", note: "looked" })).toMatchObject({
      userErrors: [],
      approval: { state: "RESOLVED", decision: "DONE" },
    });
    const all = await client.until(agent.id, "DONE");
    expect(textOf(all)).toBe("Settled.");
    expect(ofType(all, "AgentResumed")).toMatchObject([{ strategy: "MANUAL", sealed: [] }]);
    expect(ofType(all, "ToolStart")).toHaveLength(1);
    expect(ofType(all, "ToolEnd")).toMatchObject([
      { call: { state: "COMPLETED", output: "deployed as version 7", isError: false } },
    ]);
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain("deployed as version 7");
    expect(runs()).toBe(1);
    // Decided once.
    expect(await decide({ decision: "DONE", result: "deployed as version 7" })).toMatchObject({ userErrors: [] });
    expect(await decide({ decision: "DONE", result: "rolled back" })).toMatchObject({
      userErrors: [{ code: "ALREADY_DECIDED" }],
    });
    expect(await decide({ decision: "FAIL" })).toMatchObject({ userErrors: [{ code: "ALREADY_DECIDED" }] });
  });

  it("runs again if a person says RETRY, bound to the hash of its input (invariant 7)", async () => {
    const { client, agent, runs } = await broken(ASKS);
    const { request, decide } = await asked(client, agent.id);
    expect(await decide({ decision: "RETRY" })).toMatchObject({ userErrors: [{ code: "INVALID", field: ["inputHash"] }] });
    expect(await decide({ decision: "RETRY", inputHash: "other" })).toMatchObject({ userErrors: [{ code: "HASH_MISMATCH" }] });
    expect(await decide({ decision: "RETRY", inputHash: request.inputHash })).toMatchObject({ userErrors: [] });
    const events = await client.until(agent.id, "DONE");
    expect(runs()).toBe(2);
    expect(ofType(events, "ToolStart")).toHaveLength(1);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED", output: "run 2" } }]);
    expect((await client.agent(agent.id)).toolCalls.nodes).toMatchObject([{ attempt: 2 }]);
  });

  it("does not run again with another input than the one that was hashed, and is sealed (invariants 5 and 7)", async () => {
    let judged = 0;
    const rewrites = () => ({ input: { target: `environment ${(judged += 1)}` } });
    const { client, agent, runs } = await broken({
      template: { unknownOutcome: "ask", hooks: { preToolUse: [rewrites] } },
    });
    const { request, decide } = await asked(client, agent.id);
    expect(await decide({ decision: "RETRY", inputHash: request.inputHash })).toMatchObject({ userErrors: [] });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
    expect((await client.agent(agent.id)).toolCalls.nodes[0]?.output).toContain("not what it was when the call ran");
    expect(runs()).toBe(1);
  });

  it("that finds no place when it is to run again is sealed, not FAILED: it has run (invariant 5)", async () => {
    const { app, client, agent, runs } = await broken({ ...ASKS, toolLimits: { running: 1, waiting: 1, waitMs: 50 } });
    const { request, decide } = await asked(client, agent.id);
    await expect.poll(() => app.services.slots.load.running).toBe(0);
    const slot = app.services.slots.tryTake();
    expect(await decide({ decision: "RETRY", inputHash: request.inputHash })).toMatchObject({ userErrors: [] });
    const events = await client.until(agent.id, "DONE");
    slot?.release();
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
    expect(runs()).toBe(1);
  });

  it("is asked about again if the server dies again", async () => {
    const { app, client, agent, runs } = await broken({ ...ASKS, hangs: 2 });
    const { request, decide, events } = await asked(client, agent.id);
    await decide({ decision: "RETRY", inputHash: request.inputHash });
    await expect.poll(runs).toBe(2);
    await loseLeases(app);
    const again: string[] = [];
    for await (const page of client.timeline({ agentId: agent.id, since: events.at(-1)?.cursor ?? "0" })) {
      again.push(...ofType(page.events, "PermissionRequired").map((event) => event.request.approvalId));
      if (again.length > 0) break;
    }
    expect(await client.decide({ approvalId: again[0] ?? "", decision: "FAIL" })).toMatchObject({ userErrors: [] });
    const all = await client.until(agent.id, "DONE");
    expect(ofType(all, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
    expect(runs()).toBe(2);
  });

  it("is sealed, as of unknown outcome, by FAIL, by expiry and by an interrupt", async () => {
    const failed = await broken(ASKS);
    await (await asked(failed.client, failed.agent.id)).decide({ decision: "FAIL", note: "it did nothing" });
    const expired = await broken({ template: { unknownOutcome: "ask", approvalExpiresMs: 60_000 } });
    await asked(expired.client, expired.agent.id);
    await expired.clock.passHours(1, [expired.app.database]);
    const interrupted = await broken(ASKS);
    await asked(interrupted.client, interrupted.agent.id);
    await interrupted.client.post({
      query: "mutation($id: ID!) { interruptAgent(input: { agentId: $id }) { userErrors { code } } }",
      variables: { id: interrupted.agent.id },
    });
    for (const { client, agent, runs } of [failed, expired, interrupted]) {
      const events = await client.until(agent.id, "DONE");
      expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED", isError: true } }]);
      const [call] = (await client.agent(agent.id)).toolCalls.nodes;
      expect(JSON.parse(call?.output ?? "")).toMatchObject({ _autoSealed: true, data: { status: "EXECUTING" } });
      expect(runs()).toBe(1);
    }
  });
});
