import { expect, it, onTestFinished } from "vitest";
import { NO_SKEW, type ClockSkew } from "../../src/db/database-clock.ts";
import { LEFT_VERSIONS } from "../../src/sweeps/left-rows.ts";
import { RemovalSweep } from "../../src/sweeps/removal.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { silentLogger } from "../support/silent-logger.ts";
import { toolWithPrompt } from "../support/tools.ts";
import { place } from "../support/template-versions.ts";

const READ = {
  name: "versions",
  text: "SELECT tenant, data ->> 'systemPrompt' AS prompt FROM template_version ORDER BY taken_at, prompt",
};
const AGE = { name: "age", text: "UPDATE template_version SET taken_at = taken_at - interval '2 days'" };
type Stored = { readonly tenant: string; readonly prompt: string };

it("the data of a version is stored once a tenant, and removed a day after no agent has it; nowhere where the clock is wrong", async () => {
  const { start } = await place();
  const first = await start({ systemPrompt: "First." });
  const { client } = first;
  const [one, other] = [await client.createAgent(), await client.createAgent()];
  await client.turn(one.id, "go");
  await client.turn(other.id, "go");
  const forgotten = await client.createAgent();
  await first.app.close();

  const second = await start({ systemPrompt: "Second." });
  const { sql } = second.app.database;
  const prompts = async () => (await sql.query<Stored, []>(READ, [])).map(({ tenant, prompt }) => `${tenant}: ${prompt}`);
  const state: { skew: ClockSkew } = { skew: NO_SKEW };
  const sweep = new RemovalSweep({ sql, logger: silentLogger, clockSkew: () => state.skew }, LEFT_VERSIONS);
  onTestFinished(() => sweep.close());
  const now = second.client;
  await now.turn(one.id, "go on");
  await now.turn(forgotten.id, "go");
  expect(await prompts()).toEqual(["local: First.", "local: Second."]);
  await sql.query(AGE, []);
  expect(await sweep.tidy()).toBe(0);
  await now.turn(other.id, "go on");
  state.skew = { ms: 6_000, isLarge: true };
  expect(await sweep.tidy()).toBe(0);
  state.skew = NO_SKEW;
  expect(await sweep.tidy()).toBe(1);
  expect(await prompts()).toEqual(["local: Second."]);
});

it("a manual is stored once a tenant, and removed a day after no agent has it", async () => {
  const { start } = await place();
  const withTool = (name: string) => ({ tools: [toolWithPrompt(name, `How to ${name}.`)] });
  const first = await start({ tools: ["dig"] }, withTool("dig"));
  const [one, other] = [await first.client.createAgent(), await first.client.createAgent()];
  await first.client.turn(one.id, "go");
  await first.client.turn(other.id, "go");
  await first.app.close();

  const { app, client, sql } = await start({ tools: ["sow"] }, withTool("sow")).then((second) => ({
    ...second,
    sql: second.app.database.sql,
  }));
  const query = { name: "manuals", text: "SELECT text FROM manual ORDER BY text" };
  const manuals = async () =>
    (await sql.query<{ text: string }, []>(query, [])).map(({ text }) => /How to (\w+)/.exec(text)?.[1]);
  const age = { name: "age", text: "UPDATE manual SET taken_at = taken_at - interval '2 days'" };
  const sweep = new RemovalSweep({ sql, logger: silentLogger, clockSkew: () => NO_SKEW }, LEFT_VERSIONS);
  onTestFinished(() => sweep.close());
  await client.turn(one.id, "go on");
  expect(await manuals()).toEqual(["dig", "sow"]);
  await sql.query(age, []);
  expect(await sweep.tidy()).toBe(0);
  await client.turn(other.id, "go on");
  // The commit that gives the manual again renews its time.
  const times = { name: "times", text: "SELECT FROM manual WHERE taken_at > policy_time() - interval '1 hour'" };
  expect(await sql.query(times, [])).toHaveLength(1);
  expect(await sweep.tidy()).toBe(1);
  expect(await manuals()).toEqual(["sow"]);
  await app.close();
});

it("a version that is taken again while it is removed stays", async () => {
  const { database, ...app } = await startTestApp();
  const { sql } = database;
  const client = connect(app.url);
  const { id } = await client.createAgent();
  await client.turn(id, "go");
  await sql.query(AGE, []);
  const other = await client.createAgent();
  // No agent has it any more, until the next turn takes it again.
  await sql.query({ name: "let_go", text: "UPDATE agent SET template_version = NULL" }, []);
  await client.turn(other.id, "go");
  await sql.query({ name: "let_go", text: "UPDATE agent SET template_version = NULL" }, []);
  const sweep = new RemovalSweep({ sql, logger: silentLogger, clockSkew: () => NO_SKEW }, LEFT_VERSIONS);
  onTestFinished(() => sweep.close());
  expect(await sweep.tidy()).toBe(0);
});

it("many old versions go in several statements", async () => {
  const { database } = await startTestApp();
  const text = `INSERT INTO template_version (tenant, digest, data, taken_at)
    SELECT 't' || i % 3, i::text, '{}', now() - interval '2 days' FROM generate_series(1, 2500) i`;
  await database.sql.query({ name: "fill", text }, []);
  const sweep = new RemovalSweep({ sql: database.sql, logger: silentLogger, clockSkew: () => NO_SKEW }, LEFT_VERSIONS);
  onTestFinished(() => sweep.close());
  expect(await sweep.tidy()).toBe(2_500);
});

it("a part of requests stays while an agent had one with it, and is removed a day after", async () => {
  const { start } = await place();
  const { app, client } = await start({ systemPrompt: "First." });
  const { sql } = app.database;
  await client.turn((await client.createAgent()).id, "go");
  const run = (name: string, text: string) => sql.query<{ readonly parts: number }, []>({ name, text }, []);
  const parts = async () => (await run("parts", "SELECT count(*)::int AS parts FROM request_part"))[0]?.parts;
  const sweep = new RemovalSweep({ sql, logger: silentLogger, clockSkew: () => NO_SKEW }, LEFT_VERSIONS);
  onTestFinished(() => sweep.close());
  await run("age_parts", "UPDATE request_part SET taken_at = taken_at - interval '2 days'");
  expect([await sweep.tidy(), await parts()]).toEqual([0, 3]);
  await run("leave_parts", "DELETE FROM agent_request_part");
  expect([await sweep.tidy(), await parts()]).toEqual([3, 0]);
});
