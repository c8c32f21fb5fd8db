import { describe, expect, it } from "vitest";
import type { Actor } from "../../src/agent/actor.ts";
import { createAgent } from "../../src/agent/commands/create-agent.ts";
import { sendMessage } from "../../src/agent/commands/send-message.ts";
import { readPermission } from "../../src/agent/gate/permission-source.ts";
import { claim, LEASE_TIMES } from "../../src/agent/lease.ts";
import { Loop } from "../../src/agent/loop.ts";
import type { Model } from "../../src/agent/models/model.ts";
import type { AgentParts } from "../../src/agent/parts.ts";
import type { Template } from "../../src/agent/template.ts";
import { ToolSlots } from "../../src/agent/tool-slots.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import type { BodyOf, EventKind, TimelineEvent } from "../../src/events/event.ts";
import { testDatabase } from "../support/database.ts";
import { everything, readAll } from "../support/log.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { NEW_AGENT, testParts } from "../support/parts.ts";
import { ownTool } from "../support/tools.ts";

const ANNA: Actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"], delegators: [] };

/** An agent with one message, and its loop. */
async function begun(model: Model, tools: readonly Tool[], template: Partial<Template> = {}, parts: Partial<AgentParts> = {}) {
  const { sql } = await testDatabase();
  const { permission } = readPermission({ mode: "auto" }, "test", { tools: new Map(), modes: new Map() });
  const all = { ...testParts(sql, model, tools, { permission, ...template }), ...parts };
  const created = await createAgent(all, ANNA, NEW_AGENT);
  const agentId = created.ok ? created.value.id : "";
  await sendMessage(all, ANNA, { agentId, text: "go", images: [], idempotencyKey: null });
  const [lease] = await claim(sql, "here", [agentId], LEASE_TIMES, "RUN_OUT");
  if (lease === undefined) throw new Error("the agent is runnable");
  const loop = new Loop(all, lease, performance.now() + 10_000);
  return { loop, events: () => readAll(all.log, everything("one")) };
}

function bodies<Kind extends EventKind>(events: readonly TimelineEvent[], kind: Kind): BodyOf<Kind>[] {
  return events.flatMap(({ body }) => (body.kind === kind ? [body as BodyOf<Kind>] : []));
}

describe("what ends beside the loop, and is committed with what it does next", () => {
  it("is not taken for a crash where the next call finds no place (invariant 5)", async () => {
    const slots = new ToolSlots({ running: 1, waiting: 8, waitMs: 5_000 });
    const others = Promise.withResolvers<void>();
    let runs = 0;
    const tool = defineTool<Record<string, never>>({
      name: "own",
      description: "x",
      readOnly: false,
      idempotent: true,
      inputSchema: { type: "object", required: [], properties: {} },
      run: () => {
        runs += 1;
        // Somebody else is in line for its place, and gives it back when the loop has long looked again.
        if (runs === 1)
          void slots.take(new AbortController().signal).then(async (slot) => {
            setTimeout(() => slot?.release(), 200);
            others.resolve();
          });
        return { output: `run ${runs}`, details: null };
      },
    });
    const model = playedModel(
      () => calls("own", "own"),
      () => says("Done."),
    );
    const { loop, events } = await begun(model, [tool], {}, { slots });
    expect(await loop.run()).toBe("parked");
    await others.promise;
    const all = await events();
    expect(bodies(all, "AGENT_RESUMED")).toEqual([]);
    expect(bodies(all, "TOOL_END").map(({ call }) => call.state)).toEqual(["COMPLETED", "COMPLETED"]);
    expect(runs).toBe(2);
  });

  it("is stored before a hook that takes its time lets the agent park", async () => {
    const hook = Promise.withResolvers<void>();
    const { permission } = readPermission({ mode: "auto", requireApprovalTools: ["asked"] }, "test", {
      tools: new Map(),
      modes: new Map(),
    });
    const postModel = [{ place: "postModel.0", run: () => hook.promise }];
    const tools = [
      ownTool("own", () => ({ output: "done", details: null })),
      ownTool("asked", () => ({ output: "", details: null })),
    ];
    const { loop, events } = await begun(
      playedModel(() => calls("own", "asked")),
      tools,
      { permission, hooks: { preToolUse: [], postToolUse: [], around: [], preModel: [], postModel, messagesChanged: [] } },
    );
    const running = loop.run();
    await expect.poll(async () => bodies(await events(), "TOOL_END").length).toBe(1);
    hook.resolve();
    expect(await running).toBe("parked");
  });

  it("is counted where a call is repeated, also of several that are judged together", async () => {
    const bad = () => calls("strict", "strict");
    const tool = defineTool<{ needed: string }>({
      name: "strict",
      description: "x",
      readOnly: true,
      inputSchema: { type: "object", required: ["needed"], properties: { needed: { type: "string" } } },
      run: () => ({ output: "", details: null }),
    });
    const { loop, events } = await begun(
      playedModel(bad, bad, () => says("Done.")),
      [tool],
    );
    expect(await loop.run()).toBe("parked");
    const outputs = bodies(await events(), "TOOL_END").map(
      ({ call }) => /exactly this call (\S+ ?\S*) before/.exec(call.output ?? "")?.[1],
    );
    expect(outputs).toEqual([undefined, undefined, "2 times", "2 times"]);
  });
});
