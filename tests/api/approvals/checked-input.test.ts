import { describe, expect, it } from "vitest";
import { CheckApprovalInputDocument } from "../../generated/documents.ts";
import type { TestClient } from "../../support/client.ts";
import { approvalOf, ask, office, PEOPLE } from "../../support/office.ts";

async function check(client: TestClient, approvalId: string, given: { readonly input?: unknown; readonly values?: unknown }) {
  return (await client.get(CheckApprovalInputDocument, { approvalId, ...given })).checkApprovalInput;
}

const NONE = { explanation: null, inputHash: null, isChanged: false, asksAnother: false, paths: [] };

describe("an edited input that is checked before the decision", () => {
  it("has every error of the schema with its path, the verdict of the rules, and the hash that would be allowed; nothing is changed", async () => {
    const { as } = await office({
      selfApproval: true,
      permission: { deny: ["fs_write(path:locked)"], allow: ["fs_write(path:docs)"] },
    });
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    const paul = as("paul");
    const before = await approvalOf(paul, approvalId);
    expect(await check(paul, approvalId, { input: { path: 7, odd: true } })).toMatchObject({
      ...NONE,
      problems: [
        { code: "INVALID", field: ["input"], message: expect.stringContaining("content") },
        { code: "INVALID", field: ["input"], message: expect.stringContaining("odd") },
        { code: "INVALID", field: ["input", "path"] },
      ],
    });
    expect(await check(paul, approvalId, { input: { path: "locked/x", content: "" } })).toMatchObject({
      problems: [{ code: "DENIED_BY_POLICY", field: ["input"], message: expect.stringContaining("fs_write(path:locked)") }],
      explanation: { verdict: "DENY", rule: "deny fs_write(path:locked)" },
      inputHash: null,
      paths: [{ parameter: "path", names: ["locked/x"] }],
    });
    const input = { path: "docs/b.txt", content: "better" };
    const checked = await check(paul, approvalId, { input });
    expect(checked).toMatchObject({
      problems: [],
      explanation: { verdict: "ALLOW", rule: "allow fs_write(path:docs)" },
      isChanged: true,
      asksAnother: false,
    });
    expect(await check(paul, approvalId, { input: before.input })).toMatchObject({
      problems: [],
      explanation: { verdict: "ASK" },
      inputHash,
      isChanged: false,
    });
    expect(await approvalOf(paul, approvalId)).toEqual(before);
    // What was checked is what the decision allows.
    const decided = await paul.decide({ approvalId, decision: "ALLOW", inputHash, input });
    expect(decided.userErrors).toEqual([]);
    await as("anna").until(agent, "DONE");
    expect((await as("anna").agent(agent)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED", input }]);
    expect((await check(paul, approvalId, { input })).problems).toMatchObject([{ code: "ALREADY_DECIDED" }]);
  });

  it("says that another person is asked, or that there is none", async () => {
    const input = { path: "b.txt", content: "better" };
    const { as } = await office();
    const { approvalId } = await ask(as("anna"));
    expect(await check(as("paul"), approvalId, { input })).toMatchObject({ problems: [], isChanged: true, asksAnother: true });
    const alone = await office({}, { config: { actors: [PEOPLE.anna, PEOPLE.paul].map(({ actor }) => actor) } });
    const asked = await ask(alone.as("anna"));
    expect(await check(alone.as("paul"), asked.approvalId, { input })).toMatchObject({
      problems: [{ code: "SELF_APPROVAL", field: ["input"] }],
      asksAnother: false,
    });
  });

  it("is checked for who may decide, and for a call of which one person decides", async () => {
    const input = { path: "b.txt", content: "better" };
    const { as } = await office({ approvalQuorum: 2 });
    const { approvalId } = await ask(as("anna"));
    for (const [person, code] of [
      ["paul", "INVALID"],
      ["vera", "FORBIDDEN"],
      ["anna", "FORBIDDEN"],
      ["ulf", "NOT_FOUND"],
    ] as const)
      expect(await check(as(person), approvalId, { input }), person).toMatchObject({ ...NONE, problems: [{ code }] });
    await expect(check(as("paul"), approvalId, {})).rejects.toThrow(/give `input` or `values`/);
  });
});
