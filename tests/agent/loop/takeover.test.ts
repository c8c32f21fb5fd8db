import { InterruptAgentDocument } from "../../generated/documents.ts";
import { embeddedFolder } from "../../support/embedded.ts";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Sql } from "../../../src/db/sql.ts";
import type { ModelEvent } from "../../../src/agent/models/model.ts";
import { beginTerm, LEASE_TIMES } from "../../../src/agent/loop/lease.ts";
import type { LogEvent, Logger } from "../../../src/telemetry/log.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, ofType, textOf } from "../../support/client.ts";
import { testDatabase, testDatabaseUrl } from "../../support/database.ts";
import { heldAgent } from "../../support/held-agent.ts";
import { loseLeases, SHORT_LEASES } from "../../support/lost-leases.ts";
import { calls, hangsAfter, playedModel, says } from "../../support/models.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { testServices } from "../../support/services.ts";
import { aroundStatements } from "../../support/statements.ts";
import { ownTool } from "../../support/tools.ts";

describe("an agent whose owner is gone", () => {
  it("has its running call sealed, never run again, and the turn goes on; the old owner commits nothing (invariants 4 and 5)", async () => {
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
      overrides: { leaseTimes: SHORT_LEASES },
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

  it("is said to go on also if nothing of it broke off: a call that was being judged is judged again (features.md, agent_resumed)", async () => {
    const judged = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const shown: number[] = [];
    let looks = 0;
    const app = await startTestApp({
      model: playedModel(
        () => calls("look"),
        () => says("Seen."),
      ),
      config: { tools: [ownTool("look", () => ({ output: "seen", details: null }))] },
      template: {
        permission: { mode: "auto" },
        hooks: {
          messagesChanged: [(_agentId, messages) => void shown.push(messages.length)],
          preToolUse: [
            () => {
              looks += 1;
              judged[looks - 1]?.resolve();
              return looks === 1 ? new Promise<never>(() => {}) : undefined;
            },
          ],
        },
      },
      overrides: { leaseTimes: SHORT_LEASES },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await judged[0]?.promise;
    const shownBefore = shown.length;
    await loseLeases(app);
    await judged[1]?.promise;
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "AgentResumed")).toMatchObject([{ strategy: "CRASH", sealed: [] }]);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
    // What had grown when the first owner was gone is shown by the next one.
    expect(shown.slice(shownBefore)[0]).toBe(2);
    expect(ofType(await client.turn(agent.id, "again"), "AgentResumed")).toEqual([]);
  });

  it("has its half-streamed answer closed as aborted, and the step made again", async () => {
    const model = playedModel(
      () => hangsAfter("Half of"),
      () => says("All of it."),
    );
    const app = await startTestApp({ model, overrides: { leaseTimes: SHORT_LEASES } });
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

  it("whose template is gone ends its turn with an error that says so, where no other server could know it", async () => {
    const model = playedModel(
      () => calls("todo_write"),
      () => says("Hello."),
    );
    const database = { kind: "embedded", folder: await embeddedFolder() } as const;
    const app = await startTestApp({ database, model, template: { permission: { mode: "approval" } } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await app.database.sql.query({ name: "g", text: "UPDATE agent SET template_id = 'gone'" }, []);
    const events = await client.turn(agent.id, "go");
    expect(ofType(events, "ErrorRaised")).toMatchObject([
      { phase: "LIFECYCLE", message: expect.stringContaining("the template gone") },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
  });

  it("while its template went waits for a server that knows it; an interrupt ends its turn, and it says that another owner took it over", async () => {
    const model = playedModel(() => hangsAfter("Half"));
    const app = await startTestApp({ model, overrides: { leaseTimes: SHORT_LEASES } });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    await app.database.sql.query({ name: "g", text: "UPDATE agent SET template_id = 'gone'" }, []);
    await loseLeases(app);
    await client.get(InterruptAgentDocument, { input: { agentId: agent.id } });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "AgentResumed")).toMatchObject([{ strategy: "CRASH" }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
  });

  it("is gone on with if the database's clock was set back: its lease ends later than any can", async () => {
    const app = await startTestApp({ model: playedModel(() => says("Here.")), overrides: { leaseTimes: SHORT_LEASES } });
    const { sql } = app.database;
    const client = connect(app.url);
    const agent = await client.createAgent();
    const lease = "lease_owner = 'dead', lease_until = now() + interval '1 hour', runnable_at = now() + interval '1 hour'";
    await sql.query({ name: "set back", text: `UPDATE agent SET ${lease}` }, []);
    expect(textOf(await client.turn(agent.id, "go"))).toBe("Here.");
  });
});

describe("an agent that fails as soon as it is claimed", () => {
  it("says so, and is left alone for a while instead of being claimed again and again", async () => {
    let claims = 0;
    let sweeps = 0;
    const counted = (sql: Sql): Sql =>
      aroundStatements(sql, async ({ name }, run) => {
        const rows = await run();
        if (name === "claim_agents") claims += rows.length;
        if (name === "look_for_agents") sweeps += 1;
        return rows;
      });
    const model = playedModel(() => says("Here."));
    const app = await startTestApp({ model, overrides: { sql: counted }, expectsErrors: true });
    const { sql } = app.database;
    const client = connect(app.url);
    const agent = await client.createAgent();
    await sql.query({ name: "refuse", text: "ALTER TABLE message ADD CONSTRAINT refused CHECK (ordinal IS NULL)" }, []);
    await client.send(agent.id, "go");
    const events = await client.until(agent.id, "ERROR");
    expect(ofType(events, "ErrorRaised").map(({ message }) => message)).toEqual([
      expect.stringContaining("the agent could not be advanced"),
    ]);
    const before = sweeps;
    await expect.poll(() => sweeps).toBeGreaterThan(before + 2);
    expect(claims).toBe(1);
    await sql.query({ name: "allow", text: "ALTER TABLE message DROP CONSTRAINT refused" }, []);
    await sql.query({ name: "due", text: "UPDATE agent SET runnable_at = now()" }, []);
    expect(textOf(await client.until(agent.id, "DONE"))).toBe("Here.");
  });
});

it("nothing starts under a lease that ran out while the machine slept: its own clock stood still meanwhile", async () => {
  const { sql } = await testDatabase();
  const agent = await heldAgent(testServices(sql, playedModel()));
  await agent.send("go");
  const { owner } = await agent.hold();
  expect(await owner.awaitStartWindow()).toBe(true);
  const now = Date.now();
  const time = vi.spyOn(Date, "now").mockReturnValue(now + 60_000);
  onTestFinished(() => time.mockRestore());
  let hasStarted = false;
  const starting = owner.awaitStartWindow().then((may) => (hasStarted = may));
  await sql.query({ name: "turn", text: "SELECT 1" }, []);
  expect(hasStarted).toBe(false);
  owner.lease.extend(beginTerm({ leaseTimes: LEASE_TIMES, programMs: Infinity }));
  expect(await starting).toBe(true);
});

describe("an agent whose server is stopped on purpose", () => {
  async function* hangs(): AsyncGenerator<ModelEvent> {
    yield await new Promise<never>(() => {});
  }

  it.for([
    ["in the midst of a text", () => hangsAfter("half of "), "TEXT_CHUNK", ["half of ", "All of it."]],
    ["before the model said a word", hangs, "BREAKPOINT_CHANGED", ["All of it."]],
  ] as const)("%s goes on elsewhere, and its timeline says why it began again", async ([, model, begun, texts]) => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
    const first = await startTestApp({ database, model: playedModel(model) });
    const client = connect(first.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, begun);
    await first.close();
    const config = { workspaceRoots: [first.workspace], defaultWorkspace: first.workspace };
    const told: LogEvent[] = [];
    const logger: Logger = { ...silentLogger, tell: (event) => void told.push(event) };
    const app = await startTestApp({ database, config, model: playedModel(() => says("All of it.")), overrides: { logger } });
    const second = connect(app.url);
    const events = await second.until(agent.id, "DONE");
    expect(ofType(events, "AgentResumed")).toMatchObject([{ strategy: "PLANNED", sealed: [] }]);
    expect(told).toEqual(expect.arrayContaining(["handover"]));
    expect(told).not.toContain("takeover");
    expect(ofType(events, "TextChunkEnd").map(({ text }) => text)).toEqual(texts);
    expect(ofType(await second.turn(agent.id, "again"), "AgentResumed")).toEqual([]);
  });
});
