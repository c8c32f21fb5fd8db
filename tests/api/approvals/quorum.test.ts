import { describe, expect, it } from "vitest";
import { DelegateApprovalsDocument } from "../../generated/documents.ts";
import { ofType, textOf } from "../../support/client.ts";
import { movableClock } from "../../support/clock.ts";
import { office, ask, approvalOf } from "../../support/office.ts";

describe("a quorum", () => {
  it("needs so many people, of whom any may deny; nobody counts twice", async () => {
    const { as } = await office({ approvalQuorum: 2 });
    const { agent, approvalId, inputHash, request } = await ask(as("anna"));
    expect(request.quorum).toBe(2);
    const allow = { approvalId, inputHash, decision: "ALLOW" } as const;
    for (let index = 0; index < 2; index += 1)
      expect(await as("paul").decide(allow)).toMatchObject({ userErrors: [], approval: { state: "PENDING", decision: null } });
    expect((await as("paul").decide({ approvalId, decision: "DENY" })).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
    expect(await as("petra").decide(allow)).toMatchObject({ userErrors: [], approval: { state: "ALLOWED" } });
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "PermissionDecided")).toMatchObject([
      { decidedBy: { actorId: "paul" }, approvalState: "PENDING", missingDecisions: 1 },
      { decidedBy: { actorId: "petra" }, approvalState: "ALLOWED", missingDecisions: 0 },
    ]);
    const second = await ask(as("anna"), "write b.txt", agent);
    await as("paul").decide({ ...allow, approvalId: second.approvalId, inputHash: second.inputHash });
    expect(await as("petra").decide({ approvalId: second.approvalId, decision: "DENY" })).toMatchObject({
      approval: { state: "DENIED" },
    });
    expect(textOf(await as("anna").until(agent, "DONE"))).toContain("Wrote a.txt");
  });

  it("is not filled by one person's authority: delegates count with whom they speak for", async () => {
    const { as } = await office({ approvalQuorum: 2 });
    const until = new Date(Date.now() + 60_000).toISOString();
    for (const toActorId of ["ulf", "vera"]) await as("paul").get(DelegateApprovalsDocument, { input: { toActorId, until } });
    const { approvalId, inputHash } = await ask(as("anna"));
    const allow = { approvalId, inputHash, decision: "ALLOW" } as const;
    for (const person of ["ulf", "vera", "paul"] as const)
      expect(await as(person).decide(allow)).toMatchObject({ userErrors: [], approval: { state: "PENDING", decidedBy: null } });
    expect(await as("petra").decide(allow)).toMatchObject({ approval: { state: "ALLOWED" } });
    expect((await approvalOf(as("ada"), approvalId)).decisions.map(({ decidedBy }) => decidedBy.actorId)).toEqual([
      "ulf",
      "petra",
    ]);
  });

  it("is counted once however many decide at the same moment (invariant 7)", async () => {
    const { as } = await office({ approvalQuorum: 3 });
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    const people = (["paul", "petra", "pia", "ada"] as const).flatMap((person) => [person, person, person]);
    const answers = await Promise.all(people.map((person) => as(person).decide({ approvalId, inputHash, decision: "ALLOW" })));
    expect(answers.flatMap(({ userErrors }) => userErrors)).toEqual([]);
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "PermissionDecided").map(({ missingDecisions }) => missingDecisions)).toEqual([2, 1, 0]);
    expect((await approvalOf(as("ada"), approvalId)).decisions).toHaveLength(3);
  });

  it("shows the decision that closed it, whatever the clocks of the servers say", async () => {
    const clock = movableClock();
    const { as } = await office({ approvalQuorum: 2 }, { overrides: { clock } });
    const { approvalId, inputHash } = await ask(as("anna"));
    await clock.passHours(1);
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    await clock.passHours(-1);
    await as("petra").decide({ approvalId, decision: "DENY" });
    const closed = await approvalOf(as("ada"), approvalId);
    expect(closed).toMatchObject({ state: "DENIED", decision: "DENY", decidedBy: { actorId: "petra" } });
    expect(closed.decisions.map(({ decidedBy }) => decidedBy.actorId)).toEqual(["paul", "petra"]);
  });
});
