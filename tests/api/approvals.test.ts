import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DatabaseConfig } from "../../src/db/database.ts";
import type { TemplateConfig, TriplaneConfig } from "../../src/config.ts";
import {
  AllowAlwaysDocument,
  AllowRuleProposalDocument,
  AllowRulesDocument,
  ApprovalsDocument,
  ControlDocument,
  DecideApprovalsDocument,
  DelegateApprovalsDocument,
  DelegationsDocument,
  InterruptAgentDocument,
  RevokeAllowRuleDocument,
  RevokeDelegationDocument,
  type ApprovalFilter,
} from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { movableClock } from "../support/clock.ts";
import { testDatabaseUrl } from "../support/database.ts";

const PEOPLE = {
  anna: tokenActor("anna", ["user"]),
  ulf: tokenActor("ulf", ["user"]),
  vera: tokenActor("vera", ["viewer"]),
  paul: tokenActor("paul", ["approver"]),
  petra: tokenActor("petra", ["approver"]),
  pia: tokenActor("pia", ["user", "approver"]),
  ada: tokenActor("ada", ["admin"]),
};
type Person = keyof typeof PEOPLE;
const ACTORS: Partial<TriplaneConfig> = { actors: Object.values(PEOPLE).map(({ actor }) => actor) };

/** Each "write NAME" makes the model write the file NAME and then say what came of it. */
const SCRIPT = {
  replies: [
    { when: { user: "write (?<name>.*)" }, call: [{ tool: "fs_write", input: { path: "{{name}}", content: "text" } }] },
    { when: { result: "fs_write" }, say: ["{{result}}"] },
    { when: {}, say: ["Hello."] },
  ],
};

/** A server where anna asks and others decide. */
async function office(template: Partial<TemplateConfig> = {}, options: TestAppOptions = {}) {
  const app = await startTestApp({ script: SCRIPT, template: { selfApproval: false, ...template }, config: ACTORS, ...options });
  const as = (person: Person): TestClient => connect(app.url, PEOPLE[person].token);
  return { app, as };
}

/** Sends a message that makes the agent ask, and gives the approval as `person` sees it. */
async function ask(client: TestClient, text = "write a.txt", agentId?: string) {
  const agent = agentId ?? (await client.createAgent()).id;
  const { cursor } = await client.agent(agent);
  await client.send(agent, text);
  for await (const page of client.timeline({ agentId: agent, since: cursor })) {
    const [asked] = ofType(page.events, "PermissionRequired");
    if (asked !== undefined) return { agent, ...asked.request, request: asked.request };
  }
  throw new Error("the agent did not ask");
}

async function inbox(client: TestClient, filter: ApprovalFilter = {}) {
  return (await client.get(ApprovalsDocument, { filter })).approvals.nodes;
}

async function approvalOf(client: TestClient, approvalId: string) {
  const found = (await inbox(client)).find(({ id }) => id === approvalId);
  if (found === undefined) throw new Error("there is no such approval");
  return found;
}

describe("another input than the one that was asked for", () => {
  it("is validated, judged and run, and both inputs are kept", async () => {
    const { app, as } = await office();
    const asked = await ask(as("anna"));
    const input = { path: "b.txt", content: "better" };
    const decided = await as("paul").decide({
      approvalId: asked.approvalId,
      decision: "ALLOW",
      inputHash: asked.inputHash,
      input,
    });
    expect(decided).toMatchObject({ userErrors: [], approval: { state: "ALLOWED" } });
    const events = await as("anna").until(asked.agent, "DONE");
    expect(await readFile(join(app.workspace, "b.txt"), "utf8")).toBe("better");
    const [event] = ofType(events, "PermissionDecided");
    expect(event?.allowedHash).not.toBe(asked.inputHash);
    expect(await approvalOf(as("ada"), asked.approvalId)).toMatchObject({
      input: { path: "a.txt", content: "text" },
      decisions: [{ input, decidedBy: { id: "paul" } }],
      toolCall: { state: "COMPLETED", input, requestedInput: { path: "a.txt", content: "text" } },
    });
    const again = { approvalId: asked.approvalId, decision: "ALLOW", inputHash: asked.inputHash } as const;
    expect((await as("petra").decide({ ...again, input })).userErrors).toEqual([]);
    expect((await as("petra").decide(again)).userErrors).toMatchObject([{ code: "ALREADY_DECIDED" }]);
    expect((await as("petra").decide({ ...again, input: { ...input, content: "other" } })).userErrors).toMatchObject([
      { code: "ALREADY_DECIDED" },
    ]);
  });

  it("is refused where it is not valid, denied by a rule, with DENY, or where several must allow the same; the approval stays open", async () => {
    const { as } = await office({ permission: { deny: ["fs_write(path:locked)"] } });
    const { approvalId, inputHash } = await ask(as("anna"));
    const paul = as("paul");
    const refusals = [
      [{ decision: "ALLOW", input: { path: 7 } }, "INVALID"],
      [{ decision: "ALLOW", input: [] }, "INVALID"],
      [{ decision: "ALLOW", input: { path: "locked/x", content: "" } }, "DENIED_BY_POLICY"],
      [{ decision: "ALLOW", input: { path: "../x", content: "" } }, "DENIED_BY_POLICY"],
      [{ decision: "DENY", input: { path: "b", content: "" } }, "INVALID"],
    ] as const;
    for (const [request, code] of refusals)
      expect((await paul.decide({ approvalId, inputHash, ...request })).userErrors, JSON.stringify(request)).toMatchObject([
        { code, field: ["input"] },
      ]);
    expect((await approvalOf(paul, approvalId)).state).toBe("PENDING");
    const two = await office({ approvalQuorum: 2 });
    const asked = await ask(two.as("anna"));
    const edited = {
      approvalId: asked.approvalId,
      inputHash: asked.inputHash,
      decision: "ALLOW",
      input: { path: "b", content: "" },
    } as const;
    expect((await two.as("paul").decide(edited)).userErrors).toMatchObject([{ code: "INVALID", field: ["input"] }]);
  });
});

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
      { decidedBy: { id: "paul" }, approvalState: "PENDING", missingDecisions: 1 },
      { decidedBy: { id: "petra" }, approvalState: "ALLOWED", missingDecisions: 0 },
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
    expect((await approvalOf(as("ada"), approvalId)).decisions.map(({ decidedBy }) => decidedBy.id)).toEqual(["ulf", "petra"]);
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
});

describe("what was allowed is what runs (invariant 7)", () => {
  it("files that the paths lead to are shown; one that leads elsewhere by then is asked anew", async () => {
    const { app, as } = await office();
    await mkdir(join(app.workspace, "docs"));
    await writeFile(join(app.workspace, "other.txt"), "untouched");
    await writeFile(join(app.workspace, "docs/real.txt"), "");
    await symlink("docs/real.txt", join(app.workspace, "a.txt"));
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    expect((await approvalOf(as("paul"), approvalId)).paths).toEqual([{ parameter: "path", names: ["a.txt", "docs/real.txt"] }]);
    await rm(join(app.workspace, "a.txt"));
    await symlink("other.txt", join(app.workspace, "a.txt"));
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    for await (const page of as("anna").timeline({ agentId: agent, since: "0" }))
      if (ofType(page.events, "PermissionClosed").some(({ approvalState }) => approvalState === "STALE")) break;
    const [anew] = await inbox(as("paul"), { states: ["PENDING"] });
    expect(anew).toMatchObject({ reason: expect.stringContaining("lead elsewhere"), paths: [{ names: ["a.txt", "other.txt"] }] });
    expect(await readFile(join(app.workspace, "other.txt"), "utf8")).toBe("untouched");
  });

  it("an approval that a server of the version before asked for is decided as it was: by its hash", async () => {
    const { app, as } = await office();
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    await app.database.sql.query({ name: "forget", text: "UPDATE tool_call SET rule_values = NULL" }, []);
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    expect(textOf(await as("anna").until(agent, "DONE"))).toContain("Wrote a.txt");
  });

  it("a call keeps why it was asked, also where a rule would allow it by the time it runs", async () => {
    const { as } = await office();
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    await as("paul").get(AllowAlwaysDocument, { input: { approvalId } });
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    await as("anna").until(agent, "DONE");
    expect((await as("anna").agent(agent)).toolCalls.nodes).toMatchObject([
      { state: "COMPLETED", explanation: { verdict: "ask", decidedBy: "mode default" } },
    ]);
  });
});

describe("time (W1)", () => {
  it.each([
    ["6 minutes", 0.1],
    ["25 hours", 25],
  ])("an approval that is answered after %s goes on with the turn", async (_name, hours) => {
    const clock = movableClock();
    const { as } = await office({}, { overrides: { clock } });
    const { agent, approvalId, inputHash } = await ask(as("anna"));
    clock.passHours(hours);
    await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    expect(textOf(events)).toContain("Wrote a.txt");
  });

  it("an approval is there after a restart, and answering it goes on with the turn (W4, invariant 8)", async () => {
    const database: DatabaseConfig = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 };
    const first = await office({}, { database });
    const { agent, approvalId } = await ask(first.as("anna"));
    await first.app.close();
    const { as } = await office({}, { database, config: { ...ACTORS, workspaceRoots: [first.app.workspace] } });
    const [open] = await inbox(as("paul"), { states: ["PENDING"] });
    expect(open).toMatchObject({ id: approvalId, inputText: '{\n  "path": "a.txt",\n  "content": "text"\n}' });
    await as("paul").decide({ approvalId, inputHash: open?.inputHash ?? "", decision: "ALLOW" });
    expect(ofType(await as("anna").until(agent, "DONE"), "Done")).toMatchObject([{ reason: "COMPLETED" }]);
  });

  it("one that nobody decides in time expires: its own state, no denial of a person, and the turn goes on", async () => {
    const clock = movableClock();
    const { as } = await office({ approvalExpiresMs: 60 * 60 * 1_000 }, { overrides: { clock } });
    const { agent, approvalId, inputHash, request } = await ask(as("anna"));
    expect(request.expiresAt).not.toBeNull();
    clock.passHours(2);
    const events = await as("anna").until(agent, "DONE");
    expect(ofType(events, "PermissionClosed")).toMatchObject([{ approvalId, approvalState: "EXPIRED" }]);
    expect(ofType(events, "PermissionDecided")).toEqual([]);
    expect(ofType(events, "ToolEnd")).toMatchObject([
      {
        call: {
          state: "DENIED",
          error: { type: "approval_expired", stage: "confirmation" },
          approval: { state: "EXPIRED", decision: null },
        },
      },
    ]);
    expect(textOf(events)).toContain("Nobody denied it either");
    expect(await approvalOf(as("paul"), approvalId)).toMatchObject({
      state: "EXPIRED",
      decisions: [],
      decision: null,
      decidedBy: null,
    });
    expect((await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "EXPIRED" },
    ]);
  });

  it("a decision that comes after the expiry and before the sweep is refused as well", async () => {
    const clock = movableClock();
    const { as } = await office({ approvalExpiresMs: 60 * 60 * 1_000 }, { overrides: { clock } });
    const { approvalId, inputHash } = await ask(as("anna"));
    clock.passHours(2);
    expect((await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toMatchObject([
      { code: "EXPIRED" },
    ]);
  });
});

describe("delegation", () => {
  const until = (hours: number): string => new Date(Date.now() + hours * 60 * 60 * 1_000).toISOString();

  it("lets another actor read and decide in one's name, until its end, and says so", async () => {
    const clock = movableClock();
    const { as } = await office({}, { overrides: { clock } });
    const first = await ask(as("anna"));
    const decision = { approvalId: first.approvalId, inputHash: first.inputHash, decision: "ALLOW" } as const;
    expect((await as("ulf").decide(decision)).userErrors).toMatchObject([{ code: "NOT_FOUND" }]);
    expect((await as("vera").decide(decision)).userErrors).toMatchObject([{ code: "FORBIDDEN" }]);
    for (const toActorId of ["ulf", "vera"])
      expect(
        (await as("paul").get(DelegateApprovalsDocument, { input: { toActorId, until: until(1) } })).delegateApprovals,
      ).toMatchObject({
        delegation: { toActorId, from: { id: "paul" } },
        userErrors: [],
      });
    expect(await inbox(as("ulf"))).toHaveLength(1);
    expect((await as("ulf").decide(decision)).userErrors).toEqual([]);
    expect((await approvalOf(as("ada"), first.approvalId)).decisions).toMatchObject([
      { decidedBy: { id: "ulf" }, onBehalfOf: "paul" },
    ]);
    expect(ofType(await as("anna").until(first.agent, "DONE"), "PermissionDecided")).toMatchObject([
      { decidedBy: { id: "ulf" }, onBehalfOf: "paul" },
    ]);

    const second = await ask(as("anna"), "write b.txt");
    clock.passHours(2);
    expect(
      (await as("vera").decide({ ...decision, approvalId: second.approvalId, inputHash: second.inputHash })).userErrors,
    ).toMatchObject([{ code: "FORBIDDEN" }]);
    expect(await inbox(as("ulf"))).toEqual([]);
    expect((await as("ada").get(DelegationsDocument, { active: true })).delegations.nodes).toEqual([]);
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
    expect(await revoke("ada")).toMatchObject({ delegation: { revokedBy: "ada" }, userErrors: [] });
    expect(await revoke("paul")).toMatchObject({ delegation: { revokedBy: "ada" }, userErrors: [] });
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

describe("always allow this (A13)", () => {
  it("proposes the narrowest rule with what it would have meant, stores it with its author, and can be revoked", async () => {
    const { as } = await office();
    const first = await ask(as("anna"), "write docs/a [1].txt");
    await as("paul").decide({ approvalId: first.approvalId, decision: "DENY" });
    await as("anna").until(first.agent, "DONE");
    const { agent, approvalId } = await ask(as("anna"), "write docs/a [1].txt", first.agent);
    const paul = as("paul");
    expect((await paul.get(AllowRuleProposalDocument, { approvalId })).allowRuleProposal).toEqual({
      rule: 'fs_write(path:"/docs/a [[]1].txt")',
      past: { examined: 2, matched: 2, asked: 2, denied: 1 },
    });
    const { allowAlways } = await paul.get(AllowAlwaysDocument, { input: { approvalId } });
    expect(allowAlways).toMatchObject({ allowRule: { createdBy: { id: "paul" }, templateId: "assistant" }, userErrors: [] });
    expect((await approvalOf(paul, approvalId)).state).toBe("PENDING");
    await paul.decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");

    const other = await as("anna").createAgent();
    await as("anna").turn(other.id, "write docs/a [1].txt");
    expect((await as("anna").agent(other.id)).toolCalls.nodes).toMatchObject([
      {
        state: "COMPLETED",
        explanation: {
          verdict: "allow",
          decidedBy: 'always allow fs_write(path:"/docs/a [[]1].txt")',
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
      allowRule: { revokedBy: "petra" },
    });
    expect((await paul.get(AllowRulesDocument, { active: true })).allowRules.nodes).toEqual([]);
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
      { code: "INVALID", field: ["rule"], message: expect.stringContaining("does not take in") },
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
    const proposal = async (person: Person) => (await as(person).ask(AllowRuleProposalDocument, { approvalId })).errors;
    expect(await proposal("anna")).toMatchObject([{ extensions: { code: "FORBIDDEN" } }]);
    expect(await proposal("ulf")).toMatchObject([{ extensions: { code: "NOT_FOUND" } }]);
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

describe("the inbox", () => {
  it("is filtered by state, agent, template, tool and age", async () => {
    const clock = movableClock();
    const { as } = await office({}, { overrides: { clock } });
    const first = await ask(as("anna"));
    clock.passHours(1);
    const between = clock.now().toISOString();
    const second = await ask(as("anna"), "write b.txt");
    await as("paul").decide({ approvalId: second.approvalId, decision: "DENY" });
    const ids = async (filter: ApprovalFilter) => (await inbox(as("paul"), filter)).map(({ id }) => id);
    expect(await ids({})).toEqual([first.approvalId, second.approvalId]);
    expect(await ids({ states: ["PENDING"] })).toEqual([first.approvalId]);
    expect(await ids({ states: ["DENIED", "EXPIRED"] })).toEqual([second.approvalId]);
    expect(await ids({ agentId: second.agent })).toEqual([second.approvalId]);
    expect(await ids({ templateIds: ["assistant"], tools: ["fs_write"] })).toHaveLength(2);
    expect(await ids({ templateIds: ["other", "a\0b"] })).toEqual([]);
    expect(await ids({ tools: ["fs_read"] })).toEqual([]);
    expect(await ids({ requestedBefore: between })).toEqual([first.approvalId]);
    expect(await ids({ requestedAfter: between })).toEqual([second.approvalId]);
    expect(await inbox(as("ulf"))).toEqual([]);
  });

  it("decideApprovals decides each by itself, in order, with its own outcome", async () => {
    const { as } = await office();
    const asked = [await ask(as("anna")), await ask(as("anna"), "write b.txt"), await ask(as("pia"), "write c.txt")];
    const [a, b, c] = asked.map(({ approvalId, inputHash }) => ({ approvalId, inputHash, decision: "ALLOW" as const }));
    if (!a || !b || !c) throw new Error("three were asked");
    const { decideApprovals } = await as("pia").get(DecideApprovalsDocument, {
      input: [a, { ...b, inputHash: "0".repeat(64) }, c, { ...a, decision: "DENY" }, { ...b, approvalId: "nonsense" }],
    });
    expect(decideApprovals.map(({ approval, userErrors }) => [approval?.state ?? null, userErrors[0]?.code ?? null])).toEqual([
      ["ALLOWED", null],
      ["PENDING", "HASH_MISMATCH"],
      ["PENDING", "SELF_APPROVAL"],
      ["ALLOWED", "ALREADY_DECIDED"],
      [null, "NOT_FOUND"],
    ]);
    const many = await as("pia").ask(DecideApprovalsDocument, { input: Array.from({ length: 101 }, () => a) });
    expect(many.errors).toMatchObject([{ extensions: { code: "BAD_USER_INPUT" } }]);
  });

  it("control says when nothing is to be decided any more: PERMISSION_CLOSED for a turn that was interrupted", async () => {
    const { as } = await office();
    const { agent, approvalId } = await ask(as("anna"));
    const control = as("paul").subscribe(ControlDocument, { since: "0" });
    await as("anna").get(InterruptAgentDocument, { input: { agentId: agent } });
    for await (const { data } of control) {
      const [closed] = ofType(data?.control.events ?? [], "PermissionClosed");
      if (closed === undefined) continue;
      expect(closed).toMatchObject({ approvalId, approvalState: "SEALED" });
      break;
    }
  });
});
