import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Script } from "../../src/agent/models/script.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const READ_NOTES: Script = {
  replies: [
    { when: { user: "read" }, say: ["I will read it."], call: [{ tool: "fs_read", input: { path: "notes.txt" } }] },
    { when: { result: "fs_read", isError: false }, say: ["It says: {{result}}"] },
    { when: { result: "fs_read" }, say: ["It failed: {{result}}"] },
    { when: { user: "write" }, call: [{ tool: "fs_write", input: { path: "out.txt", content: "written" } }] },
    { when: { result: "fs_write", isError: false }, say: ["Written."] },
    { when: { result: "fs_write" }, say: ["Not written."] },
    { when: {}, say: ["Hello."] },
  ],
};

describe("a turn", () => {
  it("streams text, runs a read, and ends with one DONE that names its message (invariants 6)", async () => {
    const app = await startTestApp({ script: READ_NOTES });
    await writeFile(join(app.workspace, "notes.txt"), "remember the milk");
    const client = connect(app.url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "read the notes");
    expect(textOf(events)).toBe("I will read it.It says: remember the milk");
    const [done] = ofType(events, "Done");
    expect(done).toMatchObject({ reason: "COMPLETED", step: 2 });
    const { messages, state, toolCalls } = await client.agent(agent.id);
    expect(done?.messageIds).toEqual([messages.nodes[0]?.id]);
    expect(state).toBe("READY");
    expect(messages.nodes.map((message) => message.kind)).toEqual(["USER", "ASSISTANT", "TOOL_RESULTS", "ASSISTANT"]);
    expect(toolCalls.nodes[0]).toMatchObject({
      name: "fs_read",
      state: "COMPLETED",
      attempt: 1,
      isError: false,
      details: { path: "notes.txt", offset: 1, limit: 1998, truncated: false, totalLines: 1, content: "remember the milk" },
    });
    expect(toolCalls.nodes[0]?.stages.map((stage) => stage.stage)).toEqual([
      "DISCOVERY",
      "VALIDATION",
      "PERMISSION",
      "CONFIRMATION",
      "EXECUTION",
      "FORMATTING",
    ]);
    expect(toolCalls.nodes[0]?.auditTrail.map((entry) => entry.state)).toEqual(["PENDING", "EXECUTING", "COMPLETED"]);
    expect(toolCalls.nodes[0]?.explanation).toMatchObject({ verdict: "ALLOW", rule: "mode default" });
  });

  it("commits TOOL_START with EXECUTING and one TOOL_END, in the order of their seqs (invariants 5 and 6)", async () => {
    const app = await startTestApp({ script: READ_NOTES });
    await writeFile(join(app.workspace, "notes.txt"), "x");
    const client = connect(app.url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "read the notes");
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + (events[0]?.seq ?? 0)));
    expect(ofType(events, "ToolStart").map((event) => event.call.state)).toEqual(["EXECUTING"]);
    expect(ofType(events, "ToolEnd").map((event) => event.call.state)).toEqual(["COMPLETED"]);
    expect(ofType(events, "ToolExecuted")).toHaveLength(1);
    expect(ofType(events, "ToolError")).toEqual([]);
    expect(ofType(events, "TextChunkEnd").every((event) => !event.aborted)).toBe(true);
  });

  it("starts a tool only after its EXECUTING is committed (invariant 5)", async () => {
    const states: unknown[] = [];
    let app: TestApp | null = null;
    const tool = ownTool("looks", async (_input, { callId }) => {
      states.push(
        await app?.database.sql.query(
          {
            name: "l",
            text: "SELECT t.state, count(e.*)::int AS starts FROM tool_call t LEFT JOIN event e ON e.agent_id = t.agent_id AND e.kind = 'TOOL_START' WHERE t.id = $1 GROUP BY t.state",
          },
          [callId],
        ),
      );
      return { output: "", details: null };
    });
    app = await startTestApp({
      script: {
        replies: [
          { when: { user: "go" }, call: [{ tool: "looks" }] },
          { when: {}, say: ["done"] },
        ],
      },
      config: { tools: [tool] },
    });
    const client = connect(app.url);
    await client.turn((await client.createAgent()).id, "go");
    expect(states).toEqual([[{ state: "EXECUTING", starts: 1 }]]);
  });

  it("asks for a write, waits as rows only, and runs it once it is allowed (invariants 7 and 8)", async () => {
    const app = await startTestApp({ script: READ_NOTES });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "write it");
    const asked = await client.until(
      agent.id,
      "BREAKPOINT_CHANGED",
      (await client.until(agent.id, "PERMISSION_REQUIRED")).at(-1)?.cursor,
    );
    expect(asked.at(-1)).toMatchObject({ breakpoint: "AWAITING_APPROVAL" });
    const [row] = await app.database.sql.query<{ leaseOwner: string | null }>(
      { name: "t", text: `SELECT lease_owner AS "leaseOwner", runnable_at FROM agent` },
      [],
    );
    expect(row).toEqual({ leaseOwner: null, runnable_at: null });
    const { pendingApprovals, state } = await client.agent(agent.id);
    expect(state).toBe("PAUSED");
    const [approval] = pendingApprovals;
    expect(approval).toMatchObject({
      state: "PENDING",
      input: { path: "out.txt", content: "written" },
      risk: "MEDIUM",
      toolCall: { name: "fs_write" },
    });
    const decided = await client.decide({
      approvalId: approval?.id ?? "",
      decision: "ALLOW",
      inputHash: approval?.inputHash ?? "",
      note: "go",
    });
    expect(decided).toMatchObject({
      approval: { state: "ALLOWED", decision: "ALLOW", decidedBy: { actorId: "local" }, note: "go" },
      userErrors: [],
    });
    const events = await client.until(agent.id, "DONE");
    expect(textOf(events)).toBe("Written.");
    expect(ofType(events, "ToolEnd")[0]?.call).toMatchObject({
      state: "COMPLETED",
      approval: { state: "ALLOWED", decision: "ALLOW", note: "go" },
    });
    const { toolCalls } = await client.agent(agent.id);
    expect(toolCalls.nodes[0]?.auditTrail.map((entry) => entry.state)).toEqual([
      "PENDING",
      "APPROVAL_REQUIRED",
      "APPROVED",
      "EXECUTING",
      "COMPLETED",
    ]);
  });

  it("gives a denied call its result, TOOL_START and TOOL_END together, and the model goes on", async () => {
    const app = await startTestApp({ script: READ_NOTES });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "write it");
    const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
    await client.decide({ approvalId: required?.request.approvalId ?? "", decision: "DENY", note: "not today" });
    const events = await client.until(agent.id, "DONE");
    expect(textOf(events)).toBe("Not written.");
    const kinds = events.map((event) => event.kind);
    expect(kinds.slice(kinds.indexOf("PERMISSION_DECIDED"), kinds.indexOf("TOOL_EXECUTED") + 1)).toEqual([
      "PERMISSION_DECIDED",
      "TOOL_START",
      "TOOL_ERROR",
      "TOOL_END",
      "TOOL_EXECUTED",
    ]);
    const { toolCalls } = await client.agent(agent.id);
    expect(toolCalls.nodes[0]).toMatchObject({
      state: "DENIED",
      attempt: 0,
      error: { type: "USER_REJECTED", stage: "CONFIRMATION" },
    });
    expect(toolCalls.nodes[0]?.output).toContain("not today");
  });

  it("answers a second message in the same conversation, and messages sent during a turn at its next step", async () => {
    const app = await startTestApp({ script: READ_NOTES });
    const client = connect(app.url);
    const agent = await client.createAgent();
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
    await client.send(agent.id, "write it");
    await client.until(agent.id, "PERMISSION_REQUIRED");
    const joining = await client.send(agent.id, "and hello again");
    const { pendingApprovals } = await client.agent(agent.id);
    await client.decide({
      approvalId: pendingApprovals[0]?.id ?? "",
      decision: "ALLOW",
      inputHash: pendingApprovals[0]?.inputHash ?? "",
    });
    const events = await client.until(agent.id, "DONE", (await client.until(agent.id, "DONE")).at(-1)?.cursor);
    const [done] = ofType(events, "Done");
    expect(done?.messageIds).toHaveLength(2);
    expect(done?.messageIds).toContain(joining);
  });

  it("that is in its final step leaves a new message to the next turn, and messages of two people at once have an order", async () => {
    const asked = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    const model = playedModel(
      async function* () {
        asked.resolve();
        await sent.promise;
        yield* says("The end.");
      },
      () => says("Both of you."),
    );
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const first = await client.send(agent.id, "go");
    await asked.promise;
    const later = await Promise.all([client.send(agent.id, "from one"), client.send(agent.id, "from another")]);
    sent.resolve();
    const ending = await client.until(agent.id, "DONE");
    const next = await client.until(agent.id, "DONE", ending.at(-1)?.cursor);
    expect(ofType(ending, "Done")).toMatchObject([{ messageIds: [first] }]);
    const [done] = ofType(next, "Done");
    expect(done).toMatchObject({ reason: "COMPLETED" });
    expect(done?.messageIds.toSorted()).toEqual(later.toSorted());
    const received = ofType([...ending, ...next], "MessageReceived").map((event) => event.messageId);
    expect(done?.messageIds).toEqual(received.filter((id) => later.includes(id)));
    expect(model.calls).toHaveLength(2);
  });

  it("ends with MAX_STEPS if the model never stops", async () => {
    const app = await startTestApp({
      script: { replies: [{ when: {}, call: [{ tool: "todo_read" }] }] },
      template: { maxSteps: 4 },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "go");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "MAX_STEPS", step: 4 }]);
    expect(ofType(events, "ToolEnd")).toHaveLength(4);
    const { messages } = await client.agent(agent.id);
    expect(messages.nodes.at(-1)?.kind).toBe("TOOL_RESULTS");
  });

  it("ends with ERROR if the model fails, closes its text as aborted, and works again", async () => {
    const app = await startTestApp({
      script: {
        replies: [
          { when: { user: "fail" }, say: ["I was about to"], fail: "the provider is out" },
          { when: {}, say: ["Hello."] },
        ],
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    const events = await client.turn(agent.id, "fail");
    expect(ofType(events, "ErrorRaised")).toMatchObject([{ severity: "ERROR", phase: "MODEL", message: "the provider is out" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
    expect(textOf(await client.turn(agent.id, "hello"))).toBe("Hello.");
    const { messages } = await client.agent(agent.id);
    expect(messages.nodes.map((message) => message.text)).toEqual(["fail", "hello", "Hello."]);
  });
});
