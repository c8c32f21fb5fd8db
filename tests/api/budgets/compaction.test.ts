import fc from "fast-check";
import { expect, it } from "vitest";
import { NO_TOKENS, type ModelEvent, type ModelRequest } from "../../../src/agent/models/model.ts";
import { startTestApp, type TestAppOptions } from "../../support/app.ts";
import { connect, ofType } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { viewsReader } from "../../support/views-reader.ts";
import { windowedModel } from "../../support/windowed-model.ts";

const PRICE = { input: 10, output: 50, cacheRead: 0, cacheWrite: 0 };

type Sums = { spent: number; estimated: number; held: number; steps: number; compactions: number };

/** Millionths of a dollar on the one budget, and in the rows of steps and compactions. */
const SUMS = {
  name: "sums_of_compactions",
  text: `SELECT (SELECT sum(spent_millionths)::float8 FROM budget_period) AS spent, (SELECT sum(estimated_millionths)::float8 FROM budget_period) AS estimated,
    (SELECT sum(held_millionths)::float8 FROM budget_period) AS held,
    (SELECT sum(cost_usd)::float8 * 1e6 FROM step) AS steps, coalesce((SELECT sum(cost_usd)::float8 * 1e6 FROM compaction), 0) AS compactions`,
} as const;

/** Only the names count: the models themselves are played. */
const SCRIPTED = { provider: "scripted", script: { replies: [{ when: {}, say: ["ok"] }] } } as const;

/** An agent with a budget and a small window, whose summaries are made by another model. */
async function world(
  summary: (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent> | string,
  more: Pick<TestAppOptions, "database" | "config"> = {},
) {
  const model = { ...windowedModel({ window: 8_000, reply: () => ({ text: "ok" }), summary: () => "" }), price: PRICE };
  const summariser = {
    ...windowedModel({ window: 100_000, reply: () => ({ text: "" }), summary }),
    name: "summariser",
    price: { ...PRICE, input: 1 },
  };
  const app = await startTestApp({
    model,
    template: { tools: ["todo_read"], context: { model: "summariser" }, budgets: [{ per: "AGENT", usd: 500, then: "stop" }] },
    overrides: {
      models: new Map([
        ["test", model],
        ["summariser", summariser],
      ]),
    },
    ...more,
    config: { models: { test: SCRIPTED, summariser: SCRIPTED }, ...more.config },
  });
  const client = connect(app.url);
  const sums = async (): Promise<Sums> => {
    const [row] = await app.database.sql.query<Sums, []>(SUMS, []);
    if (row === undefined) throw new Error("sums have a row");
    return row;
  };
  return { app, client, summariser, sums };
}

/** Turns until a summary has begun. */
async function talkUntilSummary({ client, summariser }: Awaited<ReturnType<typeof world>>, id: string): Promise<void> {
  for (let turn = 0; summariser.summaries.length === 0; turn += 1) {
    await client.turn(id, `message ${turn}: ${"m".repeat(3_000)}`);
    await expect.poll(async () => (await client.agent(id)).state).toBe("READY");
  }
}

it("a summary is charged to the budgets of its agent, at the price of its own model", async () => {
  const office = await world(() => "Facts: the colour is blue.");
  const { id } = await office.client.createAgent();
  await talkUntilSummary(office, id);
  await office.client.turn(id, "and now?");
  const ends = ofType(await office.client.events(id), "ContextCompression").filter(({ summary }) => summary !== null);
  expect(ends).toHaveLength(1);
  const { spent, estimated, held, steps, compactions } = await office.sums();
  expect(compactions).toBeGreaterThan(0);
  expect(spent).toBeCloseTo(steps + compactions, 3);
  expect({ estimated, held }).toEqual({ estimated: 0, held: 0 });
});

it("a summary under way ends when its server closes: it is charged once, and made again by the next server", async () => {
  const url = await testDatabaseUrl();
  const database = { kind: "postgres", url, connections: 3 } as const;
  const first = await world(hangs, { database });
  const { id } = await first.client.createAgent();
  await talkUntilSummary(first, id);
  const before = await first.sums();
  await first.app.close();
  const second = await world(() => "Facts: the colour is blue.", {
    database,
    config: { workspaceRoots: [first.app.workspace], defaultWorkspace: first.app.workspace },
  });
  const ends = async () => ofType(await second.client.events(id), "ContextCompression").map((event) => event.failureReason);
  expect(await ends()).toEqual([null, "the server was closing"]);
  const closed = await second.sums();
  expect(closed.spent).toBeCloseTo(closed.steps + closed.compactions, 3);
  expect(closed.compactions).toBeGreaterThan(before.compactions);
  for (let turn = 0; turn < 6; turn += 1) await second.client.turn(id, `more ${turn}`);
  await expect.poll(ends).toEqual([null, "the server was closing", null, null]);
  const { spent, steps, compactions, held } = await second.sums();
  expect(spent).toBeCloseTo(steps + compactions, 3);
  expect(held).toBe(0);
  const done = ofType(await second.client.events(id), "Done");
  expect(new Set(done.map(({ reason }) => reason))).toEqual(new Set(["COMPLETED"]));
});

/** Has read its request, and says nothing until it is broken off. */
async function* hangs(_request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  yield { type: "counted", usage: { ...NO_TOKENS, inputTokens: 5_000 } };
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  throw signal.reason;
}

it("the costs of steps and compactions in the SQL views add up to those of the budgets", { timeout: 120_000 }, async () => {
  const turn = fc.record({ characters: fc.integer({ min: 10, max: 6_000 }), agent: fc.nat(1) });
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 6, maxLength: 12 }), async (turns) => {
      const url = await testDatabaseUrl();
      const { client, sums, app } = await world(() => "Facts.", { database: { kind: "postgres", url, connections: 3 } });
      const agents = [await client.createAgent(), await client.createAgent()] as const;
      for (const { characters, agent } of turns) await client.turn(agents[agent === 0 ? 0 : 1].id, "m".repeat(characters));
      await expect.poll(async () => (await sums()).held).toBe(0);
      const { spent } = await sums();
      const reader = await viewsReader(url, "local");
      const all = `SELECT coalesce(sum(cost_usd), 0) * 1e6 AS spent FROM (SELECT cost_usd, copy_of_agent_id FROM bi.step
          UNION ALL SELECT cost_usd, copy_of_agent_id FROM bi.compaction) c WHERE copy_of_agent_id IS NULL`;
      const { rows } = await reader.query<{ spent: number }>(all);
      expect(rows[0]?.spent).toBeCloseTo(spent, 3);
      await app.close();
    }),
    { numRuns: 4 },
  );
});
