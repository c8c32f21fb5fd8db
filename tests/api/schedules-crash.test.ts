import { expect, it } from "vitest";
import { CreateScheduleDocument } from "../generated/documents.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";
import { setPolicyTime } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { playedModel, says } from "../support/models.ts";
import { aroundWrites } from "../support/writes.ts";

const HOUR = 60 * 60_000;
const ahead = (ms: number): string => `statement_timestamp() + interval '${ms} ms'`;

it.each([
  ["before the commit of its reminder", false],
  ["before it hears of the commit", true],
])("a schedule triggers once if its server dies %s", async (_when, isCommitted) => {
  let died = 0;
  const app = await startTestApp({
    model: playedModel(() => says("Done.")),
    expectsErrors: true,
    overrides: {
      sql: (sql) =>
        aroundWrites(sql, async ({ kinds }, write) => {
          if (!kinds.includes("SCHEDULER_TRIGGERED") || died > 0) return write();
          died += 1;
          if (isCommitted) await write();
          throw new Error("the server dies here");
        }),
    },
  });
  const client = connect(app.url);
  const agent = await client.createAgent();
  await client.get(CreateScheduleDocument, { input: { agentId: agent.id, text: "Look.", trigger: { everyMs: HOUR } } });
  await setPolicyTime(app.database.sql, ahead(HOUR));
  await expect.poll(() => died, { timeout: 5_000 }).toBe(1);
  // The claim of the dead server is over.
  await setPolicyTime(app.database.sql, ahead(HOUR + 10_000));
  const events = await client.until(agent.id, "DONE");
  expect(ofType(events, "SchedulerTriggered")).toMatchObject([{ missed: 0 }]);
  expect(ofType(events, "ReminderSent")).toHaveLength(1);
  const due = { name: "", text: "SELECT count(*)::int AS due FROM wait WHERE kind = 'SCHEDULE' AND due <= policy_time()" };
  await expect.poll(() => app.database.sql.query(due, [])).toEqual([{ due: 0 }]);
  expect(ofType(await client.events(agent.id), "SchedulerTriggered")).toHaveLength(1);
});

it("schedules trigger once each if two servers look at them", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const model = playedModel(() => says("Done."));
  const [one, other] = [await startTestApp({ model, database }), await startTestApp({ model, database })];
  const client = connect(one.url);
  const agents = await Promise.all(Array.from({ length: 20 }, async () => client.createAgent({ workspace: one.workspace })));
  const [row] = await one.database.sql.query<{ now: Date }, []>({ name: "", text: "SELECT policy_time() AS now" }, []);
  const at = new Date((row?.now ?? new Date()).getTime() + HOUR).toISOString();
  for (const [index, { id }] of agents.entries()) {
    const door = index % 2 === 0 ? client : connect(other.url);
    for (const trigger of [{ at }, { everyMs: HOUR }])
      await door.get(CreateScheduleDocument, { input: { agentId: id, text: "Look.", trigger } });
  }
  await setPolicyTime(one.database.sql, ahead(HOUR + 30_000));
  const count = {
    name: "",
    text: "SELECT count(*)::int AS events, count(DISTINCT payload->>'taskId')::int AS schedules FROM event WHERE kind = 'SCHEDULER_TRIGGERED'",
  };
  const counted = () => one.database.sql.query<{ events: number; schedules: number }, []>(count, []);
  await expect.poll(async () => (await counted())[0]?.schedules, { timeout: 10_000 }).toBe(40);
  expect(await counted()).toEqual([{ events: 40, schedules: 40 }]);
});

it("a server that is slow after its claim sends nothing, since another one was first", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const model = playedModel(() => says("Done."));
  const held = Promise.withResolvers<void>();
  const outcome = Promise.withResolvers<"written" | "refused">();
  let isHeld = false;
  const slow = await startTestApp({
    model,
    database,
    overrides: {
      sql: (sql) =>
        aroundWrites(sql, async ({ kinds }, write) => {
          if (!kinds.includes("SCHEDULER_TRIGGERED") || isHeld) return write();
          isHeld = true;
          await held.promise;
          try {
            const rows = await write();
            outcome.resolve("written");
            return rows;
          } catch (error) {
            outcome.resolve("refused");
            throw error;
          }
        }),
    },
  });
  const client = connect(slow.url);
  const agent = await client.createAgent();
  await client.get(CreateScheduleDocument, { input: { agentId: agent.id, text: "Look.", trigger: { everyMs: HOUR } } });
  await setPolicyTime(slow.database.sql, ahead(HOUR));
  await expect.poll(() => isHeld, { timeout: 5_000 }).toBe(true);
  // The claim is over, and another server looks.
  await setPolicyTime(slow.database.sql, ahead(HOUR + 10_000));
  const other = await startTestApp({ model, database });
  await connect(other.url).until(agent.id, "DONE");
  held.resolve();
  expect(await outcome.promise).toBe("refused");
  expect(ofType(await client.events(agent.id), "ReminderSent")).toHaveLength(1);
});
