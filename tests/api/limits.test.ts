import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ToolSlots } from "../../src/agent/calls/slots.ts";
import { Workspace } from "../../src/agent/workspace/workspace.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import { InterruptAgentDocument, KeptOutputsDocument } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type PageEvent } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

async function turnWith(tools: readonly Tool[], options: TestAppOptions = {}) {
  const model = playedModel(
    () => calls(...tools.map(({ name }) => name)),
    () => says("Done."),
  );
  const app = await startTestApp({
    model,
    ...options,
    template: { permission: { mode: "auto" }, ...options.template },
    config: { tools, ...options.config },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  return { app, client, agent };
}

describe("outputs that are too long", () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ✓`).join("\n");
  const speaks = (name: string, keeps: "head" | "tail", output: string): Tool =>
    defineTool<Record<string, never>>({
      name,
      description: "x",
      readOnly: true,
      keeps,
      inputSchema: { type: "object", required: [], properties: {} },
      run: () => ({ output, details: null }),
    });

  it("the model reads the head, or the tail if the tool says so, and the whole is kept and read in pieces", async () => {
    const { app, client, agent } = await turnWith([
      speaks("reads", "head", lines),
      speaks("commands", "tail", lines),
      speaks("small", "tail", "all of it"),
    ]);
    await client.turn(agent.id, "go");
    const bytes = Buffer.byteLength(lines);
    const kept = async (offset: number, size: number) =>
      (await client.get(KeptOutputsDocument, { agentId: agent.id, offset, bytes: size })).toolCalls.nodes;
    const byName = new Map((await kept(0, 65_536)).map((call) => [call.name, call]));
    expect(byName.get("reads")?.output).toMatch(/^line 0 ✓\n[^]*\[truncated: the first \d+ of \d+ bytes\]$/);
    expect(byName.get("commands")?.output).toMatch(/^\[truncated: the last \d+ of \d+ bytes\]\n[^]*line 4999 ✓$/);
    expect(byName.get("commands")?.output?.split("\n")).toHaveLength(2_001);
    expect(byName.get("small")).toMatchObject({ output: "all of it", keptOutput: null });
    expect(byName.get("reads")?.keptOutput?.bytes).toBe(bytes);

    let whole = "";
    for (let offset: number | null = 0; offset !== null;) {
      const piece: { text: string; nextOffset: number | null } | null | undefined = (await kept(offset, 9_999)).find(
        ({ name }) => name === "commands",
      )?.keptOutput?.piece;
      whole += piece?.text ?? "";
      offset = piece?.nextOffset ?? null;
    }
    expect(whole).toBe(lines);
    // The folder is the server's own, even if it lies in a workspace.
    const tools = new Workspace(app.workspace, () => null, app.services.closedFolders);
    expect(() => tools.resolve(".data/outputs/x.txt")).toThrow(/server's own/);
    expect(tools.isClosed(join(app.workspace, ".data/outputs"))).toBe(true);
    await rm(join(app.workspace, ".data/outputs"), { recursive: true });
    expect((await kept(0, 100)).find(({ name }) => name === "reads")?.keptOutput).toEqual({ bytes, piece: null });
  });
});

describe("how much runs at once", () => {
  /** A tool that says when it runs, and ends when the test says so. */
  function held() {
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
    const { promise: isRunning, resolve: begin } = Promise.withResolvers<void>();
    const tool = ownTool("held", async () => {
      begin();
      await isOver;
      return { output: "held", details: null };
    });
    return { tool, isRunning, end };
  }

  it("a call that finds no place in time is refused with tool_busy, and the turn goes on", async () => {
    const { tool, isRunning, end } = held();
    const quick = ownTool("quick", () => ({ output: "quick", details: null }));
    const { client, agent } = await turnWith([tool, quick], { config: { toolLimits: { running: 1, waitMs: 50 } } });
    await client.send(agent.id, "go");
    await isRunning;
    let busy: PageEvent | undefined;
    for await (const page of client.timeline({ agentId: agent.id, since: "0" })) {
      busy = ofType(page.events, "ToolEnd").find(({ call }) => call.name === "quick");
      if (busy) break;
    }
    expect(busy).toMatchObject({ call: { state: "FAILED", error: { type: "TOOL_BUSY", stage: "EXECUTION" } } });
    end();
    expect(ofType(await client.until(agent.id, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect((await client.agent(agent.id)).toolCalls.nodes.map(({ state, attempt }) => [state, attempt])).toEqual([
      ["COMPLETED", 1],
      ["FAILED", 0],
    ]);
  });

  it("a call waits for its place, across agents, and runs when there is one; an interrupt ends the waiting", async () => {
    const { tool, isRunning, end } = held();
    const quick = ownTool("quick", () => ({ output: "quick", details: null }));
    const model = playedModel(
      () => calls("held"),
      () => calls("quick"),
      () => calls("quick"),
      () => says("Done."),
    );
    const app = await startTestApp({
      model,
      config: { tools: [tool, quick], toolLimits: { running: 1 } },
      template: { permission: { mode: "auto" } },
    });
    const client = connect(app.url);
    const [first, second, third] = [await client.createAgent(), await client.createAgent(), await client.createAgent()];
    await client.send(first.id, "go");
    await isRunning;
    for (const { id } of [second, third]) {
      await client.send(id, "go");
      await client.until(id, "STEP_COMPLETE");
    }
    await expect.poll(() => app.services.slots.load).toEqual({ running: 1, waiting: 2 });
    await client.get(InterruptAgentDocument, { input: { agentId: third.id } });
    expect(ofType(await client.until(third.id, "DONE"), "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect((await client.agent(third.id)).toolCalls.nodes).toMatchObject([{ state: "SEALED", attempt: 0 }]);
    end();
    for (const { id } of [first, second])
      expect(ofType(await client.until(id, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    await expect.poll(() => app.services.slots.load).toEqual({ running: 0, waiting: 0 });
  });

  it("a call that waits when the server closes does not start, and the close does not wait for its place", async () => {
    const { tool, isRunning, end } = held();
    let runs = 0;
    const quick = ownTool("quick", () => {
      runs += 1;
      end();
      return { output: "quick", details: null };
    });
    const { app, client, agent } = await turnWith([tool, quick], { config: { toolLimits: { running: 1 } } });
    await client.send(agent.id, "go");
    await isRunning;
    await expect.poll(() => app.services.slots.load.waiting).toBe(1);
    const closing = app.close();
    await expect.poll(() => app.services.slots.load.waiting).toBe(0);
    end();
    await closing;
    expect(runs).toBe(0);
    expect(app.services.slots.load).toEqual({ running: 0, waiting: 0 });
  });

  it("who has a place of a tenant always waits for one of the server, and no longer than the tenant's calls may wait", async () => {
    const server = new ToolSlots({ running: 2, waiting: 1, waitMs: 60_000 });
    const tenant = new ToolSlots({ running: 9, waiting: 8, waitMs: 60_000 }, server);
    const hasty = new ToolSlots({ running: 2, waiting: 8, waitMs: 1 }, server);
    const { signal } = new AbortController();
    const others = [server.tryTake(), server.tryTake()];
    expect(tenant.tryTake()).toBeNull();
    const taken = [tenant.take(signal), tenant.take(signal), tenant.take(signal)];
    expect(await hasty.take(signal)).toBeNull();
    // Those of a tenant do not take the room of calls that are of none, nor stand in line without end.
    taken.push(server.take(signal));
    expect(await server.take(signal)).toBeNull();
    expect(server.load).toEqual({ running: 2, waiting: 4 });
    expect(tenant.load).toEqual({ running: 2, waiting: 1 });
    for (const permit of others) permit?.release();
    for (const index of [0, 1, 3, 2]) {
      const permit = await taken[index];
      expect(permit).not.toBeNull();
      permit?.release();
      permit?.release();
    }
    expect([server.load, tenant.load, hasty.load]).toEqual(Array.from({ length: 3 }, () => ({ running: 0, waiting: 0 })));
    const leaving = new AbortController();
    const last = [server.tryTake(), server.tryTake()];
    const left = tenant.take(leaving.signal);
    leaving.abort();
    expect(await left).toBeNull();
    for (const permit of last) permit?.release();
    expect(server.load).toEqual({ running: 0, waiting: 0 });
  });

  it("a call of a tenant waits for the server no longer than the server lets calls wait", async () => {
    const server = new ToolSlots({ running: 1, waiting: 0, waitMs: 1 });
    const tenant = new ToolSlots({ running: 1, waiting: 8, waitMs: 60_000 }, server);
    const other = server.tryTake();
    expect(await tenant.take(new AbortController().signal)).toBeNull();
    expect(tenant.load).toEqual({ running: 0, waiting: 0 });
    other?.release();
  });

  it("places are given in order, once each, and not to more than may wait", async () => {
    const slots = new ToolSlots({ running: 1, waiting: 2, waitMs: 60_000 });
    const { signal } = new AbortController();
    const first = slots.tryTake();
    const order: string[] = [];
    const waiting = ["a", "b"].map(async (name) => {
      const slot = await slots.take(signal);
      order.push(name);
      return slot;
    });
    expect(slots.tryTake()).toBeNull();
    expect(await slots.take(signal)).toBeNull();
    first?.release();
    first?.release();
    (await waiting[0])?.release();
    (await waiting[1])?.release();
    expect(order).toEqual(["a", "b"]);
    expect(slots.load).toEqual({ running: 0, waiting: 0 });
  });
});

describe("a call that is made again with the same mistake", () => {
  it("is noticed and said to the model; other mistakes, other turns and calls that are right are not", async () => {
    const model = playedModel(
      () => callsWith({ pth: "a" }),
      () => callsWith({ pth: "a" }, { pth: "b" }),
      () => callsWith({ pth: "a" }),
      () => says("Done."),
      () => callsWith({ pth: "a" }),
      () => says("Done."),
    );
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    await client.turn(agent.id, "again");
    const said = (await client.agent(agent.id)).toolCalls.nodes.map(
      ({ output }) => /exactly this call (once|\d+ times)/.exec(output ?? "")?.[1] ?? null,
    );
    expect(said).toEqual([null, "once", null, "2 times", null]);
  });

  async function* callsWith(...inputs: readonly object[]) {
    for (const [block, input] of inputs.entries())
      yield { type: "tool_use", block, id: `call-${block}`, name: "fs_read", arguments: JSON.stringify(input) } as const;
    yield {
      type: "end",
      stopReason: "tool_use",
      usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
    } as const;
  }
});

describe("the pipeline's events, for templates that trace", () => {
  const kindsOf = (events: readonly PageEvent[]): string[] =>
    events
      .filter(({ kind }) => /^(EXECUTION|STAGE)_/.test(kind))
      .map((event) => ("stage" in event ? `${event.kind} ${event.stage}` : event.kind));
  const stage = (name: string): string[] => [`STAGE_STARTED ${name}`, `STAGE_COMPLETED ${name}`];

  it("tell each stage of a call that runs, in order, and its end in the transaction of its TOOL_END", async () => {
    const { client, agent } = await turnWith([ownTool("plain", () => ({ output: "x", details: null }))], {
      template: { trace: true },
    });
    const events = await client.turn(agent.id, "go");
    expect(kindsOf(events)).toEqual([
      "EXECUTION_STARTED",
      ...["DISCOVERY", "VALIDATION", "PERMISSION", "CONFIRMATION", "EXECUTION", "FORMATTING"].flatMap(stage),
      "EXECUTION_COMPLETED",
    ]);
    const end = events.findIndex(({ kind }) => kind === "EXECUTION_COMPLETED");
    expect(events[end + 1]?.kind).toBe("TOOL_END");
  });

  it("tell what failed, was denied or was interrupted, and nothing without trace", async () => {
    const fails = ownTool("fails", () => {
      throw new Error("x");
    });
    const failed = await turnWith([fails], { template: { trace: true } });
    const events = await failed.client.turn(failed.agent.id, "go");
    expect(ofType(events, "ExecutionFailed")).toMatchObject([
      { failure: { type: "EXECUTION_FAILED", stage: "EXECUTION", isRetryable: true }, tool: "fails" },
    ]);
    const denied = await turnWith([fails], { template: { trace: true, permission: { mode: "deny" } } });
    expect(kindsOf(await denied.client.turn(denied.agent.id, "go"))).toEqual([
      "EXECUTION_STARTED",
      ...["DISCOVERY", "VALIDATION", "PERMISSION"].flatMap(stage),
      "EXECUTION_FAILED",
    ]);
    const asked = await turnWith([fails], { template: { trace: true, permission: { mode: "approval" } } });
    await asked.client.send(asked.agent.id, "go");
    await asked.client.until(asked.agent.id, "PERMISSION_REQUIRED");
    await asked.client.get(InterruptAgentDocument, { input: { agentId: asked.agent.id } });
    expect(kindsOf(await asked.client.until(asked.agent.id, "DONE")).at(-1)).toBe("EXECUTION_ABORTED");
    const silent = await turnWith([fails]);
    expect(kindsOf(await silent.client.turn(silent.agent.id, "go"))).toEqual([]);
  });
});

describe("JSON that a client gives", () => {
  const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

  it("is nested at most 100 levels deep, as a variable, within an input and in the document", async () => {
    const client = connect((await startTestApp()).url);
    const { id } = await client.createAgent();
    const explain =
      'query($id: ID!, $input: JSON!) { explainPermission(agentId: $id, tool: "fs_read", input: $input) { problems { code } } }';
    const decide = "mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { userErrors { code } } }";
    const decision = (levels: number) => ({
      input: { approvalId: "x", decision: "ALLOW", inputHash: "x", input: nested(levels) },
    });
    const inDocument = (levels: number) =>
      explain.replace(", $input: JSON!", "").replace("$input", `${"[".repeat(levels)}${"]".repeat(levels)}`);
    const refused = { errors: [{ message: expect.stringContaining("100 levels deep"), extensions: { code: "BAD_USER_INPUT" } }] };
    for (const levels of [101, 2_000]) {
      expect(await client.post({ query: explain, variables: { id, input: { path: nested(levels - 1) } } })).toMatchObject(
        refused,
      );
      expect(await client.post({ query: decide, variables: decision(levels) })).toMatchObject(refused);
    }
    for (const levels of [101, 1_000]) {
      const { errors } = await client.post({ query: inDocument(levels), variables: { id } });
      expect(errors).toMatchObject([{ message: expect.stringContaining("100 levels deep") }]);
    }
    const asked = { data: { explainPermission: { problems: [{ code: "INVALID" }] } }, errors: [] };
    expect(await client.post({ query: explain, variables: { id, input: nested(100) } })).toMatchObject(asked);
    expect(await client.post({ query: inDocument(100), variables: { id } })).toMatchObject(asked);
    expect(await client.post({ query: decide, variables: decision(100) })).toMatchObject({ errors: [] });
  });
});
