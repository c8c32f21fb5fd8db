import { describe, expect, it } from "vitest";
import type { DatabaseConfig } from "../../src/db/database.ts";
import { applyRetention } from "../../src/events/retention.ts";
import {
  AllowAlwaysDocument,
  DelegateApprovalsDocument,
  MonitorDocument,
  PollTimelineDocument,
  RevokeAllowRuleDocument,
  RevokeDelegationDocument,
  type EventKind,
} from "../generated/documents.ts";
import { ofType, type PageEvent, type TestClient } from "../support/client.ts";
import { movableClock, setPolicyTime } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { ACTORS, ask, office, PEOPLE } from "../support/office.ts";

const OF_TENANT: EventKind[] = [
  "ALLOW_RULE_STORED",
  "ALLOW_RULE_REVOKED",
  "DELEGATION_STARTED",
  "DELEGATION_ENDED",
  "TOOL_ACCEPTED",
  "CONFIGURATION_CHANGED",
];

async function ofTenant(client: TestClient): Promise<readonly PageEvent[]> {
  return (await client.get(PollTimelineDocument, { kinds: OF_TENANT })).timeline.events;
}

const tomorrow = (): string => new Date(Date.now() + 24 * 60 * 60_000).toISOString();

describe("every change of rights is an event of the tenant (invariant 15)", () => {
  it("that tells the whole of a stored rule and who stored it, once, and who took it back", async () => {
    const { as } = await office();
    const { approvalId } = await ask(as("anna"), "write docs/a.txt");
    const input = { approvalId, rule: "fs_write(path:/docs)", note: "docs are harmless" };
    const [stored, again] = [
      (await as("paul").get(AllowAlwaysDocument, { input })).allowAlways,
      (await as("petra").get(AllowAlwaysDocument, { input })).allowAlways,
    ];
    expect(again.allowRule?.id).toBe(stored.allowRule?.id);
    const allowRuleId = stored.allowRule?.id ?? "";
    for (const person of ["petra", "paul"] as const) await as(person).get(RevokeAllowRuleDocument, { input: { allowRuleId } });
    const events = await ofTenant(as("vera"));
    const rule = {
      allowRuleId,
      rule: "fs_write(path:/docs)",
      templateId: "assistant",
      approvalId,
      note: "docs are harmless",
      createdBy: { actorId: "paul" },
    };
    expect(events).toMatchObject([
      { kind: "ALLOW_RULE_STORED", seq: 1, channel: "MONITOR", agent: null, rule, changedBy: { actorId: "paul", kind: "USER" } },
      { kind: "ALLOW_RULE_REVOKED", seq: 2, agent: null, rule, changedBy: { actorId: "petra" } },
    ]);
    // A mutation's cursor is at its event: what is subscribed since it does not have it again.
    expect(stored.cursor).toBe(events[0]?.cursor);
  });

  it("that tells whose delegation begins, who revoked it, and, once, that its time is up", async () => {
    const clock = movableClock();
    const database: DatabaseConfig = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 };
    const { app, as } = await office({}, { database, overrides: { clock } });
    // A second server on the same database sweeps as well.
    await office({}, { database, config: { ...ACTORS, workspaceRoots: [app.workspace] }, overrides: { clock } });
    const input = { toActorId: "vera", until: tomorrow(), note: "away", idempotencyKey: "once" };
    const [one, two] = [
      (await as("paul").get(DelegateApprovalsDocument, { input })).delegateApprovals,
      (await as("paul").get(DelegateApprovalsDocument, { input })).delegateApprovals,
    ];
    expect(one.delegation?.id).toBe(two.delegation?.id);
    const { delegateApprovals } = await as("petra").get(DelegateApprovalsDocument, {
      input: { toActorId: "ulf", until: tomorrow() },
    });
    const delegationId = delegateApprovals.delegation?.id ?? "";
    await as("ada").get(RevokeDelegationDocument, { input: { delegationId } });
    await as("ada").get(RevokeDelegationDocument, { input: { delegationId } });
    await clock.passHours(25, [app.database]);
    const kinds = (events: readonly PageEvent[]): readonly string[] => events.map(({ kind }) => kind);
    await expect
      .poll(async () => kinds(await ofTenant(as("ada"))))
      .toEqual(["DELEGATION_STARTED", "DELEGATION_STARTED", "DELEGATION_ENDED", "DELEGATION_ENDED"]);
    const [started, , revoked, ended] = await ofTenant(as("ada"));
    const grant = {
      delegationId: one.delegation?.id,
      from: { actorId: "paul", kind: "USER" },
      to: { actorId: "vera", kind: "USER" },
      note: "away",
      endsAt: input.until,
    };
    expect(started).toMatchObject({ agent: null, grant, changedBy: { actorId: "paul" } });
    expect(revoked).toMatchObject({ grant: { delegationId, from: { actorId: "petra" } }, changedBy: { actorId: "ada" } });
    expect(ended).toMatchObject({ grant, changedBy: { actorId: "triplane", kind: "SYSTEM" } });
    await as("paul").get(RevokeDelegationDocument, { input: { delegationId: one.delegation?.id ?? "" } });
    expect(await ofTenant(as("ada"))).toHaveLength(4);
  });

  it("that tells, once over all servers, which parts of the configuration a server was started with are others", async () => {
    const database: DatabaseConfig = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 };
    const first = await office({}, { database });
    await first.as("ada").createAgent();
    await first.app.close();
    const roots = { workspaceRoots: [first.app.workspace], defaultWorkspace: first.app.workspace };
    const same = await office({}, { database, config: { ...ACTORS, ...roots } });
    expect(await ofTenant(same.as("ada"))).toEqual([]);
    await same.app.close();
    const actors = Object.values(PEOPLE).flatMap(({ actor }) =>
      actor.id === "ulf" ? [] : actor.id === "vera" ? [{ ...actor, roles: ["admin" as const] }] : [actor],
    );
    const changed = { ...roots, actors, permissionModes: { strict: () => "deny" as const } };
    for (let servers = 0; servers < 3; servers += 1)
      await office({ permission: { mode: "auto" } }, { database, config: changed });
    const { as } = await office({ permission: { mode: "auto" } }, { database, config: changed });
    expect(await ofTenant(as("ada"))).toMatchObject([
      {
        kind: "CONFIGURATION_CHANGED",
        seq: 1,
        agent: null,
        changedBy: { kind: "SYSTEM" },
        changeCount: 4,
        changes: [
          { part: "actors.ulf", change: "REMOVED" },
          { part: "actors.vera", change: "CHANGED" },
          { part: "permissionModes.strict", change: "ADDED" },
          { part: "templates.assistant", change: "CHANGED" },
        ],
      },
    ]);
    expect(JSON.stringify(await ofTenant(as("ada")))).not.toContain(PEOPLE.vera.actor.tokenHash);
  });

  it("that who reads the tenant sees, live and from the past, and a user, another tenant or another plane does not", async () => {
    const { as } = await office();
    const agent = await as("anna").createAgent();
    const seen = as("vera").subscribe(MonitorDocument, { until: "DELEGATION_STARTED" });
    await seen.next();
    const input = { toActorId: "vera", until: tomorrow() };
    await as("paul").get(DelegateApprovalsDocument, { input });
    expect(ofType((await seen.next()).value?.data?.monitor.events ?? [], "DelegationStarted")).toMatchObject([
      { agent: null, seq: 1 },
    ]);
    for (const person of ["vera", "paul", "ada"] as const) expect(await ofTenant(as(person))).toHaveLength(1);
    expect(await ofTenant(as("anna"))).toEqual([]);
    const ada = as("ada");
    expect((await ada.get(PollTimelineDocument, { kinds: OF_TENANT, agentIds: [agent.id] })).timeline.events).toEqual([]);
    expect((await ada.get(PollTimelineDocument, { channels: ["PROGRESS", "CONTROL"] })).timeline.events).toEqual([]);
    // The agent's own seq is counted apart.
    await as("anna").send(agent.id, "hello");
    expect((await as("anna").until(agent.id, "MESSAGE_RECEIVED")).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it("whose seq goes on where retention has removed what was before", async () => {
    const { as, app } = await office();
    const input = { toActorId: "vera", until: tomorrow() };
    await as("paul").get(DelegateApprovalsDocument, { input });
    await as("petra").get(DelegateApprovalsDocument, { input });
    // Before the delegations end.
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '1 hour'");
    const policy = { eventsMs: 1, deltasMs: null, outputsMs: null, toolCallsMs: null, messagesMs: null, approvalsMs: null };
    await applyRetention(app.database.sql, { policy, consumers: [] }, new AbortController().signal);
    expect(await ofTenant(as("ada"))).toEqual([]);
    await setPolicyTime(app.database.sql, "statement_timestamp()");
    await as("ada").get(DelegateApprovalsDocument, { input });
    expect((await ofTenant(as("ada"))).map(({ seq }) => seq)).toEqual([3]);
  });
});
