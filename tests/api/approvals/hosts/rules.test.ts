import { expect, it } from "vitest";
import {
  AllowAlwaysDocument,
  AllowRuleProposalDocument,
  AllowRulesDocument,
  RevokeAllowRuleDocument,
} from "../../../generated/documents.ts";
import { ofType, textOf } from "../../../support/client.ts";
import { testDatabaseUrl } from "../../../support/database.ts";
import { askHosts, reachingOffice, REACHING_CONFIG, resultsOf } from "../../../support/hosts.ts";

const ANY = expect.any(String) as string;

it("a yes is kept as a rule of the agent alone, until it is revoked; it is an event, and so is its end (invariant 15)", async () => {
  const { as } = await reachingOffice();
  const { agent, question } = await askHosts(as("anna"), "reach a.example:8443");
  const { approvalId, inputHash } = question;
  await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
  const [decided] = ofType(await as("anna").until(agent, "DONE"), "PermissionDecided");
  const { nodes } = (await as("paul").get(AllowRulesDocument, { filter: { isActive: true } })).allowRules;
  // Connections are not counted.
  const place = expect.stringMatching(/^allowRules\./);
  const unended = { place, expiresAt: null, revokedAt: null, isActive: true, useCount: null, lastUsedAt: null };
  expect(nodes).toEqual([{ id: decided?.allowRuleId, rule: "network(host:a.example:8443)", agentId: agent, ...unended }]);

  expect(textOf(await as("anna").turn(agent, "reach a.example:8443")).trim()).toBe("a.example:8443 reached");
  const other = await askHosts(as("anna"), "reach a.example:8443");
  expect(other.asked).toMatchObject([{ host: "a.example" }]);

  await as("paul").get(RevokeAllowRuleDocument, { input: { allowRuleId: nodes[0]?.id ?? "" } });
  expect((await askHosts(as("anna"), "reach a.example:8443", 1, agent)).asked).toMatchObject([{ host: "a.example", port: 8443 }]);
  const audit = await as("ada").post<{ timeline: { events: unknown[] } }>({
    query: `{ timeline(kinds: [ALLOW_RULE_STORED, ALLOW_RULE_REVOKED]) { events { kind ... on AllowRuleEvent { rule { rule agentId } } } } }`,
  });
  expect(audit.data?.timeline.events).toEqual([
    { kind: "ALLOW_RULE_REVOKED", rule: { rule: "network(host:a.example:8443)", agentId: agent } },
  ]);
});

it("a rule that is revoked on another server opens nothing from then on", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
  const first = await reachingOffice({}, { database });
  const { agent, question } = await askHosts(first.as("anna"), "reach a.example:8443");
  await first.as("paul").decide({ ...question, decision: "ALLOW" });
  await first.as("anna").until(agent, "DONE");
  const { workspace } = first.app;
  const config = { ...REACHING_CONFIG, workspaceRoots: [workspace], defaultWorkspace: workspace };
  const second = await reachingOffice({}, { database, config });
  const reach = async (): Promise<string> => textOf(await first.as("anna").turn(agent, "reach a.example:8443")).trim();
  expect(await reach()).toBe("a.example:8443 reached");
  const [rule] = (await second.as("paul").get(AllowRulesDocument, { filter: { isActive: true } })).allowRules.nodes;
  const heard = first.as("ada").iterate("subscription { monitor(kinds: [ALLOW_RULE_REVOKED]) { events { kind } } }");
  await heard.next();
  const revoked = heard.next();
  await second.as("paul").get(RevokeAllowRuleDocument, { input: { allowRuleId: rule?.id ?? "" } });
  await revoked;
  expect((await askHosts(first.as("anna"), "reach a.example:8443", 1, agent)).asked).toMatchObject([{ host: "a.example" }]);
});

it("a host that is allowed while others ask for it is asked for no more: the rule stands once", async () => {
  const { as } = await reachingOffice();
  const { agent, asked } = await askHosts(as("anna"), "reach a.example:443 a.example:80", 2);
  for (const { approvalId, inputHash } of asked) await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" });
  const decided = ofType(await as("anna").until(agent, "DONE"), "PermissionDecided");
  expect(decided.map(({ allowRuleId }) => allowRuleId)).toEqual([ANY, decided[0]?.allowRuleId]);
  expect((await as("paul").get(AllowRulesDocument, {})).allowRules.nodes).toHaveLength(1);
});

it("always allowed, a host or all below a name are open to all agents of the template", async () => {
  const { as } = await reachingOffice();
  const { question } = await askHosts(as("anna"), "reach a.example.org:443");
  const { approvalId } = question;
  const { allowRuleProposal } = await as("paul").get(AllowRuleProposalDocument, { approvalId });
  expect(allowRuleProposal.proposal).toMatchObject({ rule: "network(host:a.example.org)", past: { examined: 0, denied: 0 } });
  const always = async (rule: string | null): Promise<unknown> => {
    const { allowAlways } = await as("paul").get(AllowAlwaysDocument, { input: { approvalId, rule } });
    return allowAlways.allowRule?.rule ?? allowAlways.userErrors[0]?.message;
  };
  expect(await always("network(host:b.example.org)")).toContain("does not match a.example.org:443");
  expect(await always("network(host:*.example.org:8443)")).toContain("does not match a.example.org:443");
  expect(await always("network(host:)")).toContain("at character 14");
  expect(await always("reach")).toContain("must name hosts");
  expect(await always("network(host:*.example.org)")).toBe("network(host:*.example.org)");
  const { id } = await as("ulf").createAgent();
  expect(textOf(await as("ulf").turn(id, "reach z.example.org:443")).trim()).toBe("z.example.org:443 reached");
  // It decides nothing that is open.
  expect((await as("paul").decide({ approvalId, decision: "DENY" })).userErrors).toEqual([]);
});

it("a rule by which the agent would be asked still is refused: the agent's own permission holds in the template's place", async () => {
  const { as } = await reachingOffice();
  const { id } = await as("ada").createAgent({ permission: { mode: "auto" }, permissionScope: "REPLACE" });
  const { question } = await askHosts(as("ada"), "reach a.example:443", 1, id);
  const { approvalId } = question;
  const problem = {
    code: "INVALID",
    field: ["rule"],
    message: expect.stringContaining("the agent's own permission replaces that of its template") as string,
  };
  for (const rule of [null, "network(host:*)"]) {
    expect((await as("paul").get(AllowAlwaysDocument, { input: { approvalId, rule } })).allowAlways.userErrors).toEqual([
      problem,
    ]);
    const { allowRuleProposal } = await as("paul").get(AllowRuleProposalDocument, { approvalId, rule });
    expect(allowRuleProposal).toEqual({ proposal: null, problems: [problem] });
  }
});

it("what several people must allow, an approver does not allow always", async () => {
  const { as } = await reachingOffice({ approvalQuorum: 2 });
  const { question } = await askHosts(as("anna"), "reach a.example:443");
  const input = { approvalId: question.approvalId };
  const codes = async (person: "paul" | "ada"): Promise<unknown> =>
    (await as(person).get(AllowAlwaysDocument, { input })).allowAlways.userErrors.map(({ code }) => code);
  expect(await codes("paul")).toEqual(["FORBIDDEN"]);
  expect(await codes("ada")).toEqual([]);
});

it("what the template allows is reached, what it or the agent denies is neither reached nor asked for", async () => {
  const permission = { mode: "auto", allow: ["network(host:*.example)"], deny: ["network(host:b.example)"] } as const;
  const { as } = await reachingOffice({
    permission: { ...permission, allow: [...permission.allow], deny: [...permission.deny] },
  });
  const { id } = await as("anna").createAgent({ permission: { deny: ["network(host:c.example)"] } });
  const events = await as("anna").turn(id, "reach a.example:443 b.example:443 c.example:443 10.0.0.1:80");
  expect(ofType(events, "PermissionRequired")).toEqual([]);
  expect(textOf(events).trim()).toBe("a.example:443 reached\nb.example:443 refused\nc.example:443 refused\n10.0.0.1:80 refused");
  const why = await as("anna").post<{ explainPermission: unknown }>({
    query: `query Why($id: ID!) { explainPermission(agentId: $id, tool: "network", input: { host: "C.example." }) { explanation { verdict rule place values } problems { message } } }`,
    variables: { id },
  });
  expect(why.data?.explainPermission).toMatchObject({
    explanation: { verdict: "DENY", rule: "deny network(host:c.example)", place: "agent.permission.deny.0" },
    problems: [],
  });
  const wrong = await as("anna").post<{ explainPermission: { problems: unknown } }>({
    query: `query Why($id: ID!) { explainPermission(agentId: $id, tool: "network", input: { path: "a" }) { explanation { verdict } problems { field } } }`,
    variables: { id },
  });
  expect(wrong.data?.explainPermission.problems).toEqual([{ field: ["input", "host"] }]);
});

it("what a rule denies by now nobody may allow", async () => {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 6 } as const;
  const first = await reachingOffice({}, { database });
  const { agent, question } = await askHosts(first.as("anna"), "reach a.example:443");
  await first.app.close();
  const { as } = await reachingOffice(
    { permission: { deny: ["network(host:a.example)"] } },
    { database, config: { ...REACHING_CONFIG, workspaceRoots: [first.app.workspace] } },
  );
  const { approvalId, inputHash } = question;
  expect((await as("paul").get(AllowAlwaysDocument, { input: { approvalId } })).allowAlways.userErrors).toMatchObject([
    { code: "INVALID", message: expect.stringContaining("the rule network(host:a.example) forbids it") as string },
  ]);
  expect((await as("paul").decide({ approvalId, inputHash, decision: "ALLOW" })).userErrors).toMatchObject([
    { code: "DENIED_BY_POLICY", message: expect.stringContaining("network(host:a.example)") as string },
  ]);
  await as("paul").decide({ approvalId, decision: "DENY" });
  await as("anna").until(agent, "DONE");
  expect((await resultsOf(as("anna"), agent))[0]).toContain("A person denied it.");
});

it("a listener decides by the host", async () => {
  const { as } = await reachingOffice(
    {},
    {
      config: {
        ...REACHING_CONFIG,
        on: {
          PERMISSION_REQUIRED: async ({ request: { approvalId, inputHash } }, { matches, decide }) => {
            const decision = (await matches(approvalId, "network(host:*.example.org)")) ? "ALLOW" : "DENY";
            await decide({ as: "hosts-bot", approvalId, decision, inputHash });
          },
        },
      },
    },
  );
  const { id } = await as("anna").createAgent();
  expect(textOf(await as("anna").turn(id, "reach a.example.org:443 example.net:443"))).toContain("refused");
  expect((await resultsOf(as("anna"), id))[0]).toMatch(
    /a\.example\.org:443 was refused. It is allowed[^]*example\.net:443 was refused. A person denied/,
  );
});
