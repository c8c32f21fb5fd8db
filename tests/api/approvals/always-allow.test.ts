import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../../src/agent/tools/tool.ts";
import {
  AllowAlwaysDocument,
  AllowRuleProposalDocument,
  AllowRulesDocument,
  RevokeAllowRuleDocument,
} from "../../generated/documents.ts";
import { ofType } from "../../support/client.ts";
import { ACTORS, type Person, office, ask, approvalOf } from "../../support/office.ts";

/** A tool whose input is a list of texts. */
const GIT = defineTool<{ args: string[] }>({
  name: "git",
  description: "Runs git.",
  readOnly: false,
  inputSchema: { type: "object", required: ["args"], properties: { args: { type: "array", items: { type: "string" } } } },
  run: () => ({ output: "", details: null }),
});

describe("always allow this", () => {
  it("proposes the narrowest rule with what it would have meant, stores it with its author, and can be revoked", async () => {
    const { app, as } = await office();
    const first = await ask(as("anna"), "write docs/a [1].txt");
    await as("paul").decide({ approvalId: first.approvalId, decision: "DENY" });
    await as("anna").until(first.agent, "DONE");
    const second = await ask(as("anna"), "write docs/a [1].txt", first.agent);
    const { agent, approvalId } = second;
    const paul = as("paul");
    expect((await paul.get(AllowRuleProposalDocument, { approvalId })).allowRuleProposal).toEqual({
      proposal: {
        rule: 'fs_write(path:"/docs/a [[]1].txt")',
        past: {
          since: expect.any(String),
          examined: 2,
          isPartial: false,
          matched: 2,
          asked: 2,
          denied: 1,
          letThrough: 2,
          letThroughCalls: [first, second].map(({ request }) => ({
            callId: request.call?.callId,
            inputPreview: expect.any(String),
          })),
        },
        matching: [],
        notMatching: [],
        matchingCalls: [second, first].map(({ request }) => ({ callId: request.call?.callId })),
        notMatchingCalls: [],
        takesInAll: false,
      },
      problems: [],
    });
    const { allowAlways } = await paul.get(AllowAlwaysDocument, { input: { approvalId } });
    expect(allowAlways).toMatchObject({ allowRule: { createdBy: { actorId: "paul" }, templateId: "assistant" }, userErrors: [] });
    expect((await approvalOf(paul, approvalId)).state).toBe("PENDING");
    await paul.decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");

    const other = await as("anna").createAgent();
    await as("anna").turn(other.id, "write docs/a [1].txt");
    expect((await as("anna").agent(other.id)).toolCalls.nodes).toMatchObject([
      {
        state: "COMPLETED",
        explanation: {
          verdict: "ALLOW",
          rule: 'always allow fs_write(path:"/docs/a [[]1].txt")',
          place: expect.stringContaining("allowRules."),
        },
      },
    ]);
    await ask(as("anna"), "write docs/a 1.txt");

    const allowRuleId = allowAlways.allowRule?.id ?? "";
    expect((await as("anna").get(RevokeAllowRuleDocument, { input: { allowRuleId } })).revokeAllowRule.userErrors).toMatchObject([
      { code: "FORBIDDEN" },
    ]);
    expect((await as("petra").get(RevokeAllowRuleDocument, { input: { allowRuleId } })).revokeAllowRule).toMatchObject({
      allowRule: { revokedBy: { actorId: "petra" } },
    });
    expect((await paul.get(AllowRulesDocument, { filter: { isActive: true } })).allowRules.nodes).toEqual([]);
    // What another agent has written must be read before it is written, and nobody would be asked.
    await rm(join(app.workspace, "docs/a [1].txt"));
    await ask(as("anna"), "write docs/a [1].txt");
  });

  it("does not loosen what is denied, nor what others must agree to", async () => {
    const { as } = await office({ approvalQuorum: 2 });
    const { approvalId } = await ask(as("anna"));
    const allow = async (person: Person, rule?: string) =>
      (await as(person).get(AllowAlwaysDocument, { input: { approvalId, ...(rule === undefined ? {} : { rule }) } })).allowAlways
        .userErrors;
    expect(await allow("paul")).toMatchObject([{ code: "FORBIDDEN" }]);
    expect(await allow("vera")).toMatchObject([{ code: "FORBIDDEN" }]);
    expect(await allow("anna")).toMatchObject([{ code: "FORBIDDEN" }]);
    expect(await allow("ada", "fs_write(path:b.txt)")).toMatchObject([
      { code: "INVALID", field: ["rule"], message: expect.stringContaining("does not match") },
    ]);
    expect(await allow("ada", "*")).toMatchObject([{ code: "INVALID", message: expect.stringContaining("fs_write only") }]);
    expect(await allow("ada", "fs_*(path:a.txt)")).toMatchObject([
      { code: "INVALID", message: expect.stringContaining("fs_write only") },
    ]);
    expect(await allow("ada", "fs_write(pth:a)")).toMatchObject([
      { code: "INVALID", message: expect.stringContaining("at character 10") },
    ]);
    expect(await allow("ada", "fs_write(path:*.txt)")).toEqual([]);
    expect(await allow("ada", "fs_write(path:*.txt)")).toEqual([]);
    expect((await as("ada").get(AllowRulesDocument, {})).allowRules.nodes).toHaveLength(1);
    // Who may not decide is offered none, beside everything else that they may read.
    for (const [who, code] of [
      ["anna", "FORBIDDEN"],
      ["ulf", "NOT_FOUND"],
    ] as const)
      expect(await as(who).get(AllowRuleProposalDocument, { approvalId })).toMatchObject({
        allowRuleProposal: { proposal: null, problems: [{ code }] },
      });
  });

  it.each([
    ["a,b.md", "path contains a brace or a comma"],
    ["x".repeat(210), "path is longer than 200 bytes"],
  ])("of a call to %s has no proposal, and says why; the rule can be given by hand", async (path, reason) => {
    const { as } = await office();
    const { approvalId } = await ask(as("anna"), `write ${path}`);
    const problem = { code: "INVALID", field: ["rule"], message: expect.stringContaining(reason) };
    expect((await as("paul").get(AllowRuleProposalDocument, { approvalId })).allowRuleProposal).toEqual({
      proposal: null,
      problems: [problem],
    });
    expect((await as("paul").get(AllowAlwaysDocument, { input: { approvalId } })).allowAlways.userErrors).toEqual([problem]);
    const byHand = { approvalId, rule: `fs_write(path:${JSON.stringify(path)})` };
    expect((await as("paul").get(AllowAlwaysDocument, { input: byHand })).allowAlways.userErrors).toEqual([]);
  });

  it("of a call with a list has no proposal, since a rule also takes in parts of a list; the rule can be given by hand", async () => {
    const script = {
      replies: [
        { when: { user: "^push" }, call: [{ tool: "git", input: { args: ["push", "--dry-run"] } }] },
        { when: {}, say: ["Hello."] },
      ],
    };
    const { as } = await office({}, { script, config: { ...ACTORS, tools: [GIT] } });
    const { approvalId } = await ask(as("anna"), "push");
    const problem = { code: "INVALID", field: ["rule"], message: expect.stringContaining("args is a list") };
    const { allowRuleProposal } = await as("paul").get(AllowRuleProposalDocument, { approvalId });
    expect(allowRuleProposal).toEqual({ proposal: null, problems: [problem] });
    expect((await as("paul").get(AllowAlwaysDocument, { input: { approvalId } })).allowAlways.userErrors).toEqual([problem]);
    const byHand = { approvalId, rule: 'git(args:"{push,--dry-run}")' };
    expect((await as("paul").get(AllowAlwaysDocument, { input: byHand })).allowAlways.userErrors).toEqual([]);
  });

  it("a rule that is revoked while a call is judged by it does not let the call start (invariant 7)", async () => {
    let revoke: (() => Promise<unknown>) | null = null;
    const hooks = { preToolUse: [async () => void (await revoke?.())] };
    const { as } = await office({ hooks });
    const { approvalId, agent } = await ask(as("anna"));
    const { allowAlways } = await as("paul").get(AllowAlwaysDocument, { input: { approvalId } });
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    revoke = async () => as("paul").get(RevokeAllowRuleDocument, { input: { allowRuleId: allowAlways.allowRule?.id ?? "" } });
    await as("anna").send(agent, "write a.txt");
    for await (const page of as("anna").timeline({ agentId: agent, since: "0" }))
      if (ofType(page.events, "PermissionRequired").some(({ request }) => request.approvalId !== approvalId)) break;
    expect((await as("anna").agent(agent)).toolCalls.nodes.map(({ state, attempt }) => [state, attempt])).toEqual([
      ["DENIED", 0],
      ["APPROVAL_REQUIRED", 0],
    ]);
  });
});
