import { expect, it } from "vitest";
import type { DatabaseConfig } from "../../src/db/database.ts";
import type { Sql } from "../../src/db/sql.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import { LEFT_IMAGES } from "../../src/sweeps/left-rows.ts";
import {
  ApprovalGroupsDocument,
  SendMessageDocument,
  StepGroupsDocument,
  ToolCallGroupsDocument,
  TurnGroupsDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { auditOfRows, foldAll } from "../support/audit.ts";
import { connect, type TestClient } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { deleteArchived, eraseOld, SECRET, tablesWith } from "../support/erasure.ts";
import { png } from "../support/images.ts";
import { viewsReader } from "../support/views-reader.ts";
import { ownTool } from "../support/tools.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

/** Numbers from 0 to below `most`, the same for a seed. */
function numbersOf(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

const TOOLS = ["reads", "fails", "shows"] as const;
const tools = [
  ownTool("reads", async () => ({ output: SECRET, details: { said: SECRET } })),
  ownTool("fails", async () => {
    throw new Error(SECRET);
  }),
  ownTool("shows", async () => ({ output: SECRET, details: null, images: [{ mediaType: "image/png", data: png(1) }] })),
];

/** A log of some agents: turns with and without calls that end well, fail, or show an image. */
async function generated(seed: number, database: DatabaseConfig) {
  const next = numbersOf(seed);
  const plans = Array.from({ length: 4 }, () =>
    Array.from({ length: 1 + next(2) }, () => Array.from({ length: next(4) }, () => next(TOOLS.length))),
  );
  const reply = ({ messages }: { readonly messages: readonly { readonly content: readonly object[] }[] }): Played => {
    const texts = JSON.stringify(messages);
    const [plan = ""] = [...texts.matchAll(/plan:([0-9,]*);/g)].at(-1)?.slice(1) ?? [];
    const wanted = plan === "" ? [] : plan.split(",").map(Number);
    const done = texts.slice(texts.lastIndexOf("plan:")).split("tool_result").length - 1;
    const tool = wanted[done];
    return tool === undefined ? { text: `it is ${SECRET}` } : { tool: TOOLS[tool] ?? "reads", input: { said: SECRET } };
  };
  const clock = movableClock();
  const app = await startTestApp({
    database,
    model: windowedModel({ window: 1_000_000, reply, summary: () => "A summary." }),
    config: { tools },
    template: { tools: [...TOOLS], permission: { mode: "auto" } },
    overrides: { clock },
  });
  const { sql } = app.database;
  const client = connect(app.url);
  const agents: string[] = [];
  for (const turns of plans) {
    const { id } = await client.createAgent({ title: SECRET });
    for (const calls of turns) {
      const images = next(2) === 0 ? [] : [{ mediaType: "PNG", data: png(2) } as const];
      const { sendMessage } = await client.get(SendMessageDocument, {
        input: { agentId: id, text: `${SECRET} plan:${calls.join()};`, images },
      });
      await client.until(id, "DONE", sendMessage.cursor);
    }
    agents.push(id);
  }
  const idle = {
    name: "",
    text: "SELECT FROM agent WHERE state <> 'READY' OR lease_owner IS NOT NULL OR runnable_at IS NOT NULL",
  };
  await expect.poll(async () => (await sql.query(idle, [])).length).toBe(0);
  await foldAll(sql);
  return {
    app,
    sql,
    client,
    agents,
    calls: plans.flat(2).length,
    next,
    passHours: (hours: number) => clock.passHours(hours, [app.database]),
  };
}

/** The groups by each dimension that no deletion takes away. */
async function groupsOf(client: TestClient) {
  const calls = await client.get(ToolCallGroupsDocument, { by: ["TOOL", "STATE", "VERDICT", "ERROR_TYPE"] });
  const byAgent = await client.get(ToolCallGroupsDocument, { by: ["AGENT"] });
  const steps = await client.get(StepGroupsDocument, { by: ["MODEL", "STATE"] });
  const turns = await client.get(TurnGroupsDocument, { by: ["MODEL", "REASON"] });
  return written([
    calls.toolCallGroups.groups,
    byAgent.toolCallGroups.groups.map(({ agentId, figures }) => ({ agentId, figures })),
    steps.stepGroups.groups,
    turns.turnGroups.groups,
  ]);
}

/** As JSON, with groups in one order. Sums of floating numbers depend on their order in the last digits. */
function written(lists: readonly (readonly object[])[]): string {
  const rounded = (_key: string, value: unknown): unknown => (typeof value === "number" ? Number(value.toPrecision(9)) : value);
  return lists
    .map((list) =>
      list
        .map((each) => JSON.stringify(each, rounded))
        .toSorted()
        .join("\n"),
    )
    .join("\n\n");
}

/** Erases, with the audit made anew before or after; then deletes some agents. Groups and counters stay as they were. */
async function holds(seed: number, database: DatabaseConfig) {
  const world = await generated(seed, database);
  const { sql, client, agents, calls, next, passHours } = world;
  const before = await groupsOf(client);
  const approvals = written([(await client.get(ApprovalGroupsDocument, {})).approvalGroups.groups]);
  await passHours(2);
  await eraseOld(sql);
  expect(await groupsOf(client)).toEqual(before);
  expect(written([(await client.get(ApprovalGroupsDocument, {})).approvalGroups.groups])).toEqual(approvals);
  // The audit of erased rows is that of whole ones.
  await auditOfRows(sql);
  expect(await groupsOf(client)).toEqual(before);
  expect(await tablesWith(sql, SECRET)).toEqual(["agent"]);
  const counters = await counted(sql);
  const deleted = agents.filter(() => next(2) === 0);
  await Promise.all(deleted.map((id) => deleteArchived(sql, client, id)));
  expect(await groupsOf(client)).toEqual(before);
  await DELETED_AGENTS.remove(sql, () => true);
  expect(await groupsOf(client)).toEqual(before);
  expect(await counted(sql)).toEqual(counters);
  await sql.query({ name: "", text: "UPDATE image SET taken_at = taken_at - interval '2 days'" }, []);
  await LEFT_IMAGES.remove(sql, () => true);
  expect(await sql.query({ name: "", text: "SELECT FROM image" }, [])).toEqual([]);
  return { ...world, deleted, kept: agents.filter((id) => !deleted.includes(id)), calls };
}

async function counted(sql: Sql): Promise<unknown> {
  const tables = ["audit_count", "audit_quarter", "audit_call", "audit_step", "audit_turn"];
  return Promise.all(
    tables.map((table) =>
      sql.query(
        { name: "", text: `SELECT md5(coalesce(string_agg(t::text, ' ' ORDER BY t::text), '')) AS rows FROM ${table} t` },
        [],
      ),
    ),
  );
}

it.each([1, 2])(
  "groups and counters of a generated log stay after erasure and deletion, and views say what was removed (%i)",
  async (seed) => {
    const url = await testDatabaseUrl();
    const { deleted, kept, agents, sql } = await holds(seed, { kind: "postgres", url, connections: 4 });
    const reader = await viewsReader(url, "local", true);
    const ids = async (text: string) => (await reader.query<{ id: string }>(text)).rows.map(({ id }) => id).toSorted();
    const rowsOf = (some: readonly string[]) => some.map((id) => rowId("Agent", id)).toSorted();
    expect(await ids("SELECT agent_id AS id FROM bi.deleted_agent WHERE removed_at IS NOT NULL")).toEqual(rowsOf(deleted));
    for (const view of ["message", "step", "turn", "event"])
      expect([view, await ids(`SELECT DISTINCT agent_id AS id FROM bi.${view} WHERE agent_id IS NOT NULL`)]).toEqual([
        view,
        rowsOf(kept),
      ]);
    for (const view of ["tool_call", "message"])
      expect((await reader.query(`SELECT FROM bi.${view} WHERE erased_at IS NULL`)).rows).toEqual([]);
    expect(agents).toHaveLength(deleted.length + kept.length);
    expect(await sql.query({ name: "", text: "SELECT FROM agent WHERE tenant = ''" }, [])).toEqual([]);
  },
);

it("so it is on the embedded database", async () => {
  const { deleted, sql } = await holds(4, { kind: "embedded", folder: await embeddedFolder() });
  expect(deleted.length).toBeGreaterThan(0);
  expect(await sql.query({ name: "", text: "SELECT FROM agent WHERE tenant = ''" }, [])).toEqual([]);
});
