import { expect, it, onTestFinished } from "vitest";
import { HeldLease } from "../../../src/agent/loop/held-lease.ts";
import { beginTerm, LEASE_TIMES } from "../../../src/agent/loop/lease.ts";
import { Renewals, type LeaseOwner, type RenewalServices } from "../../../src/agent/loop/renewals.ts";
import type { Outage, Sql } from "../../../src/db/sql.ts";
import { testDatabase } from "../../support/database.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { aroundStatements } from "../../support/statements.ts";

const OUTAGE: Outage = { since: new Date(), problem: "gone", detail: "gone" };

/** The owner of an agent whose row is locked, with renewals that `renewal` answers in the database's place. */
async function lockedOwner(renewal: (tries: number) => readonly string[]) {
  const { sql } = await testDatabase();
  const state: { outage: Outage | null; asked: number; tries: number } = { outage: null, asked: 0, tries: 0 };
  const lease = new HeldLease(
    { agentId: "ada", tenant: "acme", createdBy: "ada", owner: "here", epoch: 1, isTakeover: false },
    beginTerm({ leaseTimes: LEASE_TIMES, programMs: Infinity }),
  );
  onTestFinished(() => lease.lose());
  const owner: LeaseOwner = { lease, lost: lease.lost, betweenWrites: (work) => work() };
  const leases: Sql = aroundStatements(sql, async <Row>({ name }: { name: string }, run: () => Promise<Row[]>) => {
    if (name !== "renew_leases" && name !== "held_leases") return run();
    if (name === "renew_leases") state.tries += 1;
    const ids = name === "held_leases" ? ["ada"] : renewal(state.tries);
    return ids.map((id) => ({ id })) as Row[];
  });
  const services: RenewalServices = {
    leases,
    serverId: "here",
    leaseTimes: LEASE_TIMES,
    programMs: Infinity,
    logger: silentLogger,
    sql: {
      outages: {
        get current() {
          state.asked += 1;
          return state.outage;
        },
      },
    },
  };
  return { renewals: new Renewals(services, () => [owner]), lease, state };
}

it("a lease whose row is locked is tried again after a try that failed", async () => {
  const { renewals, lease } = await lockedOwner((tries) => {
    if (tries === 5) throw new Error("timeout exceeded when trying to connect");
    return tries < 7 ? [] : ["ada"];
  });
  const { extended } = lease;
  await renewals.renewAll();
  await extended;
  await renewals.settled();
});

it("a lease whose row is locked is tried again after an outage, and not during it", async () => {
  const { renewals, lease, state } = await lockedOwner((tries) => (tries < 5 ? [] : ["ada"]));
  state.outage = OUTAGE;
  const { extended } = lease;
  await renewals.renewAll();
  expect(state.tries).toBe(4);
  await expect.poll(() => state.asked, { timeout: 5_000 }).toBeGreaterThan(2);
  expect(state.tries).toBe(4);
  state.outage = null;
  await extended;
  await renewals.settled();
});

it("no lease is tried again that was given up", async () => {
  const { renewals, lease } = await lockedOwner(() => []);
  await renewals.renewAll();
  lease.lose();
  await renewals.settled();
});
