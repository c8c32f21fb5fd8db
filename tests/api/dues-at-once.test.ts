import { expect, it } from "vitest";
import { defineTool, later, Type } from "../../src/triplane.ts";
import { CreateScheduleDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { callsWith, playedModel, says } from "../support/models.ts";

const HOUR = 60 * 60_000;
const sleeps = defineTool({
  name: "sleeps",
  description: "Waits for its time to be up.",
  inputSchema: Type.Object({}),
  readOnly: true,
  run: () => later({ dueMs: HOUR }),
});

/** Two servers of one database. In each turn the model makes five calls that wait, or none after a reminder. */
async function twoServers() {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 5 } as const;
  const model = playedModel((request) => {
    const last = JSON.stringify(request.messages.at(-1)?.content);
    return last.includes("go") ? callsWith(...Array.from({ length: 5 }, () => ["sleeps", {}] as const)) : says("Done.");
  });
  const options = { model, database, config: { tools: [sleeps] }, template: { permission: { mode: "auto" } } } as const;
  const [one, other] = [await startTestApp(options), await startTestApp(options)];
  const { sql } = one.database;
  const clients = [connect(one.url), connect(other.url)] as const;
  const make = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => clients[0].createAgent({ workspace: one.workspace })));
  const ask = async <Row>(text: string): Promise<Row | undefined> => (await sql.query<Row, []>({ name: "", text }, []))[0];
  return { sql, clients, make, ask };
}

it("50 calls whose waits are due at the same instant on two servers end once each", async () => {
  const { sql, clients, make, ask } = await twoServers();
  const agents = await make(10);
  for (const [index, { id }] of agents.entries()) await clients[index % 2 === 0 ? 0 : 1].send(id, "go");
  const open = () => ask("SELECT count(*)::int AS n FROM wait WHERE kind = 'LATER' AND settled_at IS NULL");
  await expect.poll(open, { timeout: 15_000 }).toEqual({ n: 50 });
  await ask("UPDATE wait SET due = (SELECT max(due) FROM wait) WHERE kind = 'LATER' RETURNING id");
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  const ended = () =>
    ask(
      "SELECT count(*)::int AS ends, count(DISTINCT payload #>> '{call,callId}')::int AS calls FROM event WHERE kind = 'TOOL_END' AND payload #>> '{call,error,type}' = 'timeout'",
    );
  await expect.poll(ended, { timeout: 15_000 }).toEqual({ ends: 50, calls: 50 });
  const done = () => ask("SELECT count(*)::int AS n FROM event WHERE kind = 'DONE'");
  await expect.poll(done, { timeout: 15_000 }).toEqual({ n: 10 });
  expect([await open(), await ended()]).toEqual([{ n: 0 }, { ends: 50, calls: 50 }]);
}, 60_000);

it("50 schedules that are due at the same instant on two servers send one reminder each", async () => {
  const { sql, clients, make, ask } = await twoServers();
  const agents = await make(50);
  const now = await ask<{ now: Date }>("SELECT policy_time() AS now");
  const at = new Date((now?.now ?? new Date()).getTime() + HOUR).toISOString();
  for (const [index, { id: agentId }] of agents.entries())
    await clients[index % 2 === 0 ? 0 : 1].get(CreateScheduleDocument, { input: { agentId, text: "Look.", trigger: { at } } });
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  const count = (kind: string) =>
    ask(`SELECT count(*)::int AS events, count(DISTINCT agent_id)::int AS agents FROM event WHERE kind = '${kind}'`);
  for (const kind of ["DONE", "SCHEDULER_TRIGGERED", "REMINDER_SENT"])
    await expect.poll(() => count(kind), { timeout: 20_000 }).toEqual({ events: 50, agents: 50 });
  const due = await ask("SELECT count(*)::int AS n FROM wait WHERE settled_at IS NULL");
  expect(due).toEqual({ n: 0 });
}, 60_000);
