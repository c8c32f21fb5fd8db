import { expect, it, onTestFinished } from "vitest";
import { NO_SKEW, type ClockSkew } from "../../src/db/database-clock.ts";
import { KeysSweep } from "../../src/sweeps/sweeps.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { silentLogger } from "../support/silent-logger.ts";

it("an idempotency key is known for 30 days, and goes then; nowhere where the clock is wrong", async () => {
  const app = await startTestApp();
  const client = connect(app.url);
  const { sql } = app.database;
  const create = async (): Promise<string | undefined> => {
    const { data } = await client.post<{ createAgent: { agent: { id: string } } }>({
      query: `mutation { createAgent(input: { templateId: "assistant", idempotencyKey: "mine" }) { agent { id } } }`,
    });
    return data?.createAgent.agent.id;
  };
  const state: { skew: ClockSkew } = { skew: NO_SKEW };
  const sweep = new KeysSweep({ sql, logger: silentLogger, clockSkew: () => state.skew }, 30);
  onTestFinished(() => sweep.close());
  const first = await create();
  expect(await sweep.tidy()).toBe(0);
  await setPolicyTime(sql, "statement_timestamp() + interval '29 days'");
  expect(await sweep.tidy()).toBe(0);
  expect(await create()).toBe(first);
  await setPolicyTime(sql, "statement_timestamp() + interval '31 days'");
  state.skew = { ms: 6_000, isLarge: true };
  expect(await sweep.tidy()).toBe(0);
  state.skew = NO_SKEW;
  expect(await sweep.tidy()).toBe(1);
  expect(await create()).not.toBe(first);
});

it("many old keys go in several statements", async () => {
  const { database } = await startTestApp();
  const text = `INSERT INTO idempotency_key (tenant, actor_id, operation, key, body_hash, result_id, created_at)
    SELECT 't', 'a', 'o', i::text, 'h', 'r', now() - interval '40 days' FROM generate_series(1, 12000) i`;
  await database.sql.query({ name: "fill", text }, []);
  const sweep = new KeysSweep({ sql: database.sql, logger: silentLogger, clockSkew: () => NO_SKEW }, 41);
  const shorter = new KeysSweep({ sql: database.sql, logger: silentLogger, clockSkew: () => NO_SKEW }, 39.5);
  onTestFinished(async () => void (await Promise.all([sweep.close(), shorter.close()])));
  expect(await sweep.tidy()).toBe(0);
  expect(await shorter.tidy()).toBe(12_000);
});
