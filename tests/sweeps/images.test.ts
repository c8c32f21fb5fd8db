import { expect, it } from "vitest";
import { storedImage } from "../../src/agent/conversation/images.ts";
import type { Sql } from "../../src/db/sql.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import { ERASES } from "../../src/sweeps/erasure/row-contents.ts";
import { LEFT_IMAGES } from "../../src/sweeps/left-rows.ts";
import {
  ContextAtDocument,
  ForkAgentDocument,
  MessageImagesDocument,
  SendMessageDocument,
  ToolCallImagesDocument,
} from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { deleteArchived, eraseOld, HOUR } from "../support/erasure.ts";
import { png } from "../support/images.ts";
import { playedModel, callsWith, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const remove = (sql: Sql): Promise<number> => LEFT_IMAGES.remove(sql, () => true);
const digest = (data: string): string => storedImage("image/png", data).row.digest;
const [ada, zoe] = [tokenActor("ada", ["admin"]), tokenActor("zoe", ["admin"], "other")];

async function world(model = playedModel(() => says("I see."))) {
  const url = await testDatabaseUrl();
  const shows = ownTool("shows", async () => ({
    output: "a picture",
    details: null,
    images: [{ mediaType: "image/png", data: png(7) }],
  }));
  const app = await startTestApp({
    model,
    database: { kind: "postgres", url, connections: 4 },
    config: { tools: [shows], actors: [ada.actor, zoe.actor] },
    template: { tools: ["shows"], permission: { mode: "auto" } },
  });
  const { sql } = app.database;
  const rows = async <Row>(text: string, values: readonly unknown[] = []) => sql.query<Row>({ name: "", text }, values);
  return {
    url,
    app,
    model,
    sql,
    rows,
    client: connect(app.url, ada.token),
    other: connect(app.url, zoe.token),
    /** The kept images, and the agents that have them. */
    images: async () =>
      (await rows<{ image: string }>("SELECT tenant || ' ' || digest AS image FROM image ORDER BY 1")).map(({ image }) => image),
    uses: async () => (await rows<{ n: number }>("SELECT count(*)::int AS n FROM agent_image"))[0]?.n,
    /** Lets two days pass since any image was sent. */
    age: () => rows("UPDATE image SET taken_at = taken_at - interval '2 days'"),
    idle: async (id: string) => {
      const text = "SELECT FROM agent WHERE id = $1 AND state = 'READY' AND lease_owner IS NULL AND runnable_at IS NULL";
      await expect.poll(async () => (await rows(text, [rowId("Agent", id)])).length).toBe(1);
    },
  };
}
type World = Awaited<ReturnType<typeof world>>;

async function sends(client: TestClient, agentId: string, ...data: readonly string[]): Promise<void> {
  const images = data.map((each) => ({ mediaType: "PNG", data: each }) as const);
  const { sendMessage } = await client.get(SendMessageDocument, { input: { agentId, text: "look", images } });
  expect(sendMessage.userErrors).toEqual([]);
  await client.until(agentId, "DONE", sendMessage.cursor);
}

async function agentWith(client: TestClient, ...data: readonly string[]): Promise<string> {
  const { id } = await client.createAgent();
  await sends(client, id, ...data);
  return id;
}

async function deletes({ sql }: World, client: TestClient, agentId: string): Promise<void> {
  await deleteArchived(sql, client, agentId);
  await DELETED_AGENTS.remove(sql, () => true);
}

async function shown(client: TestClient, id: string) {
  const { agent } = await client.get(MessageImagesDocument, { id });
  return (agent?.messages.nodes ?? []).flatMap(({ blocks }) =>
    (blocks ?? []).flatMap((block) => ("viewerUrl" in block ? [block] : [])),
  );
}

it("an image stays while an agent of its tenant shows it, a fork among them, and goes with the last", async () => {
  const place = await world();
  const { client, other, sql, images, uses, age } = place;
  const [one, two] = [await agentWith(client, png(1)), await agentWith(client, png(1), png(1))];
  const neighbour = await agentWith(other, png(1));
  const fork = (await client.get(ForkAgentDocument, { input: { agentId: two } })).forkAgent.agent?.id ?? "";
  expect(await images()).toEqual([`acme ${digest(png(1))}`, `other ${digest(png(1))}`]);
  expect(await uses()).toBe(4);
  await age();
  for (const id of [one, two]) {
    await deletes(place, client, id);
    expect(await remove(sql)).toBe(0);
  }
  expect(await shown(client, fork)).toMatchObject([{ isRemoved: false }, { isRemoved: false }]);
  await deletes(place, client, fork);
  expect(await remove(sql)).toBe(1);
  expect(await images()).toEqual([`other ${digest(png(1))}`]);
  await deletes(place, other, neighbour);
  expect([await remove(sql), await remove(sql), await uses()]).toEqual([1, 0, 0]);
});

it("a fork has the images of the messages and results that both share, and no others", async () => {
  const { client, rows, images, age, sql } = await world(
    playedModel(
      () => callsWith(["shows", {}]),
      () => says("I see."),
      () => says("I see."),
    ),
  );
  const id = await agentWith(client, png(1));
  const { messages } = await client.agent(id);
  await sends(client, id, png(2));
  const at = messages.nodes.at(-1)?.id;
  const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id, messageId: at } });
  expect(forkAgent.userErrors).toEqual([]);
  const used = await rows<{ digest: string }>("SELECT digest FROM agent_image WHERE agent_id = $1", [
    rowId("Agent", forkAgent.agent?.id ?? ""),
  ]);
  expect(used.map((row) => row.digest).toSorted()).toEqual([png(1), png(7)].map(digest).toSorted());
  await age();
  expect([await remove(sql), await images()]).toMatchObject([0, { length: 3 }]);
});

it("erased messages and calls give up their images, and an image that a later turn shows stays", async () => {
  const place = await world(
    playedModel(
      () => callsWith(["shows", {}]),
      () => says("I see."),
      () => says("I see."),
      () => says("I see."),
    ),
  );
  const { client, sql, images, uses, age, idle, model, rows } = place;
  const id = await agentWith(client, png(1), png(2));
  await idle(id);
  await rows("UPDATE agent SET created_at = created_at - interval '2 hours'");
  await rows("UPDATE message SET created_at = created_at - interval '2 hours'");
  await rows("UPDATE tool_call SET completed_at = completed_at - interval '2 hours'");
  await sends(client, id, png(2));
  await idle(id);
  await age();
  expect([await remove(sql), await uses()]).toEqual([0, 3]);

  await eraseOld(sql, { toolCallsMs: HOUR });
  expect([await uses(), await remove(sql)]).toEqual([2, 1]);
  const [call] = (await client.agent(id)).toolCalls.nodes;
  expect(await client.get(ToolCallImagesDocument, { callId: call?.callId ?? "" })).toEqual({ toolCall: { images: [] } });
  await eraseOld(sql, { messagesMs: HOUR });
  expect([await uses(), await remove(sql)]).toEqual([1, 1]);
  expect(await images()).toEqual([`acme ${digest(png(2))}`]);
  expect(await shown(client, id)).toMatchObject([{ isRemoved: false }]);
  await sends(client, id);
  const sent = model.calls.at(-1)?.request.messages.flatMap(({ content }) => content);
  expect(sent?.filter(({ type }) => type === "image")).toHaveLength(1);
});

it("a removed image has a note in its place, for models, for people, and in the proof of a request", async () => {
  const place = await world(
    playedModel(
      () => callsWith(["shows", {}]),
      () => says("I see."),
      () => says("I see."),
    ),
  );
  const { app, client, model } = place;
  const id = await agentWith(client, png(1));
  await app.close();
  const operator = await administrator(place.url);
  await operator.query("DELETE FROM image");
  const again = await startTestApp({
    model,
    database: { kind: "postgres", url: place.url, connections: 3 },
    config: { actors: [ada.actor], workspaceRoots: [app.workspace], defaultWorkspace: app.workspace },
  });
  const reader = connect(again.url, ada.token);
  await sends(reader, id);
  const blocks = model.calls.at(-1)?.request.messages.flatMap(({ content }) => content) ?? [];
  expect(blocks.filter(({ type }) => type === "image")).toEqual([]);
  expect(blocks.filter((block) => block.type === "text" && block.text === "[an image that was removed]")).toHaveLength(2);
  const context = async (step: number) => (await reader.get(ContextAtDocument, { id, step })).agent?.contextAt;
  for (const step of [1, 2, 3]) expect(await context(step)).toMatchObject({ isProved: true, missing: [] });
  const seen = await shown(reader, id);
  expect(seen).toMatchObject([{ isRemoved: true }, { isRemoved: true }]);
  const answer = await fetch(new URL(seen[0]?.viewerUrl ?? "", again.url));
  expect([answer.status, await answer.text()]).toEqual([404, "the image was removed\n"]);
  const [call] = (await reader.agent(id)).toolCalls.nodes;
  expect(await reader.get(ToolCallImagesDocument, { callId: call?.callId ?? "" })).toMatchObject({
    toolCall: { images: [{ isRemoved: true }] },
  });
});

/** Waits until a statement of the database waits for a lock. */
async function blocked({ rows }: Pick<World, "rows">): Promise<void> {
  const text = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  await expect.poll(async () => (await rows(text)).length).toBeGreaterThan(0);
}

it("an image that is sent again while it is removed is there afterwards, whichever comes first", async () => {
  const place = await world();
  const { client, sql, images, age, rows, url } = place;
  const kept = [`acme ${digest(png(1))}`];
  await deletes(place, client, await agentWith(client, png(1)));
  const next = await client.createAgent();
  await age();
  // The message first: its commit has taken the image, and is not seen yet.
  const operator = await administrator(url);
  await operator.query("BEGIN");
  await operator.query("SELECT pg_advisory_xact_lock(hashtextextended('acme', 7270736900))");
  const sending = sends(client, next.id, png(1));
  await blocked(place);
  expect(await remove(sql)).toBe(0);
  await operator.query("COMMIT");
  await sending;
  expect([await remove(sql), await images()]).toEqual([0, kept]);

  // The removal first: the message waits for it, and stores the image anew.
  await deletes(place, client, next.id);
  await age();
  await operator.query("BEGIN");
  await operator.query("DELETE FROM image");
  const last = await client.createAgent();
  const again = sends(client, last.id, png(1));
  await blocked(place);
  await operator.query("COMMIT");
  await again;
  expect(await images()).toEqual(kept);
  expect(await shown(client, last.id)).toMatchObject([{ isRemoved: false }]);
  expect(await rows("SELECT FROM image WHERE taken_at < policy_time() - interval '1 hour'")).toEqual([]);
});

it("an erasure leaves an image that a message of the agent has shown since the erasure began", async () => {
  const place = await world();
  const { client, sql, uses, rows, idle, url } = place;
  const id = await agentWith(client, png(1));
  await idle(id);
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  await eraseOld(sql, { messagesMs: HOUR });
  expect(await uses()).toBe(0);
  // As after a crash: the name of the image is there, and no message shows it.
  await rows("INSERT INTO agent_image SELECT id, $1, tenant FROM agent", [digest(png(1))]);
  const operator = await administrator(url);
  await operator.query("BEGIN");
  await operator.query("SELECT FROM agent FOR UPDATE");
  const { block } = storedImage("image/png", png(1));
  await operator.query(
    `INSERT INTO message (id, tenant, agent_id, kind, content, bytes, arrival, ordinal, turn, step, created_at)
      SELECT 'late', tenant, id, 'USER', $1, 2, 9, 9, 9, 9, policy_time() FROM agent`,
    [JSON.stringify([block])],
  );
  const statement = ERASES.MESSAGES.find(({ name }) => name === "erase_images");
  if (statement === undefined) throw new Error("no statement erases images");
  const run = () => sql.query(statement, [rowId("Agent", id), new Date(), 0, 0]);
  const erasing = run();
  await blocked(place);
  await operator.query("UPDATE agent SET arrivals = arrivals + 1");
  await operator.query("COMMIT");
  expect(await erasing).toEqual([{ isIdle: false, rows: 0 }]);
  expect(await run()).toEqual([{ isIdle: true, rows: 0 }]);
  expect(await uses()).toBe(1);
  await rows("DELETE FROM message WHERE id = 'late'");
  expect(await run()).toEqual([{ isIdle: true, rows: 1 }]);
});

it("nothing to remove is nothing, and thousands go in several statements", async () => {
  const { sql, rows } = await world();
  expect(await remove(sql)).toBe(0);
  await rows(`INSERT INTO image (tenant, digest, data, taken_at)
    SELECT 't' || i % 3, i::text, decode(repeat('00', 100), 'hex'), now() - interval '2 days' FROM generate_series(1, 2500) i`);
  await rows(`INSERT INTO image (tenant, digest, data, taken_at) SELECT 't', i::text, '', now() FROM generate_series(1, 20) i`);
  expect([await remove(sql), (await rows("SELECT FROM image")).length]).toEqual([2_500, 20]);
  let left = 2;
  await rows("UPDATE image SET taken_at = now() - interval '2 days'");
  expect(await LEFT_IMAGES.remove(sql, () => (left -= 1) > 0)).toBe(20);
});
