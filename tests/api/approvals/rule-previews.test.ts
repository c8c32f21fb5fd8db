import { describe, expect, it } from "vitest";
import { AllowRuleProposalDocument } from "../../generated/documents.ts";
import type { TestClient } from "../../support/client.ts";
import { ask, office } from "../../support/office.ts";

async function preview(client: TestClient, approvalId: string, rule: string) {
  return (await client.get(AllowRuleProposalDocument, { approvalId, rule })).allowRuleProposal;
}

const callOf = ({ request }: Awaited<ReturnType<typeof ask>>): { callId: string | undefined } => ({
  callId: request.call?.callId,
});

describe("a rule, before it is stored", () => {
  it("shows recorded calls inside and outside of it, and the ones it would have let through, those that a person denied first", async () => {
    const { as } = await office();
    const denied = await ask(as("anna"), "write docs/a.txt");
    await as("paul").decide({ approvalId: denied.approvalId, decision: "DENY" });
    await as("anna").until(denied.agent, "DONE");
    const outside = await ask(as("anna"), "write b.txt");
    const asked = await ask(as("anna"), "write docs/c.txt");
    const { proposal } = await preview(as("paul"), asked.approvalId, "fs_write(path:docs)");
    expect(proposal).toMatchObject({
      past: { examined: 3, isPartial: false, matched: 2, asked: 2, denied: 1, letThrough: 2 },
      matchingCalls: [callOf(asked), callOf(denied)],
      notMatchingCalls: [callOf(outside)],
    });
    expect(proposal?.past.letThroughCalls.map(({ callId }) => ({ callId }))).toEqual([callOf(denied), callOf(asked)]);
  });

  it("counts a call that another reason would still ask about as matched, and not as let through", async () => {
    const { as } = await office({ permission: { mode: "approval", deny: ["fs_write(path:docs/closed)"] } });
    const secret = await ask(as("anna"), "write docs/.env");
    const asked = await ask(as("anna"), "write docs/a.txt");
    const { proposal } = await preview(as("paul"), asked.approvalId, "fs_write");
    expect(proposal).toMatchObject({
      takesInAll: true,
      past: { matched: 2, asked: 2, letThrough: 1, letThroughCalls: [callOf(asked)] },
      matchingCalls: [callOf(asked), callOf(secret)],
    });
  });

  it("is not shown to who may not store it, nor with calls of another template", async () => {
    const { as } = await office();
    const { approvalId } = await ask(as("anna"), "write docs/a.txt");
    for (const person of ["anna", "vera"] as const)
      expect(await preview(as(person), approvalId, "fs_write")).toMatchObject({
        proposal: null,
        problems: [{ code: "FORBIDDEN" }],
      });
    expect(await preview(as("ulf"), approvalId, "fs_write")).toMatchObject({ problems: [{ code: "NOT_FOUND" }] });
    expect(await preview(as("paul"), approvalId, "fs_read")).toMatchObject({ problems: [{ code: "INVALID", field: ["rule"] }] });
  });
});
