import { describe, expect, it } from "vitest";
import { InterruptAgentDocument, RetryTurnDocument, type CreateExportInput } from "../../generated/documents.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { connect, type TestClient } from "../../support/client.ts";
import { callsWith, playedModel } from "../../support/models.ts";
import { exported, rowsOf } from "../../support/exports.ts";

const script = {
  replies: [
    { when: { user: "write" }, call: [{ tool: "fs_write", input: { path: "a.txt", content: "b" } }] },
    { when: {}, say: ["Done."] },
  ],
};

/** The provider fails, once and for good. */
async function* fails(): AsyncGenerator<never> {
  yield* [];
  throw new Error("the provider is out");
}

/** The messages of an export, each with its author and step. */
async function messages(app: TestApp, client: TestClient, input: Partial<CreateExportInput>) {
  const done = await exported(client, { what: "MESSAGES", ...input });
  expect(done).toMatchObject({ state: "DONE", problem: null });
  const rows = (await rowsOf(app, done)).map(({ message_id: id, kind, step }) => ({ id, kind, step }));
  return { asOf: done.asOf, rows };
}

/** Retries the newest turn, and waits for an event of its retry. */
async function retry(client: TestClient, agentId: string, kind: "DONE" | "PERMISSION_REQUIRED") {
  const { cursor, userErrors } = (await client.get(RetryTurnDocument, { input: { agentId } })).retryTurn;
  expect(userErrors).toEqual([]);
  await client.until(agentId, kind, cursor);
}

async function interrupt(client: TestClient, id: string) {
  await client.get(InterruptAgentDocument, { input: { agentId: id, note: "stop" } });
  await expect.poll(async () => (await client.agent(id)).state, { timeout: 10_000 }).toBe("READY");
}

describe("consecutive exports of messages", () => {
  it("have the answers of a turn that was retried since, and its message once", async () => {
    const app = await startTestApp({ script, template: { permission: { mode: "approval" } } });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const before = await messages(app, client, {});
    await client.send(id, "write");
    await client.until(id, "PERMISSION_REQUIRED");
    await interrupt(client, id);
    await retry(client, id, "DONE");
    await client.turn(id, "say");
    const whole = await messages(app, client, {});
    expect(whole.rows.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["USER", "ASSISTANT", "TOOL_RESULTS"]));
    const transcript = (await client.agent(id)).messages.nodes.map(({ kind, step }) => ({ kind, step }));
    expect(whole.rows).toMatchObject(transcript);
    expect((await messages(app, client, { since: before.asOf })).rows).toEqual(whole.rows);
  });

  it("do not repeat the message of a turn that is retried after it was exported, nor leave it out while its retry asks", async () => {
    const app = await startTestApp({
      model: playedModel(fails, fails, () => callsWith(["fs_write", { path: "a.txt", content: "b" }])),
      template: { permission: { mode: "approval" } },
    });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    await client.turn(id, "hi");
    const failed = await messages(app, client, {});
    expect(failed.rows).toMatchObject([{ kind: "USER" }]);
    await retry(client, id, "DONE");
    await retry(client, id, "PERMISSION_REQUIRED");
    const asking = await messages(app, client, { since: failed.asOf });
    expect(asking.rows).toEqual([]);
    expect((await messages(app, client, {})).rows).toEqual(failed.rows);
    await interrupt(client, id);
    const interrupted = await messages(app, client, { since: asking.asOf });
    expect(interrupted.rows).toMatchObject([{ kind: "ASSISTANT" }, { kind: "TOOL_RESULTS" }]);
    expect((await messages(app, client, {})).rows).toEqual([...failed.rows, ...interrupted.rows]);
    expect((await messages(app, client, { asOf: asking.asOf })).rows).toEqual(failed.rows);
  });
});
