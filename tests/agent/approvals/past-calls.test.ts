import { expect, it } from "vitest";
import { pastCalls } from "../../../src/agent/approvals/allow-rules/past-calls.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { EventLog } from "../../../src/events/log.ts";
import { systemClock } from "../../../src/lib/time.ts";
import { testDatabase } from "../../support/database.ts";
import { insertAgent, type RowAgent } from "../../support/log.ts";

const OF = { tenant: "one", name: "own", templateId: "assistant" };

/** A log with an agent, reads of which are counted, and calls of that agent, three of the same time. */
async function recorded() {
  const { sql } = await testDatabase();
  const agent = await insertAgent(new EventLog(sql), "one");
  const counted = { reads: 0 };
  const query: Sql["query"] = (statement, values) => {
    counted.reads += 1;
    return sql.query(statement, values);
  };
  const services = { reads: { ...sql, query }, clock: systemClock };
  const insert = ({ agentId }: RowAgent, from: number, to: number, text: string): Promise<unknown> =>
    sql.query(
      {
        name: "insert_past",
        text: `INSERT INTO tool_call (id, tenant, agent_id, turn, step, ordinal, provider_id, name, state, attempt, is_error, stages, audit_trail, explanation, verdict, rule_values, created_at, updated_at)
          SELECT 'call-' || lpad(i::text, 6, '0'), 'one', $1, 1, i, 0, 'p', 'own', 'COMPLETED', 1, false, '[]', '[]', '{"verdict":"allow"}', 'allow',
            json_build_object('text', json_build_array(json_build_object('kind', 'text', 'value', i || ' ' || $4::text))), date_trunc('second', now()) - (i / 3) * interval '1 second', now()
          FROM generate_series($2::int, $3::int) i`,
      },
      [agentId, from, to, text],
    );
  return { services, counted, insert: (from: number, to: number, text = "") => insert(agent, from, to, text) };
}

const numbers = ({ calls }: Awaited<ReturnType<typeof pastCalls>>): number[] =>
  calls.map(({ values }) => Number.parseInt(JSON.stringify(values["text"]).replace(/^.*"value":"/, "")));

it("the calls that a proposed rule is compared with are read in pieces, each of them once, also of equal times (invariant 13)", async () => {
  const { services, counted, insert } = await recorded();
  expect(await pastCalls(services, OF)).toMatchObject({ calls: [], isPartial: false });
  await insert(1, 1_000);
  counted.reads = 0;
  const calls = numbers(await pastCalls(services, OF));
  expect(calls.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
  expect(calls.map((call) => Math.floor(call / 3))).toEqual(calls.map((call) => Math.floor(call / 3)).toSorted((a, b) => a - b));
  expect(counted.reads).toBe(5);
  expect(await pastCalls(services, { ...OF, templateId: "another" })).toMatchObject({ calls: [], isPartial: false });
});

it("a read is bounded although the calls are those of other templates, and says so (invariant 13)", async () => {
  const { services, counted, insert } = await recorded();
  await insert(1, 41_000);
  counted.reads = 0;
  expect(await pastCalls(services, { ...OF, templateId: "another" })).toMatchObject({ calls: [], isPartial: true });
  expect(counted.reads).toBe(160);
  counted.reads = 0;
  const { calls, isPartial } = await pastCalls(services, OF);
  expect([calls.length, isPartial, counted.reads]).toEqual([10_000, true, 40]);
});

it("fewer of them are read if rules see much of each: the newest 16 MB or so (invariant 13)", async () => {
  const { services, counted, insert } = await recorded();
  await insert(1, 2_000, "x".repeat(40_000));
  counted.reads = 0;
  const past = await pastCalls(services, OF);
  const calls = numbers(past);
  expect(past.isPartial).toBe(true);
  expect(calls.length).toBe(500);
  expect(Math.max(...calls)).toBeLessThan(505);
  expect(counted.reads).toBe(2);
});
