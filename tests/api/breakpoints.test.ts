import { expect, it } from "vitest";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, type PageEvent } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

/** The breakpoints of the agent, one after another; each event names the one before, too. */
function breakpoints(events: readonly PageEvent[]): string[] {
  const changes = ofType(events, "BreakpointChanged");
  for (const [index, { previousBreakpoint }] of changes.entries())
    if (index > 0) expect(previousBreakpoint).toBe(changes[index - 1]?.breakpoint);
  return changes.map(({ breakpoint }) => breakpoint);
}

it("an agent passes all breakpoints in their order, and its last safe point is its last message that no call is open in (features.md L6, L7)", async () => {
  const answer = () => ({ output: "done", details: null });
  const app = await startTestApp({
    model: playedModel(
      () => calls("look"),
      () => calls("effect"),
      () => says("Done."),
    ),
    config: {
      tools: [ownTool("look", answer), ownTool("effect", answer, false)],
    },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  expect(await client.agent(agent.id)).toMatchObject({ breakpoint: "READY", lastSfpIndex: -1 });
  await client.send(agent.id, "go");
  const asked = await client.until(agent.id, "PERMISSION_REQUIRED");
  await expect.poll(async () => (await client.agent(agent.id)).breakpoint).toBe("AWAITING_APPROVAL");
  // The message, the call, its result and the second call: the last of them has no result yet.
  expect(await client.agent(agent.id)).toMatchObject({ state: "PAUSED", lastSfpIndex: 2 });
  const [required] = ofType(asked, "PermissionRequired");
  const { approvalId = "", inputHash = "" } = required?.request ?? {};
  await client.decide({ approvalId, inputHash, decision: "ALLOW" });
  await client.until(agent.id, "DONE");
  const spoken = ["PRE_MODEL", "STREAMING_MODEL"];
  const run = ["PRE_TOOL", "TOOL_EXECUTING", "POST_TOOL"];
  expect(breakpoints(await client.events(agent.id))).toEqual([
    ...spoken,
    "TOOL_PENDING",
    ...run,
    ...spoken,
    "TOOL_PENDING",
    "AWAITING_APPROVAL",
    ...run,
    ...spoken,
    "READY",
  ]);
  expect(await client.agent(agent.id)).toMatchObject({ state: "READY", breakpoint: "READY", lastSfpIndex: 5 });
});
