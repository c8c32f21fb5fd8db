import { describe, expect, it } from "vitest";
import {
  InboxDocument,
  PollTimelineDocument,
  SnoozeApprovalDocument,
  WakeApprovalDocument,
  type EventKind,
} from "../../generated/documents.ts";
import { startTestApp } from "../../support/app.ts";
import { connect, type PageEvent, type TestClient } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { ACTORS, ask, office, PEOPLE } from "../../support/office.ts";

async function ids(client: TestClient, viewerSnoozed?: boolean): Promise<readonly string[]> {
  const filter = { states: ["PENDING" as const], ...(viewerSnoozed === undefined ? {} : { viewerSnoozed }) };
  return (await client.get(InboxDocument, { filter })).approvals.nodes.map(({ id }) => id);
}

async function snooze(client: TestClient, approvalId: string, until?: string) {
  return (await client.get(SnoozeApprovalDocument, { input: { approvalId, ...(until === undefined ? {} : { until }) } }))
    .snoozeApproval;
}

describe("a snooze", () => {
  it("takes an approval out of one person's inbox until its time; it is no decision", async () => {
    const clock = movableClock();
    const { app, as } = await office({}, { overrides: { clock } });
    const { approvalId } = await ask(as("anna"));
    const { approvalId: other } = await ask(as("anna"), "write b.txt");
    const until = new Date(clock.now().getTime() + 3_600_000).toISOString();
    expect(await snooze(as("paul"), approvalId, until)).toMatchObject({
      approval: { id: approvalId, viewerSnooze: { until } },
      userErrors: [],
    });
    expect(await ids(as("paul"), false)).toEqual([other]);
    expect(await ids(as("paul"), true)).toEqual([approvalId]);
    expect(await ids(as("paul"))).toEqual([approvalId, other]);
    expect(await ids(as("petra"), false)).toEqual([approvalId, other]);
    const { nodes } = (await as("petra").get(InboxDocument, {})).approvals;
    expect(nodes).toMatchObject([{ state: "PENDING", viewerSnooze: null }, { viewerSnooze: null }]);
    await clock.passHours(1, [app.database]);
    expect(await ids(as("paul"), false)).toEqual([approvalId, other]);
    expect((await as("paul").get(InboxDocument, {})).approvals.nodes[0]).toMatchObject({ viewerSnooze: null });
  });

  it("ends with a decision of another, or by the person; the next one replaces it", async () => {
    const { app, as } = await office({ approvalQuorum: 2 });
    const { approvalId, inputHash } = await ask(as("anna"));
    expect((await snooze(as("paul"), approvalId)).approval).toMatchObject({ viewerSnooze: { until: null } });
    expect(await ids(as("paul"), false)).toEqual([]);
    await as("petra").decide({ approvalId, decision: "ALLOW", inputHash });
    expect(await ids(as("paul"), false)).toEqual([approvalId]);
    await snooze(as("paul"), approvalId);
    await snooze(as("paul"), approvalId, new Date(Date.now() + 60_000).toISOString());
    const input = { approvalId };
    expect((await as("paul").get(WakeApprovalDocument, { input })).wakeApproval).toMatchObject({
      approval: { viewerSnooze: null },
      userErrors: [],
    });
    await snooze(as("ada"), approvalId);
    await as("paul").decide({ approvalId, decision: "ALLOW", inputHash });
    // What is closed has no snoozes, and takes none.
    expect(await app.database.sql.query({ name: "", text: "SELECT * FROM approval_snooze" }, [])).toEqual([]);
    expect((await snooze(as("ada"), approvalId)).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
  });

  it("is for who may decide, and for times to come", async () => {
    const { as } = await office();
    const { approvalId } = await ask(as("anna"));
    for (const [person, code] of [
      ["vera", "FORBIDDEN"],
      ["anna", "FORBIDDEN"],
      ["ulf", "NOT_FOUND"],
    ] as const)
      expect((await snooze(as(person), approvalId)).userErrors, person).toMatchObject([{ code }]);
    for (const days of [-1, 91]) {
      const until = new Date(Date.now() + days * 86_400_000).toISOString();
      expect((await snooze(as("paul"), approvalId, until)).userErrors).toMatchObject([{ code: "INVALID", field: ["until"] }]);
    }
  });
});

/** An open tab of a person: `live` once it has all events so far; `heard` are its events up to the first of `until`. */
function openTab(client: TestClient, since: string, until: EventKind) {
  const live = Promise.withResolvers<void>();
  const listen = async (): Promise<readonly PageEvent[]> => {
    const events: PageEvent[] = [];
    for await (const page of client.timeline({ since, kinds: KINDS, until: [until] })) {
      events.push(...page.events);
      if (page.caughtUp) live.resolve();
    }
    return events;
  };
  return { live: live.promise, heard: listen() };
}

const KINDS: EventKind[] = ["PERMISSION_REQUIRED", "PERMISSION_DECIDED", "SNOOZE_CHANGED"];
const ALL = [...KINDS, "PERMISSION_CLOSED" as const];

describe("a snooze is an event for its person alone (invariant 12)", () => {
  it("reaches all tabs of the person, on every server, and no reader else", async () => {
    const { app, as } = await office();
    const other = await startTestApp({ database: app.database.config, config: ACTORS });
    const tabs = [as("paul"), connect(other.url, PEOPLE.paul.token)];
    const { approvalId, inputHash, cursorBefore: since } = await ask(as("anna"));
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const listening = tabs.map((tab) => openTab(tab, since, "SNOOZE_CHANGED"));
    const others = (["petra", "ada", "vera", "anna"] as const).map((person) => openTab(as(person), since, "PERMISSION_DECIDED"));
    await Promise.all([...listening, ...others].map(({ live }) => live));
    const { cursor } = (await as("paul").get(SnoozeApprovalDocument, { input: { approvalId, until } })).snoozeApproval;
    for (const events of await Promise.all(listening.map(({ heard }) => heard))) {
      expect(events.map(({ kind }) => kind)).toEqual(["PERMISSION_REQUIRED", "SNOOZE_CHANGED"]);
      const snoozed = { channel: "CONTROL", agent: null, cursor, approvalId, isSnoozed: true, snoozedUntil: until };
      expect(events.at(-1)).toMatchObject(snoozed);
    }
    const again = tabs.map((tab) => openTab(tab, cursor, "SNOOZE_CHANGED"));
    await Promise.all(again.map(({ live }) => live));
    await as("paul").get(WakeApprovalDocument, { input: { approvalId } });
    for (const events of await Promise.all(again.map(({ heard }) => heard)))
      expect(events).toMatchObject([{ kind: "SNOOZE_CHANGED", approvalId, isSnoozed: false, snoozedUntil: null }]);
    await as("petra").decide({ approvalId, decision: "ALLOW", inputHash });
    for (const events of await Promise.all(others.map(({ heard }) => heard)))
      expect(events.map(({ kind }) => kind)).toEqual(["PERMISSION_REQUIRED", "PERMISSION_DECIDED"]);
  });

  it("is read back by its person only, if the kind is named; waking twice is one event", async () => {
    const { as } = await office();
    const { approvalId } = await ask(as("anna"));
    const { snoozeApproval } = await as("paul").get(SnoozeApprovalDocument, { input: { approvalId } });
    for (let times = 0; times < 2; times += 1) await as("paul").get(WakeApprovalDocument, { input: { approvalId } });
    const read = async (client: TestClient, kinds: EventKind[] | null) =>
      (await client.get(PollTimelineDocument, { kinds })).timeline.events.filter(({ kind }) => kind === "SNOOZE_CHANGED");
    expect(await read(as("paul"), ALL)).toHaveLength(2);
    expect(await read(as("paul"), null)).toEqual([]);
    for (const person of ["petra", "ada", "vera", "anna"] as const)
      for (const kinds of [ALL, null]) expect(await read(as(person), kinds), person).toEqual([]);
    expect(snoozeApproval.userErrors).toEqual([]);
  });
});
