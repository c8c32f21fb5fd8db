import { describe, expect, it } from "vitest";
import { CancelledCallDocument, CancelToolCallDocument } from "../generated/documents.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";
import { beforeCommit, goesTo } from "../support/writes.ts";

const cancel = async (client: TestClient, callId: string, note: string | null = null) =>
  (await client.get(CancelToolCallDocument, { input: { callId, note } })).cancelToolCall;
const cancelled = async (client: TestClient, callId: string) => (await client.get(CancelledCallDocument, { callId })).toolCall;

/** The call's own ids, in the order of the events. */
const callIds = async (client: TestClient, agentId: string, kind: "TOOL_START" | "PERMISSION_REQUIRED", count: number) => {
  let ids: string[] = [];
  await expect
    .poll(async () => {
      const events = await client.events(agentId);
      ids =
        kind === "TOOL_START"
          ? ofType(events, "ToolStart").map(({ call }) => call.callId)
          : ofType(events, "PermissionRequired").flatMap(({ request }) => request.call?.callId ?? []);
      return ids.length;
    })
    .toBe(count);
  return ids;
};

describe("cancelToolCall", () => {
  it("ends one of two that run: its signal fires, it is FAILED with `aborted`, and the turn goes on with the other", async () => {
    const release = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const slow = ownTool("slow", (_input, { signal }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return new Promise<never>(() => {});
    });
    const fine = ownTool("fine", async () => ({ output: String(await release.promise), details: null }));
    const model = playedModel(
      () => calls("slow", "fine"),
      () => says("I go on."),
    );
    const client = connect((await startTestApp({ model, config: { tools: [slow, fine] } })).url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const [callId = ""] = await callIds(client, agent.id, "TOOL_START", 2);
    expect(await cancel(client, callId, "it hangs")).toMatchObject({ toolCall: { callId }, userErrors: [] });
    await client.until(agent.id, "TOOL_END");
    expect(await cancelled(client, callId)).toMatchObject({
      state: "FAILED",
      output: expect.stringContaining("A person cancelled the call: it hangs"),
      details: { errorType: "aborted", note: "it hangs" },
      error: { type: "ABORTED", stage: "EXECUTION" },
      auditTrail: [
        { state: "PENDING", by: null },
        { state: "EXECUTING" },
        { state: "FAILED", note: "it hangs", by: { actorId: "local" } },
      ],
    });
    expect(reasons).toMatchObject([{ name: "AbortError" }]);
    expect(await cancel(client, callId)).toMatchObject({ userErrors: [] });
    release.resolve();
    const events = await client.until(agent.id, "DONE");
    expect(textOf(events)).toBe("I go on.");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(ofType(events, "ToolEnd").map(({ call }) => [call.name, call.state])).toEqual([
      ["slow", "FAILED"],
      ["fine", "COMPLETED"],
    ]);
    expect(ofType(events, "ToolCancelRequested")).toMatchObject([
      { callId, note: "it hangs", requestedBy: { actorId: "local" } },
    ]);
    expect(ofType(events, "ErrorRaised")).toEqual([]);
    expect(JSON.stringify(model.calls[1]?.request.messages)).toContain("it hangs");
  });

  it("ends one that waits for a person, closes its question, and the agent that was parked goes on", async () => {
    let runs = 0;
    const effect = ownTool(
      "effect",
      () => {
        runs += 1;
        return { output: "ran", details: null };
      },
      false,
    );
    const model = playedModel(
      () => calls("effect"),
      () => says("Then not."),
    );
    const app = await startTestApp({ model, config: { tools: [effect] }, template: { permission: { mode: "ask" } } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const [callId = ""] = await callIds(client, agent.id, "PERMISSION_REQUIRED", 1);
    await expect.poll(async () => (await client.agent(agent.id)).state).toBe("PAUSED");
    await cancel(client, callId);
    const events = await client.until(agent.id, "DONE");
    expect(textOf(events)).toBe("Then not.");
    expect(await cancelled(client, callId)).toMatchObject({
      state: "FAILED",
      output: expect.stringContaining("It was not run"),
      details: { recommendations: ["It was not run: do as its message says."] },
      error: { type: "ABORTED", stage: "CONFIRMATION" },
      approvals: [{ state: "SEALED" }],
    });
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalState: "SEALED", note: "the call was cancelled" }]);
    expect(runs).toBe(0);
  });

  it("lets a call not start that its owner had decided to start before (invariant 14)", async () => {
    let runs = 0;
    const effect = ownTool("effect", () => {
      runs += 1;
      return { output: "ran", details: null };
    });
    let client: TestClient | null = null;
    const app = await startTestApp({
      model: playedModel(
        () => calls("effect"),
        () => says("Then not."),
      ),
      config: { tools: [effect] },
      // What hooks look at is stored before they do.
      template: { permission: { mode: "auto" }, hooks: { preToolUse: [() => undefined] } },
      overrides: {
        sql: (sql) =>
          beforeCommit(
            sql,
            (change) => goesTo("EXECUTING", change),
            async () => {
              const query = "{ toolCalls(first: 1) { nodes { callId } } }";
              const { data } = await (client as TestClient).post<{ toolCalls: { nodes: { callId: string }[] } }>({ query });
              await cancel(client as TestClient, data?.toolCalls.nodes[0]?.callId ?? "");
            },
          ),
      },
    });
    client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "FAILED", error: { type: "ABORTED" } } }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(runs).toBe(0);
  });

  it("is refused for a call that has ended, and to who may not steer the agent (invariant 12)", async () => {
    const fine = ownTool("fine", () => ({ output: "fine", details: null }));
    const model = playedModel(
      () => calls("fine"),
      () => says("Done."),
    );
    const app = await startTestApp({ model, config: { ...NEIGHBOURS, tools: [fine] } });
    const anna = connect(app.url, "anna-token");
    const agent = await anna.createAgent();
    const callId = ofType(await anna.turn(agent.id, "go"), "ToolEnd")[0]?.call.callId ?? "";
    for (const [who, code] of [
      ["anna", "ALREADY_ENDED"],
      ["ben", "NOT_FOUND"],
      ["vera", "FORBIDDEN"],
      ["zoe", "NOT_FOUND"],
    ] as const)
      expect(await cancel(connect(app.url, `${who}-token`), callId)).toMatchObject({
        toolCall: null,
        userErrors: [{ code, field: ["callId"] }],
      });
    expect(await cancel(anna, "nonsense")).toMatchObject({ userErrors: [{ code: "NOT_FOUND" }] });
    expect(await cancel(anna, callId, "x".repeat(5_000))).toMatchObject({ userErrors: [{ code: "TOO_LARGE", field: ["note"] }] });
    expect(ofType(await anna.events(agent.id), "ToolCancelRequested")).toEqual([]);
  });
});
