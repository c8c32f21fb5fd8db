import { describe, expect, it } from "vitest";
import { InterruptAgentDocument } from "../generated/documents.ts";
import { clockOf } from "../support/clock.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { calls, hangsAfter, playedModel, says } from "../support/models.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { ownTool } from "../support/tools.ts";
import { aroundWrites, beforeCommit, goesTo } from "../support/writes.ts";

async function interrupt(client: TestClient, agentId: string, note: string | null = null): Promise<void> {
  const { interruptAgent } = await client.get(InterruptAgentDocument, { input: { agentId, note } });
  expect(interruptAgent.userErrors).toEqual([]);
}

/** A model that never begins to answer. */
function saysNothing(): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
}

describe("interruptAgent", () => {
  it("leaves an idle agent as it is, and the next message works", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    await interrupt(client, agent.id);
    expect(textOf(await client.turn(agent.id, "hi"))).toBe("Hello.");
    await interrupt(client, agent.id);
    const events = await client.turn(agent.id, "hi again");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("answers the place of the request, however far the log has come since", async () => {
    const app = await startTestApp({
      model: playedModel(saysNothing),
      overrides: {
        sql: (sql) =>
          aroundWrites(sql, async ({ change }, write) => {
            const rows = await write();
            if (change?.interrupt !== undefined) await client.createAgent();
            return rows;
          }),
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const { interruptAgent } = await client.get(InterruptAgentDocument, { input: { agentId: agent.id, note: null } });
    const [requested] = ofType(await client.events(agent.id), "InterruptRequested");
    expect(interruptAgent.cursor).toBe(requested?.cursor);
  });

  it("while the model streams aborts its request at once, also one that ignores it, and closes the text", async () => {
    const model = playedModel(
      () => hangsAfter("I was about to"),
      () => says("Hello."),
    );
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    await interrupt(client, agent.id);
    const events = await client.until(agent.id, "DONE");
    expect(model.calls[0]?.signal.aborted).toBe(true);
    expect(ofType(events, "TextChunkEnd")).toMatchObject([{ text: "I was about to", aborted: true }]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(textOf(await client.turn(agent.id, "hi"))).toBe("Hello.");
    expect(JSON.stringify(model.calls[1]?.request.messages)).not.toContain("I was about to");
  });

  it("during tools fires their signal, and each call has one result (invariant 6)", async () => {
    const signals: AbortSignal[] = [];
    const hang = (name: string, readOnly: boolean) =>
      ownTool(
        name,
        (_input, { signal }) => {
          signals.push(signal);
          return new Promise<never>(() => {});
        },
        readOnly,
      );
    const model = playedModel(
      () => calls("first", "second", "later"),
      () => says("Hello."),
    );
    const app = await startTestApp({
      model,
      config: { tools: [hang("first", true), hang("second", true), hang("later", false)] },
      template: { permission: { mode: "auto" } },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    await interrupt(client, agent.id, "enough");
    const events = await client.until(agent.id, "DONE");
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true]);
    expect(ofType(events, "ToolEnd").map((event) => [event.call.name, event.call.state, event.call.error?.type])).toEqual([
      ["first", "FAILED", "ABORTED"],
      ["second", "FAILED", "ABORTED"],
      ["later", "SEALED", "ABORTED"],
    ]);
    expect(textOf(await client.turn(agent.id, "hi"))).toBe("Hello.");
    const results = model.calls[1]?.request.messages.flatMap((message) =>
      message.content.filter((block) => block.type === "tool_result"),
    );
    expect(results?.map((block) => block.tool_use_id)).toEqual(["call-first-0", "call-second-1", "call-later-2"]);
    expect(JSON.stringify(results)).toContain("enough");
  });

  it("while a hook looks at a call stops the waiting for it, and seals the call with the note", async () => {
    const looking = Promise.withResolvers<void>();
    let runs = 0;
    const tool = ownTool("effect", () => {
      runs += 1;
      return { output: "ran", details: null };
    });
    const hook = (): Promise<undefined> => {
      looking.resolve();
      return new Promise<never>(() => {});
    };
    const app = await startTestApp({
      model: playedModel(
        () => calls("effect"),
        () => says("Hello."),
      ),
      config: { tools: [tool] },
      template: { permission: { mode: "auto" }, hooks: { preToolUse: [hook] } },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await looking.promise;
    await interrupt(client, agent.id, "enough");
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toMatchObject([
      { call: { state: "SEALED", error: { message: expect.stringContaining("enough") } } },
    ]);
    expect(ofType(events, "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(runs).toBe(0);
  });

  it("lets nothing start that its owner had decided to start before (invariant 14)", async () => {
    let runs = 0;
    const tool = ownTool("effect", () => {
      runs += 1;
      return { output: "ran", details: null };
    });
    let late: () => Promise<void> = async () => {};
    const app = await startTestApp({
      model: playedModel(
        () => calls("effect"),
        () => says("Hello."),
      ),
      config: { tools: [tool] },
      template: { permission: { mode: "auto" } },
      overrides: {
        sql: (sql) =>
          beforeCommit(
            sql,
            (change) => goesTo("EXECUTING", change),
            () => late(),
          ),
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    late = () => interrupt(client, agent.id, "stop");
    await client.send(agent.id, "go");
    const events = await client.until(agent.id, "DONE");
    expect(runs).toBe(0);
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "SEALED" } }]);
    expect(ofType(events, "InterruptRequested")).toMatchObject([{ note: "stop", requestedBy: { kind: "USER" } }]);
  });

  it("whose answer was lost is not done again to the next turn", async () => {
    let afterwards: () => Promise<void> = async () => {};
    let isLost = false;
    const app = await startTestApp({
      model: playedModel(
        () => hangsAfter("first"),
        () => says("second"),
      ),
      overrides: {
        sql: (sql) =>
          aroundWrites(sql, async ({ change }, write) => {
            const rows = await write();
            if (change?.interrupt === undefined || isLost) return rows;
            isLost = true;
            await afterwards();
            throw Object.assign(new Error("Connection terminated unexpectedly"), { code: "08006" });
          }),
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    let firstEnd: string | undefined;
    afterwards = async () => {
      app.wake({ agentId: rowId("Agent", agent.id), tenant: "local" });
      firstEnd = (await client.until(agent.id, "DONE")).at(-1)?.cursor;
      await client.send(agent.id, "next");
    };
    await interrupt(client, agent.id);
    await client.until(agent.id, "DONE", firstEnd);
    const events = await client.events(agent.id);
    expect(ofType(events, "Done").map(({ reason }) => reason)).toEqual(["INTERRUPTED", "COMPLETED"]);
    expect(ofType(events, "InterruptRequested")).toHaveLength(1);
  });

  it.each([
    ["while the model speaks", () => hangsAfter("I was about to")],
    ["before the model says anything", saysNothing],
  ] as const)("%s: its note is read by the model in the next turn, and is nobody's message", async (_name, first) => {
    const model = playedModel(first, () => says("Hello."));
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await expect.poll(() => model.calls.length).toBe(1);
    await interrupt(client, agent.id, "use the other folder");
    await client.until(agent.id, "DONE");
    const events = await client.turn(agent.id, "on");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED", messageIds: [expect.any(String)] }]);
    expect(JSON.stringify(model.calls.at(-1)?.request.messages)).toContain("use the other folder");
  });

  it("that comes while the last answer is committed interrupts nothing, and its note is read in the next turn", async () => {
    const model = playedModel(
      () => says("Done."),
      () => says("Hello."),
    );
    let late: () => Promise<void> = async () => {};
    const app = await startTestApp({
      model,
      overrides: {
        sql: (sql) =>
          beforeCommit(
            sql,
            ({ stepEnd }) => stepEnd?.state === "COMPLETED",
            () => late(),
          ),
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    late = async () => {
      await interrupt(client, agent.id, "use the other folder");
      await interrupt(client, agent.id, "and the other file");
      // A part of what was said before is a note of its own; the same again is not.
      await interrupt(client, agent.id, "the other");
      await interrupt(client, agent.id, "and the other file");
    };
    expect(ofType(await client.turn(agent.id, "go"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(ofType(await client.turn(agent.id, "on"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    const read = JSON.stringify(model.calls.at(-1)?.request.messages);
    expect(read).toContain("use the other folder");
    expect(read.split("and the other file")).toHaveLength(2);
    await client.turn(agent.id, "further");
    expect(JSON.stringify(model.calls.at(-1)?.request.messages).split("use the other folder")).toHaveLength(2);
  });

  it.for([
    ["before it", "INTERRUPTED", ["message", "interrupt"]],
    ["between two of them", "INTERRUPTED", ["interrupt", "message", "interrupt"]],
    ["behind it", "COMPLETED", ["interrupt", "message"]],
  ] as const)(
    "that comes while the last answer is committed, with a message that was sent %s: the turn of the message is %s (invariant 14)",
    async ([, reason, order]) => {
      let runs = 0;
      // Each step is a server's whose clock is behind that of the one before: commits decide what was first.
      let behindMs = 0;
      const clock = clockOf(() => new Date(Date.now() - behindMs));
      const tool = ownTool("effect", async () => ({ output: `run ${(runs += 1)}`, details: null }));
      const model = playedModel(
        () => says("Done."),
        () => calls("effect"),
        () => says("Hello."),
      );
      let late: () => Promise<void> = async () => {};
      const app = await startTestApp({
        model,
        config: { tools: [tool] },
        template: { permission: { mode: "auto" } },
        overrides: {
          clock,
          sql: (sql) =>
            beforeCommit(
              sql,
              ({ stepEnd }) => stepEnd?.state === "COMPLETED",
              () => late(),
            ),
        },
      });
      const client = connect(app.url);
      const agent = await client.createAgent();
      late = async () => {
        late = async () => {};
        for (const step of order) {
          await (step === "message" ? client.send(agent.id, "second") : interrupt(client, agent.id));
          behindMs += 10_000;
        }
      };
      const [first] = ofType(await client.turn(agent.id, "go"), "Done");
      const [second] = ofType(await client.until(agent.id, "DONE", first?.cursor), "Done");
      expect([first?.reason, second?.reason]).toEqual(["COMPLETED", reason]);
      expect(runs).toBe(reason === "COMPLETED" ? 1 : 0);
      // The interrupt has ended one turn at most.
      expect(ofType(await client.turn(agent.id, "third"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    },
  );

  it("of two people during a tool tells both their notes", async () => {
    const tool = ownTool("slow", () => new Promise<never>(() => {}));
    const model = playedModel(
      () => calls("slow"),
      () => says("Hello."),
    );
    const asked = Promise.withResolvers<void>();
    const app = await startTestApp({
      model,
      config: { tools: [tool] },
      template: { permission: { mode: "auto" } },
      overrides: {
        sql: (sql) =>
          beforeCommit(
            sql,
            (change) => goesTo("FAILED", change),
            () => asked.promise,
          ),
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    await Promise.all([interrupt(client, agent.id, "first note"), interrupt(client, agent.id, "second note")]);
    asked.resolve();
    await client.until(agent.id, "DONE");
    await client.turn(agent.id, "on");
    const read = JSON.stringify(model.calls.at(-1)?.request.messages);
    expect(read).toContain("first note");
    expect(read).toContain("second note");
  });

  it("without a note leaves the conversation as it is", async () => {
    const model = playedModel(
      () => hangsAfter("…"),
      () => says("Hello."),
    );
    const app = await startTestApp({ model });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    await interrupt(client, agent.id);
    await client.until(agent.id, "DONE");
    await client.turn(agent.id, "on");
    expect(model.calls.at(-1)?.request.messages).toMatchObject([
      {
        role: "user",
        content: [
          { type: "text", text: "go" },
          { type: "text", text: "on" },
        ],
      },
    ]);
  });

  it("during tools raises no alarm, and runs no post hook: nothing has failed", async () => {
    let hooks = 0;
    const app = await startTestApp({
      model: playedModel(
        () => calls("hangs"),
        () => says("Hello."),
      ),
      config: { tools: [ownTool("hangs", () => new Promise<never>(() => {}))] },
      template: { permission: { mode: "auto" }, hooks: { postToolUse: [() => void (hooks += 1)] } },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TOOL_START");
    await interrupt(client, agent.id);
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "FAILED", error: { type: "ABORTED" } } }]);
    expect(ofType(events, "ErrorRaised")).toEqual([]);
    expect(hooks).toBe(0);
  });

  it("twice is once", async () => {
    const app = await startTestApp({
      model: playedModel(
        () => hangsAfter("…"),
        () => says("Hello."),
      ),
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    await client.until(agent.id, "TEXT_CHUNK");
    await Promise.all([interrupt(client, agent.id), interrupt(client, agent.id)]);
    await client.until(agent.id, "DONE");
    expect(ofType(await client.turn(agent.id, "hi"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("on a server that is not the owner aborts the owner's request", async () => {
    const model = playedModel(
      () => hangsAfter("I was"),
      () => says("Hello."),
    );
    const owner = await startTestApp({ model });
    const other = await startTestApp({ model, database: owner.database.config, config: { workspaceRoots: [owner.workspace] } });
    const [here, there] = [connect(owner.url), connect(other.url)];
    const agent = await here.createAgent();
    await here.send(agent.id, "go");
    await there.until(agent.id, "TEXT_CHUNK");
    await interrupt(there, agent.id);
    expect(ofType(await there.until(agent.id, "DONE"), "Done")).toMatchObject([{ reason: "INTERRUPTED" }]);
    expect(model.calls[0]?.signal.aborted).toBe(true);
    expect(textOf(await there.turn(agent.id, "hi"))).toBe("Hello.");
  });

  it("together with a decision: one of them is first, the call has one result, and the turn ends once", async () => {
    const runs: string[] = [];
    const tool = ownTool(
      "effect",
      (_input, { callId }) => {
        runs.push(callId);
        return Promise.resolve({ output: "ran", details: null });
      },
      false,
    );
    const model = playedModel(...Array.from({ length: 20 }, () => () => calls("effect")));
    const app = await startTestApp({
      model,
      config: { tools: [tool] },
      template: { permission: { mode: "approval" }, maxSteps: 1 },
    });
    const client = connect(app.url);
    for (let round = 0; round < 20; round += 1) {
      const agent = await client.createAgent();
      await client.send(agent.id, "go");
      const [required] = ofType(await client.until(agent.id, "PERMISSION_REQUIRED"), "PermissionRequired");
      const { approvalId = "", inputHash = "" } = required?.request ?? {};
      const [decided] = await Promise.all([
        client.decide({ approvalId, inputHash, decision: "ALLOW" }),
        interrupt(client, agent.id),
      ]);
      const events = await client.until(agent.id, "DONE");
      const ends = ofType(events, "ToolEnd");
      expect(ends).toHaveLength(1);
      const { callId = "", state } = ends[0]?.call ?? {};
      expect(runs.filter((run) => run === callId)).toHaveLength(state === "COMPLETED" ? 1 : 0);
      expect(["COMPLETED", "SEALED", "FAILED"]).toContain(state);
      if (decided.userErrors.length > 0) expect(decided.userErrors).toMatchObject([{ code: "SEALED" }]);
      expect((await client.agent(agent.id)).pendingApprovals).toEqual([]);
    }
  });
});
