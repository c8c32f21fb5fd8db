import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { claimDue, CLAIMED, msToNearestDue } from "../../../src/agent/waits/due.ts";
import { DueSleeper, type EndDue } from "../../../src/agent/waits/due-sleeper.ts";
import { endDue } from "../../../src/agent/waits/kinds.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { HOLDS_NONE } from "../../support/mcp.ts";
import { setPolicyTime } from "../../support/clock.ts";
import { testDatabase } from "../../support/database.ts";
import { heldAgent, permissionOf } from "../../support/held-agent.ts";
import { callsWith, playedModel, says } from "../../support/models.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { ownTool } from "../../support/tools.ts";
import { testServices } from "../../support/services.ts";

/** So many waits of a tenant, with a due at so many ms from now. */
async function insertWaits(sql: Sql, tenant: string, count: number, inMs: number): Promise<void> {
  const text = `INSERT INTO wait (id, tenant, kind, ref, due)
    SELECT $1 || '-' || $3 || '-' || n, $1, 'DELEGATION', $1 || '-' || $3 || '-' || n, policy_time() + make_interval(secs => $3::float8 / 1000) FROM generate_series(1, $2) n`;
  await sql.query({ name: "insert_waits", text }, [tenant, count, inMs]);
}

/** A sleeper of one server that ends waits as the test says. */
function sleeper(sql: Sql, end: EndDue, changes: Partial<ConstructorParameters<typeof DueSleeper>[0]> = {}) {
  const services = testServices(sql, playedModel());
  const made = new DueSleeper({ ...services, ...changes }, end);
  onTestFinished(() => made.close());
  return { services, made };
}

const NO_LOOK = { look: async (): Promise<void> => {} };

const settle = (sql: Sql, ref: string) =>
  sql.query({ name: "settle_wait", text: "UPDATE wait SET settled_at = policy_time() WHERE ref = $1" }, [ref]);

it("nothing of people's expires on a machine whose clock is not the database's: one of the two is wrong", async () => {
  const { sql } = await testDatabase();
  const model = playedModel(
    () => callsWith(["deploy", {}]),
    () => says("Done."),
  );
  const deploy = ownTool("deploy", () => ({ output: "done", details: null }), false);
  const services = testServices(sql, model, [deploy], {
    permission: permissionOf({ mode: "approval" }),
    approvalExpiresMs: 60 * 60 * 1_000,
  });
  const agent = await heldAgent(services);
  await agent.send("go");
  expect(await (await agent.hold()).run()).toBe("parked");
  await setPolicyTime(sql, "statement_timestamp() + interval '2 hours'");
  const states = (): Promise<unknown[]> => sql.query({ name: "states", text: "SELECT state::text FROM approval" }, []);
  let looks = 0;
  let isLarge = true;
  const clockSkew = () => {
    looks += 1;
    return { ms: looks % 2 === 0 ? 6_000 : -6_000, isLarge };
  };
  sleeper(sql, (wait) => endDue({ ...services, idleWatches: NO_LOOK, mcpTasks: NO_LOOK, exports: NO_LOOK }, wait), { clockSkew });
  await expect.poll(() => looks, { timeout: 5_000 }).toBeGreaterThan(2);
  expect(await states()).toEqual([{ state: "PENDING" }]);
  isLarge = false;
  await expect.poll(states, { timeout: 5_000 }).toEqual([{ state: "EXPIRED" }]);
  const open = { name: "open", text: "SELECT count(*)::int AS open FROM wait WHERE settled_at IS NULL" };
  expect(await sql.query(open, [])).toEqual([{ open: 0 }]);
});

it("tenants take turns: 10,000 waits of one that are overdue leave the first claim to others as well", async () => {
  const { sql } = await testDatabase();
  await insertWaits(sql, "many", 10_000, -60_000);
  await insertWaits(sql, "one", 1, -1);
  await insertWaits(sql, "later", 1, 60_000);
  const claimed = await claimDue(sql, [], HOLDS_NONE);
  expect(claimed).toHaveLength(CLAIMED);
  expect(claimed.filter(({ tenant }) => tenant === "one")).toHaveLength(1);
  expect(claimed.filter(({ tenant }) => tenant === "later")).toEqual([]);
  expect(await claimDue(sql, ["many"], HOLDS_NONE)).toEqual([]);
});

it("two servers share what is due: each wait is claimed once, and again if its server ends nothing", async () => {
  const { sql } = await testDatabase();
  await insertWaits(sql, "one", 300, -1);
  const both = await Promise.all([claimDue(sql, [], HOLDS_NONE), claimDue(sql, [], HOLDS_NONE)]);
  const rest = await claimDue(sql, [], HOLDS_NONE);
  const claimed = [...both.flat(), ...rest].map(({ id }) => id);
  expect(new Set(claimed).size).toBe(claimed.length);
  expect(claimed).toHaveLength(300);
  await setPolicyTime(sql, "statement_timestamp() + interval '6 seconds'");
  expect(await claimDue(sql, [], HOLDS_NONE)).toHaveLength(CLAIMED);
});

it("a wait for a task of a process is claimed by the server that runs it, and by another one when it is overdue for a lease", async () => {
  const { sql } = await testDatabase();
  await sql.query(
    {
      name: "",
      text: `INSERT INTO wait (id, tenant, kind, ref, due, process) VALUES ('a', 'one', 'MCP_TASK', 'a', policy_time() - interval '5 s', 'mine')`,
    },
    [],
  );
  const others = { ids: ["other"], goneMs: 15_000 };
  expect(await claimDue(sql, [], others)).toEqual([]);
  expect(await msToNearestDue(sql, [], others)).toBeNull();
  expect(await claimDue(sql, [], { ids: ["mine"], goneMs: 15_000 })).toMatchObject([{ id: "a", process: "mine" }]);
  await setPolicyTime(sql, "statement_timestamp() + interval '19 seconds'");
  expect(await claimDue(sql, [], others)).toEqual([]);
  await setPolicyTime(sql, "statement_timestamp() + interval '21 seconds'");
  expect(await msToNearestDue(sql, [], others)).toBeLessThan(0);
  expect(await claimDue(sql, [], others)).toMatchObject([{ id: "a" }]);
});

it("a wait whose time is not a whole ms, or whose kind only a newer server knows, delays no other", async () => {
  const { sql } = await testDatabase();
  await sql.query(
    {
      name: "",
      text: `INSERT INTO wait (id, tenant, kind, ref, due) VALUES ('a', 'one', 'UNHEARD', 'a', policy_time() - interval '1 h')`,
    },
    [],
  );
  await sql.query(
    {
      name: "",
      text: `INSERT INTO wait (id, tenant, kind, ref, due) VALUES ('b', 'one', 'DELEGATION', 'b', policy_time() - interval '0.123456 s')`,
    },
    [],
  );
  const ended: string[] = [];
  sleeper(sql, async ({ ref }) => {
    ended.push(ref);
    await settle(sql, ref);
  });
  await expect.poll(() => ended).toEqual(["b"]);
  await expect(
    sql.query(
      { name: "", text: `INSERT INTO wait (id, tenant, kind, ref, due) VALUES ('c', 'one', 'DELEGATION', 'c', 'infinity')` },
      [],
    ),
  ).rejects.toThrow(/wait_due/);
});

it("waits that cannot be ended are reported and tried again later, and delay neither those behind them nor other tenants", async () => {
  const { sql } = await testDatabase();
  await insertWaits(sql, "poisoned", CLAIMED, -2_000);
  await insertWaits(sql, "poisoned", 1, -1_000);
  await insertWaits(sql, "one", 1, -1);
  const errors: string[] = [];
  const ended: string[] = [];
  const end: EndDue = async ({ ref }) => {
    if (ref.startsWith("poisoned--2000")) throw new Error("no");
    ended.push(ref);
    await settle(sql, ref);
  };
  sleeper(sql, end, { logger: { ...silentLogger, error: (line: string) => void errors.push(line) } });
  await expect.poll(() => ended.toSorted(), { timeout: 5_000 }).toEqual(["one--1-1", "poisoned--1000-1"]);
  await expect.poll(() => errors.length).toBe(CLAIMED);
  expect(errors[0]).toContain("the wait for DELEGATION poisoned--2000-");
});

it("a tenant whose waits end slowly delays no other", async () => {
  const { sql } = await testDatabase();
  await insertWaits(sql, "slow", 10, -1_000);
  const release = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const ended: string[] = [];
  const { services } = sleeper(sql, async ({ tenant, ref }) => {
    if (tenant === "slow") begun.resolve();
    if (tenant === "slow") await release.promise;
    ended.push(ref);
    await settle(sql, ref);
  });
  onTestFinished(() => release.resolve());
  await begun.promise;
  const soon = new Date(Date.now() + 50);
  const wait = { id: "soon", tenant: "one", agentId: null, callId: null, kind: "DELEGATION", ref: "soon", due: soon } as const;
  await services.log.commitTenant("one", [], {
    startDelegation: {
      id: "soon",
      tenant: "one",
      fromId: "anna",
      fromKind: "USER",
      toId: "paul",
      toKind: "USER",
      note: null,
      startsAt: soon,
      endsAt: soon,
      createdAt: soon,
      revokedAt: null,
      revokedBy: null,
      revokedByKind: null,
      endedAt: null,
    },
    waits: [{ ...wait, process: null, settledAt: null }],
  });
  const began = performance.now();
  await expect.poll(() => ended, { interval: 5 }).toEqual(["soon"]);
  expect(performance.now() - began).toBeLessThan(1_000);
});

it("waits of a tenant that one share of time does not end are due again at once, not only when their claim is over", async () => {
  const { sql } = await testDatabase();
  await insertWaits(sql, "slow", 3, -1_000);
  const ended: string[] = [];
  sleeper(sql, async ({ ref }) => {
    if (ended.length === 0) await delay(1_100);
    ended.push(ref);
    await settle(sql, ref);
  });
  await expect.poll(() => ended.toSorted(), { timeout: 3_000 }).toEqual(["slow--1000-1", "slow--1000-2", "slow--1000-3"]);
});

it("a sleeper that closes gives back the waits that it has claimed", async () => {
  const { sql } = await testDatabase();
  await insertWaits(sql, "one", 3, -1_000);
  const begun = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const { made } = sleeper(sql, async ({ ref }) => {
    begun.resolve();
    await release.promise;
    await settle(sql, ref);
  });
  await begun.promise;
  const closing = made.close();
  release.resolve();
  await closing;
  expect(await claimDue(sql, [], HOLDS_NONE)).toHaveLength(2);
});
