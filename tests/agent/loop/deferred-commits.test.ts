import { describe, expect, it } from "vitest";
import type { Actor } from "../../../src/agent/actors/actor.ts";
import { withdrawMessage } from "../../../src/agent/commands/messages.ts";
import { Observers } from "../../../src/agent/conversation/observers.ts";
import { eventsOnly } from "../../../src/agent/loop/commits/commit.ts";
import { NO_NEWS } from "../../../src/agent/loop/commits/files-changed.ts";
import { Interrupt, WakeUp } from "../../../src/lib/signals.ts";
import { StepRunner } from "../../../src/agent/loop/step.ts";
import { startTurn } from "../../../src/agent/loop/turn.ts";
import { ToolSlots, type ToolPermit } from "../../../src/agent/calls/slots.ts";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf } from "../../support/held-agent.ts";
import { bodies, everything, readAll } from "../../support/log.ts";
import { calls, playedModel, says } from "../../support/models.ts";
import { testServices } from "../../support/services.ts";
import { ownTool } from "../../support/tools.ts";

/** An agent of these services that has one message, and its loop. */
async function begun(...[model, tools, template]: DropFirst<Parameters<typeof testServices>>) {
  const { sql } = await testDatabase();
  const services = testServices(sql, model, tools, { permission: permissionOf({ mode: "auto" }), ...template });
  const agent = await heldAgent(services);
  await agent.send("go");
  return { services, hold: agent.hold, events: () => readAll(services.log, everything("one")) };
}

const ANNA: Actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"], delegators: [] };

type DropFirst<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest] ? Rest : never;

describe("what ends beside the loop, and is committed with what it does next", () => {
  it("is not taken for a crash if the next call finds no place (invariant 5)", async () => {
    const slots = new ToolSlots({ running: 1, waiting: 8, waitMs: 5_000 });
    let runs = 0;
    let others: Promise<ToolPermit | null> = Promise.resolve(null);
    const tool = defineTool<Record<string, never>>({
      name: "own",
      description: "x",
      readOnly: false,
      idempotent: true,
      inputSchema: { type: "object", required: [], properties: {} },
      run: () => {
        runs += 1;
        // Somebody else is in line for its place.
        if (runs === 1) others = slots.take(new AbortController().signal);
        return { output: `run ${runs}`, details: null };
      },
    });
    const model = playedModel(
      () => calls("own", "own"),
      () => says("Done."),
    );
    const { services, hold, events } = await begun(model, [tool]);
    const ended = Promise.withResolvers<void>();
    services.log.onCommitted((_tenant, committed) => {
      if (bodies(committed, "TOOL_END").length > 0) ended.resolve();
    });
    const running = (await hold({ ...services, slots })).run();
    await ended.promise;
    (await others)?.release();
    expect(await running).toBe("parked");
    const all = await events();
    expect(bodies(all, "AGENT_RESUMED")).toEqual([]);
    expect(bodies(all, "TOOL_END").map(({ call }) => call.state)).toEqual(["COMPLETED", "COMPLETED"]);
    expect(runs).toBe(2);
  });

  it("is stored before a hook that takes its time lets the agent park", async () => {
    const hook = Promise.withResolvers<void>();
    const permission = permissionOf({ mode: "auto", requireApprovalTools: ["asked"] });
    const postModel = [{ place: "postModel.0", run: () => hook.promise }];
    const tools = [
      ownTool("own", () => ({ output: "done", details: null })),
      ownTool("asked", () => ({ output: "", details: null })),
    ];
    const { hold, events } = await begun(
      playedModel(() => calls("own", "asked")),
      tools,
      { permission, hooks: { preToolUse: [], postToolUse: [], around: [], preModel: [], postModel, messagesChanged: [] } },
    );
    const running = (await hold()).run();
    await expect.poll(async () => bodies(await events(), "TOOL_END").length).toBe(1);
    hook.resolve();
    expect(await running).toBe("parked");
  });

  it("lets no step begin by what was never stored: a message that was withdrawn before a commit of something else carried it", async () => {
    const { services, hold, events } = await begun(playedModel(() => says("Hello.")));
    const { owner } = await hold();
    const found = await owner.view();
    startTurn(owner, found, null, new Date());
    const seen = await owner.view();
    expect(seen).toMatchObject({ turn: 1, waiting: [] });
    expect(owner.holds(seen)).toBe(true);
    expect(await withdrawMessage(services, ANNA, found.waiting[0] ?? "")).toMatchObject({ ok: true });
    const looks = async () => {
      // As a file of which there was a hint is told of, between the view and the step.
      await owner.commit(eventsOnly({ kind: "TOOL_CUSTOM_EVENT", callId: "none", tool: "own", eventType: "own", eventData: {} }));
      return NO_NEWS;
    };
    const scope = {
      owner,
      transcript: services.transcripts.of(services.sql, "one", seen.id),
      observers: new Observers(services, owner),
      files: { look: looks },
      interrupt: new Interrupt(),
      wakeUp: new WakeUp(),
    };
    const template = services.templates.get("assistant");
    const model = services.models.get("test");
    if (template === undefined || model === undefined) throw new Error("the test has both");
    expect(await new StepRunner(services, scope).start(seen, template, model)).toBeNull();
    expect(owner.holds(seen)).toBe(false);
    const now = await owner.view();
    expect(owner.holds(now)).toBe(true);
    expect(now).toMatchObject({ turn: 0, stepCount: 0, transcriptLength: 0, waiting: [] });
    expect(bodies(await events(), "STATE_CHANGED")).toEqual([]);
  });

  it("is counted if a call is repeated, also of several that are judged together", async () => {
    const bad = () => calls("strict", "strict");
    const tool = defineTool<{ needed: string }>({
      name: "strict",
      description: "x",
      readOnly: true,
      inputSchema: { type: "object", required: ["needed"], properties: { needed: { type: "string" } } },
      run: () => ({ output: "", details: null }),
    });
    const { hold, events } = await begun(
      playedModel(bad, bad, () => says("Done.")),
      [tool],
    );
    expect(await (await hold()).run()).toBe("parked");
    const outputs = bodies(await events(), "TOOL_END").map(
      ({ call }) => /exactly this call (\S+ ?\S*) before/.exec(call.output ?? "")?.[1],
    );
    expect(outputs).toEqual([undefined, undefined, "2 times", "2 times"]);
  });
});
