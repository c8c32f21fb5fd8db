import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { stillHeld, claim, LEASE_TIMES, renew } from "../../src/agent/lease.ts";
import { Appender } from "../../src/events/appender.ts";
import { EventLog } from "../../src/events/log.ts";
import { testDatabase } from "../support/database.ts";
import { chunk, deltas, everything, insertAgent, readAll } from "../support/log.ts";

/** A transaction of somebody else that holds the row of an agent, and the end of it. */
async function holdRow(url: string, agentId: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM agent WHERE id = $1 FOR UPDATE", [agentId]);
  return async () => void (await client.query("COMMIT"));
}

describe("a locked row concerns its agent only (A6, invariant 13)", () => {
  it("others of the same batch are committed at once, and the agent's own events once the row is free", async () => {
    const { sql, url } = await testDatabase();
    const log = new EventLog(sql);
    const [locked, free, first] = [await insertAgent(log, "one"), await insertAgent(log, "one"), await insertAgent(log, "one")];
    const letGo = await holdRow(url, locked.agentId);
    const appender = new Appender(log);
    const append = (agent: typeof locked, delta: string) =>
      appender.append("one", { ...agent, fence: null, events: [chunk(delta)] });
    // The first goes alone, what comes meanwhile goes together.
    const begun = append(first, "first");
    const held = append(locked, "held");
    await Promise.all([begun, append(free, "free")]);
    await append(first, "more");
    expect(deltas(await readAll(log, everything("one")))).toEqual(["first", "free", "more"]);
    await letGo();
    expect(await held).toMatchObject({ outcome: "COMMITTED" });
    expect(deltas(await readAll(log, everything("one")))).toEqual(["first", "free", "more", "held"]);
  });

  it("the leases of others are renewed, and that of the agent is still its holder's", async () => {
    const { sql, url } = await testDatabase();
    const log = new EventLog(sql);
    const agents = await Promise.all(Array.from({ length: 3 }, () => insertAgent(log, "one")));
    await sql.query({ name: "r", text: "UPDATE agent SET runnable_at = now()" }, []);
    const ids = agents.map(({ agentId }) => agentId);
    const leases = await claim(sql, "here", ids, LEASE_TIMES, "RUN_OUT");
    await holdRow(url, ids[0] ?? "");
    const began = performance.now();
    expect(await renew(sql, "here", leases, LEASE_TIMES)).toEqual(new Set(ids.slice(1)));
    expect(performance.now() - began).toBeLessThan(1_000);
    expect(await stillHeld(sql, "here", leases)).toEqual(new Set(ids));
    await sql.query({ name: "t", text: "UPDATE agent SET lease_owner = 'there' WHERE id = $1" }, [ids[1]]);
    expect(await stillHeld(sql, "here", leases)).toEqual(new Set([ids[0], ids[2]]));
  });

  it("events that the database refuses concern their agent only", async () => {
    const { sql } = await testDatabase();
    const log = new EventLog(sql);
    const agents = await Promise.all(Array.from({ length: 3 }, () => insertAgent(log, "one")));
    const [first, bad, good] = agents;
    if (first === undefined || bad === undefined || good === undefined) throw new Error("there are three");
    await sql.query({ name: "c", text: "ALTER TABLE event ADD CONSTRAINT no_bad CHECK (payload ->> 'delta' <> 'bad')" }, []);
    const appender = new Appender(log);
    const append = (agent: typeof first, delta: string) =>
      appender.append("one", { ...agent, fence: null, events: [chunk(delta)] });
    const outcomes = await Promise.allSettled([append(first, "first"), append(bad, "bad"), append(good, "good")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});
