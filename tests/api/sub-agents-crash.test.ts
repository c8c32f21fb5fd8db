import { expect, it } from "vitest";
import { LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import type { Model } from "../../src/agent/models/model.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { TreeDocument } from "../generated/documents.ts";
import { startTestApp, type TestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { loseLeases, SHORT_LEASES } from "../support/lost-leases.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { beforeCommit, goesTo } from "../support/writes.ts";

const TASK = { description: "count", prompt: "Count the files.", agentTemplateId: "worker" };

/** The parent starts a child and says "End."; the child says "Three.". */
function parentAndChild(background: boolean): Model {
  const parent = playedModel(
    () => callsWith(["task_run", { ...TASK, background }]),
    () => says("End."),
  );
  return {
    ...parent,
    stream: (request, ...rest) => (request.system === "worker" ? says("Three.") : parent.stream(request, ...rest)),
  };
}

it.each([
  ["foreground", false],
  ["background", true],
])("a child is started once if the server dies before the end of the call that starts it: %s", async (_where, background) => {
  const started = Promise.withResolvers<TestApp>();
  const templates: Record<string, TemplateConfig> = {
    assistant: { systemPrompt: "lead", model: "test", subagents: { templates: ["worker"] } },
    worker: { systemPrompt: "worker", model: "test" },
  };
  const isEnd = background ? "COMPLETED" : "WAITING";
  const app = await startTestApp({
    model: parentAndChild(background),
    config: { templates },
    overrides: {
      leaseTimes: SHORT_LEASES,
      sql: (sql) =>
        beforeCommit(
          sql,
          (change) => goesTo(isEnd, change),
          async () => loseLeases(await started.promise),
        ),
    },
  });
  started.resolve(app);
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.send(id, "go");
  await expect.poll(async () => ofType(await client.events(id), "AgentReturned").length, { timeout: 10_000 }).toBe(1);
  const events = await client.until(id, "DONE");
  expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
  expect(ofType(await client.events(id), "AgentSpawned")).toHaveLength(1);
  expect((await client.get(TreeDocument, { id })).agent?.children).toHaveLength(1);
});

it.each([
  ["foreground", false],
  ["background", true],
])("a child begins without a sweep: %s", async (_where, background) => {
  const templates: Record<string, TemplateConfig> = {
    assistant: { systemPrompt: "lead", model: "test", subagents: { templates: ["worker"] } },
    worker: { systemPrompt: "worker", model: "test" },
  };
  const app = await startTestApp({
    model: parentAndChild(background),
    config: { templates },
    overrides: { leaseTimes: { ...LEASE_TIMES, sweepMs: 3_600_000 } },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.send(id, "go");
  expect(ofType(await client.until(id, "AGENT_RETURNED"), "AgentReturned")).toMatchObject([{ outcome: "OK" }]);
});
