import { expect, it } from "vitest";
import { later } from "../../src/agent/tools/later.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { CompleteToolCallDocument, ToolCallsDocument, ToolCallStatsDocument } from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { foldAll } from "../support/audit.ts";
import { connect, ofType } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";

const ADA = tokenActor("ada", ["admin"]);
const QUEUE = tokenActor("queue", ["viewer"]);

const JOB = defineTool<Record<string, never>>({
  name: "job",
  description: "Answers later.",
  readOnly: true,
  completedBy: ["queue"],
  inputSchema: { type: "object", required: [], properties: {} },
  run: () => later({}),
});

it("the audit follows a call that waits for its result to its end, also if it was folded meanwhile", async () => {
  const model = playedModel(
    () => calls("job"),
    () => says("I have it."),
  );
  const actors = [ADA.actor, { ...QUEUE.actor, kind: "SERVICE" as const }];
  const app = await startTestApp({ model, config: { tools: [JOB], actors } });
  const ada = connect(app.url, ADA.token);
  const { id } = await ada.createAgent();
  await ada.send(id, "go");
  const waiting = async () => ofType(await ada.events(id), "ToolWaiting").map(({ call }) => call.callId);
  await expect.poll(waiting).toHaveLength(1);
  const [callId = ""] = await waiting();
  const { sql } = app.database;
  await foldAll(sql);
  const input = { callId, result: "done" };
  expect((await connect(app.url, QUEUE.token).get(CompleteToolCallDocument, { input })).completeToolCall.userErrors).toEqual([]);
  await ada.until(id, "DONE");
  const found = async (state: "WAITING" | "COMPLETED") =>
    (await ada.get(ToolCallsDocument, { filter: { states: [state] } })).toolCalls.nodes.map((call) => call.callId);
  // Before the next fold, and after it.
  for (const fold of [false, true]) {
    if (fold) await foldAll(sql);
    expect(await found("WAITING")).toEqual([]);
    expect(await found("COMPLETED")).toEqual([callId]);
    const { tools } = (await ada.get(ToolCallStatsDocument, {})).toolCallStats;
    expect(tools).toMatchObject([{ tool: "job", states: [{ state: "COMPLETED", calls: 1 }] }]);
  }
});
