import { describe, expect, it } from "vitest";
import type { DatabaseConfig } from "../../../src/db/database.ts";
import { DelegateApprovalsDocument, DelegationsDocument, RevokeDelegationDocument } from "../../generated/documents.ts";
import { ofType } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { PEOPLE, type Person, office, ask, inbox, approvalOf } from "../../support/office.ts";

describe("delegation", () => {
  const until = (hours: number): string => new Date(Date.now() + hours * 60 * 60 * 1_000).toISOString();

  it("lets another actor read and decide in one's name, until its end, and says so", async () => {
    const clock = movableClock();
    const { app, as } = await office({}, { overrides: { clock } });
    const first = await ask(as("anna"));
    const decision = { approvalId: first.approvalId, inputHash: first.inputHash, decision: "ALLOW" } as const;
    expect((await as("ulf").decide(decision)).userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
    expect((await as("vera").decide(decision)).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    for (const toActorId of ["ulf", "vera"])
      expect(
        (await as("paul").get(DelegateApprovalsDocument, { input: { toActorId, until: until(1) } })).delegateApprovals,
      ).toMatchObject({
        delegation: { to: { actorId: toActorId }, from: { actorId: "paul" } },
        userErrors: [],
      });
    expect(await inbox(as("ulf"))).toHaveLength(1);
    expect((await as("ulf").decide(decision)).userErrors).toEqual([]);
    expect((await approvalOf(as("ada"), first.approvalId)).decisions).toMatchObject([
      { decidedBy: { actorId: "ulf" }, onBehalfOf: { actorId: "paul" } },
    ]);
    expect(ofType(await as("anna").until(first.agent, "DONE"), "PermissionDecided")).toMatchObject([
      { decidedBy: { actorId: "ulf" }, onBehalfOf: { actorId: "paul" } },
    ]);

    const second = await ask(as("anna"), "write b.txt");
    await clock.passHours(2, [app.database]);
    expect(
      (await as("vera").decide({ ...decision, approvalId: second.approvalId, inputHash: second.inputHash })).userErrors,
    ).toMatchObject([{ code: "FORBIDDEN" }]);
    expect(await inbox(as("ulf"))).toEqual([]);
    expect((await as("ada").get(DelegationsDocument, { filter: { isActive: true } })).delegations.nodes).toEqual([]);
    expect((await as("ada").get(DelegationsDocument, {})).delegations.nodes).toHaveLength(2);
  });

  it("ends with what the delegator may do", async () => {
    const database: DatabaseConfig = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 };
    const first = await office({}, { database });
    const { approvalId, inputHash } = await ask(first.as("anna"));
    await first.as("paul").get(DelegateApprovalsDocument, { input: { toActorId: "vera", until: until(1) } });
    await first.app.close();
    const actors = Object.values(PEOPLE).flatMap(({ actor }) => (actor.id === "paul" ? [] : [actor]));
    const { as } = await office({}, { database, config: { actors, workspaceRoots: [first.app.workspace] } });
    expect((await as("vera").decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "FORBIDDEN" },
    ]);
  });

  it("ends when it is revoked, by who gave it or an administrator", async () => {
    const { as } = await office();
    const { approvalId, inputHash } = await ask(as("anna"));
    const { delegateApprovals } = await as("paul").get(DelegateApprovalsDocument, {
      input: { toActorId: "vera", until: until(1) },
    });
    const delegationId = delegateApprovals.delegation?.id ?? "";
    const revoke = async (person: Person) =>
      (await as(person).get(RevokeDelegationDocument, { input: { delegationId } })).revokeDelegation;
    expect((await revoke("petra")).userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
    expect(await revoke("ada")).toMatchObject({ delegation: { revokedBy: { actorId: "ada" } }, userErrors: [] });
    expect(await revoke("paul")).toMatchObject({ delegation: { revokedBy: { actorId: "ada" } }, userErrors: [] });
    expect((await as("vera").decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "FORBIDDEN" },
    ]);
  });

  it("is no way round who may decide: not for those who asked, nor for those who may not decide themselves", async () => {
    const { as } = await office();
    const asked = await ask(as("pia"));
    const decision = { approvalId: asked.approvalId, inputHash: asked.inputHash, decision: "ALLOW" } as const;
    expect((await as("pia").decide(decision)).userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
    const delegate = async (from: Person, toActorId: string, hours = 1) =>
      (await as(from).get(DelegateApprovalsDocument, { input: { toActorId, until: until(hours) } })).delegateApprovals.userErrors;
    expect(await delegate("pia", "vera")).toEqual([]);
    expect((await as("vera").decide(decision)).userErrors).toMatchObject([{ code: "SELF_APPROVAL" }]);
    expect(await delegate("paul", "vera")).toEqual([]);
    expect((await as("vera").decide(decision)).userErrors).toEqual([]);
    const own = await ask(as("anna"), "write b.txt");
    expect(await delegate("paul", "anna")).toEqual([]);
    expect(
      (await as("anna").decide({ ...decision, approvalId: own.approvalId, inputHash: own.inputHash })).userErrors,
    ).toMatchObject([{ code: "SELF_APPROVAL" }]);
    expect(await delegate("vera", "ulf")).toMatchObject([{ code: "FORBIDDEN" }]);
    expect(await delegate("paul", "paul")).toMatchObject([{ code: "INVALID", field: ["toActorId"] }]);
    expect(await delegate("paul", "vera", -1)).toMatchObject([{ code: "INVALID", field: ["until"] }]);
    expect(await delegate("paul", "vera", 24 * 91)).toMatchObject([{ code: "INVALID", field: ["until"] }]);
  });
});
