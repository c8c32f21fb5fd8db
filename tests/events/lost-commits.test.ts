import { expect, it } from "vitest";
import { claim, LEASE_TIMES } from "../../src/agent/lease.ts";
import { CommitsLost } from "../../src/events/log-page.ts";
import { EventLog } from "../../src/events/log.ts";
import { startTestApp } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { testDatabase } from "../support/database.ts";
import { runFile } from "../support/process.ts";
import { chunk, everything, insertAgent, readAll } from "../support/log.ts";

it("a failover that lost nothing is passed without a word, also after retention has removed what was known", async () => {
  const { sql } = await testDatabase();
  const log = new EventLog(sql);
  const agent = await insertAgent(log, "one");
  await log.append("one", [{ ...agent, fence: null, events: [chunk("a"), chunk("b")] }]);
  expect(await log.compareNewest()).toEqual([]);
  await sql.query({ name: "f", text: "UPDATE tenant_log SET floor = 2" }, []);
  await sql.query({ name: "d", text: "DELETE FROM event" }, []);
  expect(await log.compareNewest()).toEqual([]);
});

it("a failover that lost commits stops that tenant on every server until npm run restored (A13)", async () => {
  const { sql, url } = await testDatabase();
  const log = new EventLog(sql);
  const [agent, other] = [await insertAgent(log, "one"), await insertAgent(log, "two")];
  for (const delta of ["a", "b", "c"]) await log.append("one", [{ ...agent, fence: null, events: [chunk(delta)] }]);
  await log.append("two", [{ ...other, fence: null, events: [chunk("kept")] }]);
  // A standby that had not received the last two, and where another server has written since.
  await sql.query({ name: "l", text: "DELETE FROM event WHERE tenant = 'one' AND position > 1" }, []);
  const elsewhere = new EventLog(sql);
  for (const delta of ["x", "y", "z"]) await elsewhere.append("one", [{ ...agent, fence: null, events: [chunk(delta)] }]);
  expect(await log.compareNewest()).toEqual(["one"]);

  const anew = new EventLog(sql);
  await expect(anew.head("one")).rejects.toBeInstanceOf(CommitsLost);
  await expect(anew.read(everything("one"), 0)).rejects.toBeInstanceOf(CommitsLost);
  await expect(anew.commit("one", { ...agent, fence: null, events: [chunk("no")] }, { wake: true })).rejects.toBeInstanceOf(
    CommitsLost,
  );
  await expect(anew.append("one", [{ ...agent, fence: null, events: [chunk("no")] }])).rejects.toBeInstanceOf(CommitsLost);
  await sql.query({ name: "r", text: "UPDATE agent SET runnable_at = now()" }, []);
  expect(await claim(sql, "here", [agent.agentId, other.agentId], LEASE_TIMES, "RUN_OUT")).toMatchObject([
    { agentId: other.agentId },
  ]);
  expect(await readAll(anew, everything("two"))).toHaveLength(1);

  const restored = runFile("scripts/restored.ts", [], { DATABASE_URL: url });
  expect(await restored.exited, restored.output()).toBe(0);
  expect((await readAll(anew, everything("one"))).length).toBe(4);
});

it("is said by /readyz and by a typed error, and npm run restored refuses while a server is connected", async () => {
  const { sql, url } = await testDatabase();
  const app = await startTestApp({ database: { kind: "postgres", url, connections: 3 } });
  const client = connect(app.url);
  await client.createAgent();
  await sql.query({ name: "m", text: "UPDATE tenant_log SET lost_at = now()" }, []);
  await expect
    .poll(async () => (await fetch(app.url.replace("/graphql", "/readyz"))).text(), { timeout: 5_000 })
    .toContain("npm run restored");
  const { errors } = await client.post({ query: "{ timeline { cursor } }" });
  expect(errors[0]?.extensions?.["code"]).toBe("COMMITS_LOST");
  const refused = runFile("scripts/restored.ts", [], { DATABASE_URL: url });
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toMatch(/servers are connected \(triplane \d+ bell from/);
  const forced = runFile("scripts/restored.ts", ["--force"], { DATABASE_URL: url });
  expect(await forced.exited, forced.output()).toBe(0);
  await client.createAgent();
});
