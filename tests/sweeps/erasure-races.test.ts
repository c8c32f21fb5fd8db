import { expect, it } from "vitest";
import type { Sql } from "../../src/db/sql.ts";
import { rowId } from "../../src/lib/global-id.ts";
import type { ModelRequest } from "../../src/agent/models/model.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { DELETED_AGENTS } from "../../src/sweeps/deleted-agents.ts";
import {
  ArchiveAgentDocument,
  DeleteAgentDocument,
  ForkAgentDocument,
  NodeDocument,
  SendMessageDocument,
  ToolCallGroupsDocument,
  TurnGroupsDocument,
  UnarchiveAgentDocument,
} from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { administrator, testDatabaseUrl } from "../support/database.ts";
import { beforeStatement, eraseOld, SECRET, tablesWith } from "../support/erasure.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

const tells = defineTool<{ readonly said: string }>({
  name: "tells",
  description: "Tells.",
  readOnly: false,
  inputSchema: { type: "object", required: ["said"], properties: { said: { type: "string" } } },
  run: async ({ said }) => ({ output: said, details: { said } }),
});
const isReply = ({ messages }: ModelRequest): boolean =>
  messages.at(-1)?.content.some(({ type }) => type === "tool_result") === true;

/** The newest words of a person. */
const saidIn = ({ messages }: ModelRequest): string =>
  messages
    .flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])))
    .findLast((text) => /^(remember|a new|go on|once)/.test(text)) ?? "";

/** What is done before the next statement for which it is. */
type Race = { readonly isIt: Parameters<typeof beforeStatement>[1]; readonly act: () => Promise<unknown> };

/** A server whose model calls a tool in each turn, and is as strict as a provider. `race` lets something come before a statement of the server. */
async function world(mode: "auto" | "approval" = "auto") {
  const url = await testDatabaseUrl();
  const reply = (request: ModelRequest): Played =>
    isReply(request)
      ? { text: `it is ${saidIn(request)}` }
      : { tool: "tells", input: { said: saidIn(request).replace("remember", "told") } };
  const clock = movableClock();
  let race: Race | null = null;
  const app = await startTestApp({
    database: { kind: "postgres", url, connections: 4 },
    model: windowedModel({ window: 200_000, reply, summary: () => "A summary." }),
    config: { tools: [tells] },
    template: { tools: ["tells"], permission: { mode } },
    overrides: {
      clock,
      sql: (sql) => ({
        ...sql,
        query: async (statement, values) => {
          const next = race;
          if (next === null || !next.isIt(statement, values)) return sql.query(statement, values);
          race = null;
          await next.act();
          return sql.query(statement, values);
        },
      }),
    },
  });
  const client = connect(app.url);
  const { sql } = app.database;
  const row = async (id: string, where: string) =>
    (await sql.query({ name: "", text: `SELECT FROM agent WHERE id = $1 AND ${where}` }, [rowId("Agent", id)])).length === 1;
  const settled = (id: string) =>
    expect.poll(() => row(id, "state = 'READY' AND lease_owner IS NULL AND runnable_at IS NULL")).toBe(true);
  const turn = async (id: string): Promise<void> => {
    expect((await client.turn(id, `remember ${SECRET}`)).at(-1)).toMatchObject({ kind: "DONE", reason: "COMPLETED" });
    await settled(id);
  };
  const agent = async (): Promise<string> => {
    const { id } = await client.createAgent({ title: "a title" });
    await turn(id);
    return id;
  };
  return {
    url,
    client,
    sql,
    agent,
    turn,
    settled,
    race: (next: Race) => void (race = next),
    later: () => clock.passHours(2, [app.database]),
  };
}

async function fork(client: TestClient, agentId: string): Promise<string> {
  const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId } });
  expect(forkAgent.userErrors).toEqual([]);
  return forkAgent.agent?.id ?? "";
}

const archive = (client: TestClient, agentId: string) => client.get(ArchiveAgentDocument, { input: { agentId } });
const remove = (client: TestClient, agentId: string) => client.get(DeleteAgentDocument, { input: { agentId } });
const groups = async (client: TestClient) =>
  (await client.get(ToolCallGroupsDocument, { by: ["TOOL", "STATE"] })).toolCallGroups.groups;

/** The words of a call, which no message of a person has. */
const TOLD = `told ${SECRET}`;

it.each([
  ["erase_tool_calls", "tool_call", TOLD],
  ["erase_blocks_of_calls", "message", TOLD],
  ["erase_messages", "message", `remember ${SECRET}`],
  ["erase_events", "event", TOLD],
])(
  "an agent that is sent a message before %s keeps the turn whole, and the rest goes in a later run",
  async (name, table, words) => {
    const { client, sql, settled, later } = await world("approval");
    const { id } = await client.createAgent();
    const allow = async (since: string): Promise<void> => {
      const asked = (await client.until(id, "PERMISSION_REQUIRED", since)).at(-1);
      if (asked?.__typename !== "PermissionRequired") throw new Error("nothing was asked");
      const { approvalId, inputHash } = asked.request;
      const { cursor } = await client.decide({ approvalId, decision: "ALLOW", inputHash });
      expect((await client.until(id, "DONE", cursor)).at(-1)).toMatchObject({ reason: "COMPLETED" });
      await settled(id);
    };
    const send = async (text: string): Promise<string> =>
      (await client.get(SendMessageDocument, { input: { agentId: id, text } })).sendMessage.cursor;
    await allow(await send(`remember ${SECRET}`));
    await later();
    let since = "";
    const during = beforeStatement(
      sql,
      (statement) => statement.name === name,
      async () => {
        since = await send("a new word");
        await client.until(id, "PERMISSION_REQUIRED", since);
      },
    );
    await eraseOld(during);
    // The statement found an agent at work: the open turn has its texts, and so have the earlier ones.
    expect(await tablesWith(sql, "a new word")).toEqual(expect.arrayContaining(["event", "message", "tool_call"]));
    expect(await tablesWith(sql, words)).toContain(table);
    await allow(since);
    await later();
    await eraseOld(sql);
    expect(await tablesWith(sql, SECRET)).toEqual([]);
    expect(await tablesWith(sql, "a new word")).toEqual([]);
  },
);

it("a fork that is made between any two statements of an erasure continues, and is erased by its own age", async () => {
  const { client, sql, agent, turn, later } = await world();
  const id = await agent();
  await turn(id);
  await later();
  const forks: string[] = [];
  const refusals: unknown[] = [];
  const before = (inner: Sql, name: string, act: () => Promise<unknown>): Sql =>
    beforeStatement(inner, (statement) => statement.name === name, act);
  const whole = ["erase_tool_calls", "erase_blocks_of_calls", "erase_messages"].reduce(
    (inner, name) => before(inner, name, async () => forks.push(await fork(client, id))),
    sql,
  );
  // Nobody can fork after an erased message.
  const late = async () => refusals.push((await client.get(ForkAgentDocument, { input: { agentId: id } })).forkAgent.userErrors);
  await eraseOld(before(whole, "erase_compactions", late));
  expect(forks).toHaveLength(3);
  expect(refusals).toMatchObject([[{ code: "INVALID" }]]);
  // The model refuses a call without its result, and a message without a text.
  for (const forked of [...forks, id]) await turn(forked);
  await later();
  await eraseOld(sql);
  expect(await tablesWith(sql, SECRET)).toEqual([]);
});

it("a fork races with the deletion of its original: it is whole, or there is none", async () => {
  const { client, sql, agent, turn, race } = await world();
  const [first, second] = [await agent(), await agent()];
  await archive(client, first);
  let forked = "";
  race({ isIt: ({ name }) => name === "commit_tenant_change", act: async () => (forked = await fork(client, first)) });
  expect((await remove(client, first)).deleteAgent.userErrors).toEqual([]);
  await DELETED_AGENTS.remove(sql, () => true);
  expect((await client.agent(forked)).messages.nodes).toHaveLength(4);
  await turn(forked);

  await archive(client, second);
  const isFork = (value: unknown): boolean => typeof value === "string" && value.includes('"fork":{');
  race({
    isIt: ({ name }, values) => name === "commit_change" && values.some(isFork),
    act: async () => expect((await remove(client, second)).deleteAgent.userErrors).toEqual([]),
  });
  const late = await client.get(ForkAgentDocument, { input: { agentId: second } });
  expect(late.forkAgent).toMatchObject({ agent: null, userErrors: [{ code: "NOT_FOUND" }] });
  await DELETED_AGENTS.remove(sql, () => true);
  const left = await sql.query<{ id: string }, []>({ name: "", text: "SELECT id FROM agent" }, []);
  expect(left).toEqual([{ id: rowId("Agent", forked) }]);
});

it("a message that comes before the commit of a deletion is answered, and the agent stays", async () => {
  const { client, sql, agent, settled, race } = await world();
  const id = await agent();
  await archive(client, id);
  race({
    isIt: ({ name }) => name === "commit_tenant_change",
    act: async () => {
      await client.get(UnarchiveAgentDocument, { input: { agentId: id } });
      await client.turn(id, "go on");
    },
  });
  expect((await remove(client, id)).deleteAgent.userErrors).toMatchObject([{ code: "NOT_ARCHIVED" }]);
  expect(await DELETED_AGENTS.remove(sql, () => true)).toBe(0);
  await settled(id);
  expect((await client.agent(id)).messages.nodes).toHaveLength(8);
});

it("a deletion waits for the audit to see the agent's last events, and the groups keep them", async () => {
  const { url, client, sql, agent, race, settled } = await world();
  const id = await agent();
  await archive(client, id);
  const before = await groups(client);
  const operator = await administrator(url);
  let isRefused = false;
  const isDeletion: Race["isIt"] = ({ name }) => name === "commit_tenant_change";
  // Events that the audit has not seen come before the first commit. The audit is held until there is a second one.
  race({
    isIt: isDeletion,
    act: async () => {
      await operator.query("BEGIN");
      await operator.query("SELECT FROM audit_fold FOR UPDATE");
      await client.get(UnarchiveAgentDocument, { input: { agentId: id } });
      await client.turn(id, "once more");
      await settled(id);
      await archive(client, id);
      await settled(id);
      race({
        isIt: isDeletion,
        act: async () => {
          isRefused = true;
          await operator.query("COMMIT");
        },
      });
    },
  });
  expect((await remove(client, id)).deleteAgent.userErrors).toEqual([]);
  expect(isRefused).toBe(true);
  expect((await client.ask(NodeDocument, { id })).data?.node ?? null).toBeNull();
  await DELETED_AGENTS.remove(sql, () => true);
  const [group] = await groups(client);
  expect(before).toMatchObject([{ figures: { calls: 1 } }]);
  expect(group).toMatchObject({ figures: { calls: 2 } });
});

it("a deletion waits until the rows of steps and turns are made anew, and the groups keep the agent's", async () => {
  const { url, client, agent, race } = await world();
  const id = await agent();
  await archive(client, id);
  const counted = async () =>
    (await client.get(TurnGroupsDocument, { by: ["AGENT"] })).turnGroups.groups.map(({ agentId }) => agentId);
  expect(await counted()).toEqual([id]);
  const operator = await administrator(url);
  race({
    isIt: ({ name }) => name === "commit_tenant_change",
    act: () =>
      operator.query(
        "BEGIN; TRUNCATE audit_step, audit_turn; UPDATE audit_turn_fold SET whole_at = NULL, filled_id = ''; COMMIT",
      ),
  });
  expect((await remove(client, id)).deleteAgent.userErrors).toEqual([]);
  expect(await counted()).toEqual([id]);
});
