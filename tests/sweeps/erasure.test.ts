import { expect, it } from "vitest";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import type { Sql } from "../../src/db/sql.ts";
import type { RetentionPolicy } from "../../src/events/retention.ts";
import { applyErasure, planErasure } from "../../src/sweeps/erasure/erase.ts";
import { leftOutputs } from "../../src/sweeps/erasure/left-outputs.ts";
import { ContextAtDocument, SendMessageDocument, ToolCallsDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { ALL_CONTENTS, HOUR, KEPT, SECRET, tablesWith } from "../support/erasure.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

const POLICY: RetentionPolicy = { ...KEPT, ...ALL_CONTENTS };
const GOING = new AbortController().signal;
const run = (policy: Partial<RetentionPolicy> = {}) => ({
  policy: { ...POLICY, ...policy },
  consumers: [],
});
const NONE = { toolCallsMs: null, messagesMs: null, approvalsMs: null };

const tells = defineTool<{ readonly path: string }>({
  name: "tells",
  description: "Tells.",
  readOnly: false,
  inputSchema: { type: "object", required: ["path"], properties: { path: { type: "string" } } },
  run: async () => ({ output: `${SECRET} ${"x".repeat(200_000)}`, details: { said: SECRET } }),
});

async function world() {
  const reply = (_request: ModelRequest, count: number): Played =>
    count % 2 === 1 ? { tool: "tells", input: { path: SECRET } } : { text: `the answer is ${SECRET}` };
  const model = windowedModel({ window: 200_000, reply, summary: () => "A summary." });
  const app = await startTestApp({
    model,
    config: { tools: [tells] },
    template: { tools: ["tells"], permission: { mode: "approval" } },
  });
  const client = connect(app.url);
  const { id } = await client.createAgent();
  const later = (hours: number): Promise<void> =>
    setPolicyTime(app.database.sql, `statement_timestamp() + interval '${hours} hours'`);
  const asked = async (since?: string) => {
    const event = (await client.until(id, "PERMISSION_REQUIRED", since)).at(-1);
    if (event?.__typename !== "PermissionRequired") throw new Error("nothing was asked");
    return event.request;
  };
  /** A turn with a call that a person allows. */
  const turn = async (text: string): Promise<void> => {
    const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId: id, text } });
    const { approvalId, inputHash } = await asked(sendMessage.cursor);
    const { cursor } = await client.decide({ approvalId, decision: "ALLOW", inputHash, note: `yes: ${SECRET}` });
    await client.until(id, "DONE", cursor);
    await expect.poll(async () => (await idle(app.database.sql)).isIdle).toBe(true);
  };
  return { app, client, id, model, turn, later, asked, sql: app.database.sql };
}

async function idle(sql: Sql): Promise<{ readonly isIdle: boolean }> {
  const text = "SELECT bool_and(state = 'READY' AND lease_owner IS NULL AND runnable_at IS NULL) AS \"isIdle\" FROM agent";
  const [row] = await sql.query<{ isIdle: boolean }, []>({ name: "all_idle", text }, []);
  return row ?? { isIdle: false };
}

it("contents that are old leave every table, and rows, positions and states stay", async () => {
  const { client, id, turn, later, sql, app } = await world();
  await turn(`remember ${SECRET}`);
  const before = await client.events(id);
  expect(await tablesWith(sql, SECRET)).toEqual(["approval", "decision", "event", "message", "tool_call"]);
  expect(await applyErasure(sql, run(), GOING)).toEqual([]);

  await later(2);
  const plan = await planErasure(sql, run());
  expect(plan.map(({ content, agents, rows }) => [content, agents, rows])).toEqual([
    ["TOOL_CALLS", 1, 1],
    ["MESSAGES", 1, 4],
    ["APPROVALS", 1, 1],
  ]);
  expect(await applyErasure(sql, run(), GOING)).toEqual(plan);
  expect(await tablesWith(sql, SECRET)).toEqual([]);
  expect(await applyErasure(sql, run(), GOING)).toEqual([]);
  expect(await leftOutputs(app.services.outputs).remove(sql, () => true)).toBe(1);

  const after = await client.events(id);
  expect(after.map(({ cursor, seq, kind }) => [cursor, seq, kind])).toEqual(
    before.map(({ cursor, seq, kind }) => [cursor, seq, kind]),
  );
  expect(JSON.stringify(after)).not.toContain(SECRET);
  const ends = after.flatMap((event) => (event.__typename === "TextChunkEnd" ? [event.text] : []));
  expect(ends).toEqual([null]);
  const { toolCalls } = await client.get(ToolCallsDocument, {});
  expect(toolCalls.nodes).toMatchObject([{ state: "COMPLETED", output: null, input: null, inputPreview: null, details: null }]);
});

it("each content is erased alone, and a model is sent pairs without texts", async () => {
  const { client, id, turn, later, sql, model } = await world();
  await turn(`remember ${SECRET}`);
  await later(2);
  await applyErasure(sql, run({ ...NONE, toolCallsMs: HOUR }), GOING);
  await later(0);
  await turn("and now?");
  const [, , third] = model.requests;
  expect(third?.messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
    ["user", ["text"]],
    ["assistant", ["tool_use"]],
    ["user", ["tool_result"]],
    ["assistant", ["text"]],
    ["user", ["text"]],
  ]);
  expect(JSON.stringify(third?.messages[1])).not.toContain(SECRET);
  expect(JSON.stringify(third?.messages[2])).toContain("(erased)");
  expect(JSON.stringify(third?.messages[3])).toContain(SECRET);
  const shown = async (step: number) => (await client.get(ContextAtDocument, { id, step })).agent?.contextAt;
  expect(await shown(2)).toMatchObject({ isProved: false, missing: ["MESSAGES"] });
  expect(await shown(3)).toMatchObject({ isProved: true, missing: [] });
});

it("a conversation whose messages were erased continues with a note in their place", async () => {
  const { turn, later, sql, model } = await world();
  await turn(`remember ${SECRET}`);
  await later(2);
  await applyErasure(sql, run({ ...NONE, messagesMs: HOUR }), GOING);
  await later(0);
  await turn("and now?");
  const [, , third] = model.requests;
  expect(third?.messages.map(({ role }) => role)).toEqual(["user"]);
  expect(JSON.stringify(third?.messages)).toContain("was erased");
  expect(third?.messages[0]?.content.every((block) => block.type === "text" && block.text !== "")).toBe(true);
});

it("nothing is erased of an agent with an open question", async () => {
  const { client, id, later, sql, asked } = await world();
  await client.send(id, `remember ${SECRET}`);
  await asked();
  const before = await tablesWith(sql, SECRET);
  await later(2);
  expect(await planErasure(sql, run())).toEqual([]);
  expect(await applyErasure(sql, run(), GOING)).toEqual([]);
  expect(await tablesWith(sql, SECRET)).toEqual(before);
});
