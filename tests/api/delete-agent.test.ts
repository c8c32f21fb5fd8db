import { expect, it } from "vitest";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import { rowId } from "../../src/lib/global-id.ts";
import {
  ArchiveAgentDocument,
  CreateAgentDocument,
  type CreateAgentInput,
  DeleteAgentDocument,
  ForkAgentDocument,
  NodeDocument,
  StepGroupsDocument,
  ToolCallGroupsDocument,
  ToolCallsDocument,
  TurnGroupsDocument,
  UnarchiveAgentDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { foldAll } from "../support/audit.ts";
import { tokenActor } from "../support/actors.ts";
import { connect, type Page, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { deleteArchived, SECRET, TABLES_OF_DELETED, tablesWith } from "../support/erasure.ts";
import { ownTool } from "../support/tools.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

const looks = ownTool("looks", async () => ({ output: "seen", details: null }));
const [admin, viewer] = [tokenActor("ada", ["admin"]), tokenActor("vera", ["viewer"])];

async function server(url: string, requireApprovalTools: readonly string[] = []) {
  const reply = ({ messages }: { messages: readonly { content: readonly { type: string }[] }[] }): Played =>
    messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true
      ? { text: "it is seen" }
      : { tool: "looks", input: {} };
  const app = await startTestApp({
    database: { kind: "postgres", url, connections: 3 },
    model: windowedModel({ window: 200_000, reply, summary: () => "A summary." }),
    config: { tools: [looks], actors: [admin.actor, viewer.actor] },
    template: { tools: ["looks"], permission: { mode: "auto", requireApprovalTools } },
  });
  return { app, client: connect(app.url, admin.token), sql: app.database.sql };
}

async function archived(client: TestClient, text = SECRET): Promise<string> {
  const { id } = await client.createAgent({ title: text });
  await client.turn(id, text);
  await expect.poll(async () => (await client.agent(id)).state).toBe("READY");
  await client.get(ArchiveAgentDocument, { input: { agentId: id } });
  return id;
}

/** Deletes it, once its owner has let it go. */
async function deleted(client: TestClient, agentId: string): Promise<string> {
  const { deleteAgent } = await client.get(DeleteAgentDocument, { input: { agentId } });
  expect(deleteAgent.userErrors).toEqual([]);
  expect((await client.ask(NodeDocument, { id: agentId })).data?.node ?? null).toBeNull();
  return deleteAgent.cursor;
}

async function groups(client: TestClient) {
  const { toolCallGroups } = await client.get(ToolCallGroupsDocument, { by: ["TOOL", "STATE", "VERDICT"] });
  const { stepGroups } = await client.get(StepGroupsDocument, { by: ["MODEL"] });
  const { turnGroups } = await client.get(TurnGroupsDocument, { by: ["MODEL", "REASON"] });
  // Sums of floating numbers depend on their order in the last digits.
  const rounded = (_key: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(9)) : value);
  return JSON.stringify([toolCallGroups.groups, stepGroups.groups, turnGroups.groups], rounded);
}

async function all(client: TestClient, since: string): Promise<Page["events"]> {
  const events: Page["events"][number][] = [];
  for await (const page of client.timeline({ since })) {
    events.push(...page.events);
    if (page.caughtUp) break;
  }
  return events;
}

it("only administrators delete, and only the archived first agent of a tree that does nothing", async () => {
  const { app, client } = await server(await testDatabaseUrl());
  const { id } = await client.createAgent();
  const codes = async (of: TestClient, agentId: string) =>
    (await of.get(DeleteAgentDocument, { input: { agentId } })).deleteAgent.userErrors.map(({ code }) => code);
  expect(await codes(client, id)).toEqual(["NOT_ARCHIVED"]);
  expect(await codes(connect(app.url, viewer.token), id)).toEqual(["FORBIDDEN"]);
  await client.get(ArchiveAgentDocument, { input: { agentId: id } });
  await deleted(client, id);
  expect(await codes(client, id)).toEqual(["NOT_FOUND"]);
});

it("the key of a deleted agent is refused, before and after its rows are gone", async () => {
  const { client, sql } = await server(await testDatabaseUrl());
  const create = async (input: Partial<CreateAgentInput>) =>
    (await client.get(CreateAgentDocument, { input: { templateId: "assistant", ...input } })).createAgent;
  const fork = async (agentId: string) =>
    (await client.get(ForkAgentDocument, { input: { agentId, idempotencyKey: "two" } })).forkAgent;
  const original = await client.createAgent();
  await client.turn(original.id, "look");
  const created = [(await create({ idempotencyKey: "one" })).agent?.id ?? "", (await fork(original.id)).agent?.id ?? ""];
  for (const agentId of created) await deleteArchived(sql, client, agentId);
  const isRefused = async (): Promise<void> => {
    for (const { agent, userErrors } of [await create({ idempotencyKey: "one" }), await fork(original.id)]) {
      expect(agent).toBeNull();
      expect(userErrors).toMatchObject([{ code: "NOT_FOUND", field: ["idempotencyKey"] }]);
    }
  };
  await isRefused();
  await DELETED_AGENTS.remove(sql, () => true);
  await isRefused();
});

it("a deletion waits for the server that has an idle agent, and refuses at once what is at work", async () => {
  const { client, sql } = await server(await testDatabaseUrl());
  const id = await archived(client);
  const change = (of: string, to: string) =>
    sql.query({ name: "", text: `UPDATE agent SET ${to} WHERE id = $1` }, [rowId("Agent", of) ?? ""]);
  await change(id, "lease_owner = 'another', lease_until = policy_time() + interval '2 s'");
  await deleted(client, id);

  const working = await archived(client);
  await change(working, "state = 'WORKING'");
  const since = performance.now();
  const { deleteAgent } = await client.get(DeleteAgentDocument, { input: { agentId: working } });
  expect(deleteAgent.userErrors.map(({ code }) => code)).toEqual(["AT_WORK"]);
  expect(performance.now() - since).toBeLessThan(5_000);
});

it("an archived agent with an open question is deleted once its server has closed the question", async () => {
  const { client } = await server(await testDatabaseUrl(), ["looks"]);
  const { id } = await client.createAgent();
  await client.send(id, "look");
  await expect.poll(async () => (await client.agent(id)).state).toBe("PAUSED");
  const { deleteAgent } = await client.get(DeleteAgentDocument, { input: { agentId: id } });
  expect(deleteAgent.userErrors.map(({ code }) => code)).toEqual(["NOT_ARCHIVED"]);
  await client.get(ArchiveAgentDocument, { input: { agentId: id } });
  await deleted(client, id);
});

it("readers of others get all of theirs, from any cursor, before, between and after the removal; groups stay", async () => {
  const url = await testDatabaseUrl();
  const [{ client, sql }, other] = [await server(url), await server(url)];
  const id = await archived(client);
  const neighbour = await archived(other.client, "a neighbour");
  const id2 = await archived(other.client);
  const before = await all(client, "0");
  const theirs = before.filter(({ agent }) => agent === null || agent?.id === neighbour);
  // Percentiles of counters and of rows differ a little.
  await foldAll(sql);
  const counted = await groups(client);
  const open = client.timeline({ agentId: id });
  await open.next();
  const ended = (async () => {
    while ((await open.next()).done !== true);
    return "no error";
  })().catch((error: Error) => error.message);
  const cursor = await deleted(client, id);
  expect(await ended).toContain("NOT_FOUND");
  await deleted(other.client, id2);

  const check = async (): Promise<void> => {
    for (const reader of [client, other.client]) {
      for (const since of ["0", ...before.map((event) => event.cursor)].filter((_each, index) => index % 5 === 0)) {
        const got = await all(reader, since);
        const expected = theirs.filter((event) => since === "0" || event.cursor > since).map((event) => event.cursor);
        expect(got.slice(0, -2).map((event) => event.cursor)).toEqual(expected);
        expect(got.slice(-2).map(({ kind }) => kind)).toEqual(["AGENT_DELETED", "AGENT_DELETED"]);
      }
      expect(await groups(reader)).toEqual(counted);
      const { toolCalls } = await reader.get(ToolCallsDocument, {});
      expect(toolCalls.nodes).toHaveLength(1);
      expect((await reader.ask(ForkAgentDocument, { input: { agentId: id } })).data?.forkAgent.userErrors).toMatchObject([
        { code: "NOT_FOUND" },
      ]);
    }
  };
  await check();
  expect(cursor).not.toBe("");
  await Promise.all([DELETED_AGENTS.remove(sql, () => true), DELETED_AGENTS.remove(other.sql, () => true)]);
  await DELETED_AGENTS.remove(sql, () => true);
  await check();
  expect(await tablesWith(sql, SECRET)).toEqual([]);
  expect(TABLES_OF_DELETED).toEqual(expect.arrayContaining(await tablesWith(sql, rowId("Agent", id))));
});

it("a deletion races with a restore on another server: one of them wins whole", async () => {
  const url = await testDatabaseUrl();
  const [{ client, sql }, other] = [await server(url), await server(url)];
  for (let round = 0; round < 4; round += 1) {
    const agentId = await archived(client);
    const idle = async () =>
      (
        await sql.query<{ owner: string | null }, [string]>(
          { name: "owner_of", text: "SELECT lease_owner AS owner FROM agent WHERE id = $1" },
          [rowId("Agent", agentId)],
        )
      )[0]?.owner ?? null;
    await expect.poll(idle).toBeNull();
    const [deletion, restore] = await Promise.all([
      client.get(DeleteAgentDocument, { input: { agentId } }),
      other.client.get(UnarchiveAgentDocument, { input: { agentId } }),
    ]);
    const isDeleted = deletion.deleteAgent.deletedAgentId !== null;
    const codes = deletion.deleteAgent.userErrors.map(({ code }) => code);
    if (!isDeleted) expect(["NOT_ARCHIVED", "AT_WORK"]).toContain(codes[0]);
    else expect(restore.unarchiveAgent.agent).toBeNull();
    const { node } = await other.client.get(NodeDocument, { id: agentId });
    expect(node === null).toBe(isDeleted);
  }
});
