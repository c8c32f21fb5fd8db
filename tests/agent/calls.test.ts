import { expect, it } from "vitest";
import { Calls } from "../../src/agent/calls.ts";
import { readPermission } from "../../src/agent/gate/permission-source.ts";
import type { Hold } from "../../src/agent/hold.ts";
import { HooksBeside } from "../../src/agent/hooks-beside.ts";
import { look } from "../../src/agent/look.ts";
import { rowId } from "../../src/resolvers/global-id.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { calls, playedModel } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

it("a call gives its place back where its EXECUTING cannot be committed: nothing runs, and the server goes on (invariant 5)", async () => {
  let runs = 0;
  const tool = ownTool("own", () => {
    runs += 1;
    return { output: "ran", details: null };
  });
  const app = await startTestApp({
    model: playedModel(() => calls("own")),
    template: { permission: { mode: "approval" } },
    config: { tools: [tool], toolLimits: { running: 2 } },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.send(agent.id, "go");
  await client.until(agent.id, "PERMISSION_REQUIRED");

  const { parts } = app;
  const seen = await look(parts.sql, rowId("Agent", agent.id) ?? "");
  const [asked] = seen.calls;
  const template = parts.templates.get("assistant");
  if (asked === undefined || template === undefined) throw new Error("the agent asks for a call");
  const { permission } = readPermission({ mode: "auto" }, "test", parts);
  const call = { ...asked, state: "PENDING" as const, approval: null };
  // A hold whose database does not answer.
  const hold = {
    lease: { agentId: seen.id, tenant: seen.tenant, createdBy: seen.createdBy, owner: "here", epoch: seen.leaseEpoch },
    lost: new AbortController().signal,
    mayStart: () => true,
    move: () => ({ patch: {}, events: [] }),
    commit: () => Promise.reject(new Error("the database does not answer")),
  } as unknown as Hold;
  const { signal } = new AbortController();
  const ours = new Calls(parts, hold, {
    interrupt: () => signal,
    knock: () => {},
    offer: () => false,
    hooks: new HooksBeside(parts, hold),
  });
  await ours.judge([call], seen, { ...template, permission });
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(ours.execute([call], seen, template)).rejects.toThrow("does not answer");
  expect(parts.slots.load).toEqual({ running: 0, waiting: 0 });
  expect(runs).toBe(0);
});
