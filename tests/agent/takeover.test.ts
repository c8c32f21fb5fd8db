import { describe, expect, it } from "vitest";
import type { LeaseTimes } from "../../src/agent/lease.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { calls, hangsAfter, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

/** As if the holder had died: its lease has run out, and a new epoch has begun. */
async function loseLeases(app: TestApp): Promise<void> {
  await app.database.sql.query(
    {
      name: "steal",
      text: "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = NULL, lease_until = NULL WHERE lease_owner IS NOT NULL",
    },
    [],
  );
}

const SHORT: LeaseTimes = { ttlMs: 1_500, renewMs: 100, startMs: 1_000 };

describe("an agent whose owner is gone", () => {
  it("has its running call sealed, never run again, and the turn goes on; the old owner commits nothing (invariants 4 and 5, W2)", async () => {
    let runs = 0;
    const late = Promise.withResolvers<{ output: string; details: null }>();
    const tool = ownTool("effects", () => {
      runs += 1;
      return late.promise;
    });
    const model = playedModel(
      () => calls("effects"),
      () => says("It may have happened."),
    );
    const app = await startTestApp({
      model,
      config: { tools: [tool] },
      template: { permission: { mode: "auto" } },
      overrides: { leaseTimes: SHORT },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    await loseLeases(app);
    const events = await client.until(agent.id, "DONE");
    late.resolve({ output: "too late", details: null });
    expect(textOf(events)).toBe("It may have happened.");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { name: "effects", state: "SEALED" } }]);
    expect(ofType(events, "AgentResumed")).toMatchObject([{ strategy: "CRASH", sealed: [{ name: "effects", state: "SEALED" }] }]);
    const [call] = (await client.agent(agent.id)).toolCalls.nodes;
    expect(JSON.parse(call?.output ?? "")).toMatchObject({
      ok: false,
      _autoSealed: true,
      data: { status: "EXECUTING", toolId: call?.callId },
      recommendations: [expect.any(String), expect.any(String)],
    });
    expect(call).toMatchObject({ state: "SEALED", attempt: 1 });
    expect(runs).toBe(1);
    const [epochs] = await app.database.sql.query<{ contiguous: boolean }>(
      { name: "c", text: "SELECT max(seq) = count(*) AS contiguous FROM event" },
      [],
    );
    expect(epochs).toEqual({ contiguous: true });
  });

  it("has its half-streamed answer closed as aborted, and the step made again", async () => {
    const model = playedModel(
      () => hangsAfter("Half of"),
      () => says("All of it."),
    );
    const app = await startTestApp({ model, overrides: { leaseTimes: SHORT } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    await loseLeases(app);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "TextChunkEnd")).toMatchObject([
      { step: 1, text: "Half of", aborted: true },
      { step: 2, text: "All of it.", aborted: false },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", step: 2 }]);
    expect(model.calls[0]?.signal.aborted).toBe(true);
    expect((await client.agent(agent.id)).messages.nodes.map((message) => message.text)).toEqual(["go", "All of it."]);
  });

  it("is advanced by one server at a time, whatever rings (single-flight)", async () => {
    let running = 0;
    let most = 0;
    const model = playedModel(async function* () {
      running += 1;
      most = Math.max(most, running);
      try {
        yield* says("Hello.");
      } finally {
        running -= 1;
      }
    });
    const app = await startTestApp({ model });
    const other = await startTestApp({ model, database: app.database.config, config: { workspaceRoots: [app.workspace] } });
    const [here, there] = [connect(app.url), connect(other.url)];
    const agent = await here.createAgent();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? here : there).send(agent.id, `message ${index}`)),
    );
    const answered = new Set<string>();
    let since = "0";
    while (answered.size < 20) {
      const events = await here.until(agent.id, "DONE", since);
      for (const done of ofType(events, "Done")) {
        expect(done.reason).toBe("COMPLETED");
        done.messageIds.forEach((id) => answered.add(id));
      }
      since = events.at(-1)?.cursor ?? since;
    }
    expect(most).toBe(1);
    const { messages } = await here.agent(agent.id);
    expect(messages.nodes.filter((message) => message.kind === "USER")).toHaveLength(20);
  });

  it("whose template is gone ends its turn with an error that says so", async () => {
    const model = playedModel(
      () => calls("todo_write"),
      () => says("Hello."),
    );
    const app = await startTestApp({ model, template: { permission: { mode: "approval" } } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await app.database.sql.query({ name: "g", text: "UPDATE agent SET template_id = 'gone'" }, []);
    const events = await client.turn(agent.id, "go");
    expect(ofType(events, "Error")).toMatchObject([
      { phase: "LIFECYCLE", message: expect.stringContaining("the template gone") },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
  });
});
