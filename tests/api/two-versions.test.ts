import { describe, expect, it } from "vitest";
import { claim, LEASE_TIMES, lookForAgents, type SweepRequest } from "../../src/agent/loop/lease.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType } from "../support/client.ts";

const EVERYTHING: SweepRequest = { tenants: null, most: 100, free: "RUN_OUT", crowded: [] };

/** Rows that a newer version may have written: kinds, states, ways of waiting that this one does not know. */
describe("beside a newer version", () => {
  it("events of unknown kinds, and with unknown values, are left out, counted, and passed by the cursor", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const agent = await client.createAgent();
    const { sql } = app.database;
    await client.turn(agent.id, "hi");
    const before = await client.events(agent.id);
    const insert = `INSERT INTO event SELECT e.tenant, e.position + 1, e.agent_id, e.seq + 1, NULL, 'MONITOR', $1, $2::json, now() FROM event e ORDER BY e.position DESC LIMIT 1`;
    await sql.query({ name: "i", text: insert }, ["NEXT_HAPPENED", "{}"]);
    await sql.query({ name: "i", text: insert }, ["STATE_CHANGED", `{"previousState":"READY","state":"DREAMING"}`]);
    expect(await client.events(agent.id)).toEqual(before);
    const after = await client.turn(agent.id, "hi again");
    expect(ofType(after, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    // After the message, which is before the cursor that it gave.
    expect(after[0]?.seq).toBe((before.at(-1)?.seq ?? 0) + 4);
    const metrics = await (await fetch(app.url.replace("/graphql", "/metrics"))).text();
    expect(Number(/^triplane_events_of_unknown_kinds_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(2);
  });

  it("rows with unknown values are null by id and left out of lists, and others are read as ever", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const [dreaming, awake] = [await client.createAgent(), await client.createAgent()];
    await client.turn(awake.id, "hi");
    const { sql } = app.database;
    await sql.query({ name: "a", text: "ALTER TYPE agent_state ADD VALUE 'DREAMING'" }, []);
    await sql.query({ name: "b", text: "UPDATE agent SET state = 'DREAMING' WHERE id = $1" }, [rowId("Agent", dreaming.id)]);
    const ask = async (query: string): Promise<unknown> => (await client.post({ query })).data;
    expect(await ask(`{ agent(id: "${dreaming.id}") { id } node(id: "${dreaming.id}") { id } }`)).toEqual({
      agent: null,
      node: null,
    });
    expect(await ask("{ agents { nodes { id state messages { nodes { kind } } } } }")).toMatchObject({
      agents: { nodes: [{ id: awake.id, messages: { nodes: [{ kind: "USER" }, { kind: "ASSISTANT" }] } }] },
    });
  });

  it("an agent that needs its owner to know more is left to newer servers", async () => {
    const app = await startTestApp();
    const { sql, serverId } = app.services;
    const client = connect(app.url);
    const agent = await client.createAgent();
    const id = rowId("Agent", agent.id);
    await sql.query({ name: "n", text: "UPDATE agent SET needs = 1000, runnable_at = now() WHERE id = $1" }, [id]);
    expect((await lookForAgents(sql, serverId, EVERYTHING)).unowned).toEqual([]);
    expect(await claim(sql, serverId, [id], LEASE_TIMES, "RUN_OUT")).toEqual([]);
    const lease = "lease_owner = 'other', lease_until = now() - interval '1 s'";
    await sql.query({ name: "l", text: `UPDATE agent SET ${lease} WHERE id = $1` }, [id]);
    expect((await lookForAgents(sql, serverId, EVERYTHING)).runOut).toEqual([]);
    expect(await claim(sql, serverId, [id], LEASE_TIMES, "RUN_OUT")).toEqual([]);
  });
});
