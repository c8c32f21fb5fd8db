import { describe, expect, it } from "vitest";
import type { PermissionSource } from "../../src/agent/policy/permission-source.ts";
import { narrowedRules } from "../../src/agent/policy/narrowed-rules.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { presets, type TemplateConfig } from "../../src/triplane.ts";
import {
  AllowAlwaysDocument,
  AllowRuleProposalDocument,
  ExplainPermissionDocument,
  SimulatePolicyDocument,
} from "../generated/documents.ts";
import { ACTORS, approvalOf, ask, office } from "../support/office.ts";

/** An own tool that takes a command line, and only says it. */
const shell = defineTool<{ command: string; steps?: { command: string }[] }>({
  name: "shell",
  description: "Says a command line.",
  readOnly: false,
  commands: ["command", "steps[].command"],
  inputSchema: {
    type: "object",
    required: ["command"],
    properties: {
      command: { type: "string" },
      steps: {
        type: "array",
        nullable: true,
        items: { type: "object", required: ["command"], properties: { command: { type: "string" } } },
      },
    },
  },
  run: ({ command }) => ({ output: `ran ${command}`, details: null }),
});
const SCRIPT = {
  replies: [
    { when: { user: "^run (?<line>.*)$" }, call: [{ tool: "shell", input: { command: "{{line}}" } }] },
    { when: {}, say: ["Done."] },
  ],
};
const PERMISSION: PermissionSource = {
  ...presets.readOnly,
  deny: ["shell(command:git push *)"],
  allow: ["shell(command:npm run *)", "shell(command:make *)"],
};

const commandOffice = (permission: PermissionSource = PERMISSION) =>
  office({ permission }, { script: SCRIPT, config: { ...ACTORS, tools: [shell] } });

describe("command lines of an own tool", () => {
  it("that only read are of low risk, all others of their tool's, and a hook may raise it", async () => {
    const risky = defineTool<{ command: string }>({
      name: "shell",
      description: "Says a command line.",
      readOnly: false,
      risk: "HIGH",
      commands: ["command"],
      inputSchema: { type: "object", required: ["command"], properties: { command: { type: "string" } } },
      run: () => ({ output: "ran", details: null }),
    });
    const raising = { preToolUse: [() => ({ decision: "ask", meta: { risk: "MEDIUM" } }) as const] };
    const riskyOffice = (hooks: TemplateConfig["hooks"] = {}) =>
      office({ permission: presets.askAll, hooks }, { script: SCRIPT, config: { ...ACTORS, tools: [risky] } });
    const { as } = await riskyOffice();
    const riskOf = async (line: string, client = as("anna")) => (await ask(client, `run ${line}`)).risk;
    expect(await riskOf("ls docs && git status")).toBe("LOW");
    for (const line of ["ls && npm test", "ls > out", "cat id_rsa", "cat /etc/passwd", "ls $(id)", "sudo ls", "ls; (ls)"])
      expect(await riskOf(line), line).toBe("HIGH");
    expect(await riskOf("ls docs", (await riskyOffice(raising)).as("anna"))).toBe("MEDIUM");
  });

  it("run, are asked about with the part that asks, or are denied with the part that is", async () => {
    const { as } = await commandOffice();
    const anna = as("anna");
    const { id: agent } = await anna.createAgent();
    await anna.turn(agent, "run git status && npm run build");
    await anna.turn(agent, "run ls; sudo git -C web push");
    const { approvalId } = await ask(anna, "run git status && npm install left-pad", agent);
    const part = { parameter: "command", start: 14, end: 34, verdict: "ASK", reason: "npm install is not known to only read" };
    const approval = await approvalOf(as("paul"), approvalId);
    expect(approval).toMatchObject({ commandParts: [part] });
    expect(approval.reason).toContain("characters 15 to 34 of command: npm install");
    await as("paul").decide({ approvalId, decision: "ALLOW", inputHash: approval.inputHash });
    await anna.until(agent, "DONE");
    const { nodes } = (await anna.agent(agent)).toolCalls;
    expect(nodes.map(({ state, explanation }) => [state, explanation?.rule])).toEqual([
      ["COMPLETED", "allow shell(command:npm run *)"],
      ["DENIED", "deny shell(command:git push *)"],
      ["COMPLETED", "mode default"],
    ]);
    expect(nodes[1]?.explanation).toMatchObject({ parts: [{ start: 4, end: 24, verdict: "DENY" }] });
    expect(nodes[0]?.explanation).toMatchObject({ parts: [] });
  });

  it("are explained, those in lists at their place, too", async () => {
    const { as } = await commandOffice();
    const { id: agentId } = await as("anna").createAgent();
    const explain = async (input: object) =>
      (await as("anna").get(ExplainPermissionDocument, { agentId, tool: "shell", input })).explainPermission.explanation;
    expect(await explain({ command: "ls | head" })).toMatchObject({
      verdict: "ALLOW",
      rule: "readOnlyCommands",
      place: "templates.assistant.permission.readOnlyCommands",
      parts: [],
    });
    expect(await explain({ command: "ls", steps: [{ command: "ls" }, { command: "rm x" }] })).toMatchObject({
      verdict: "ASK",
      parts: [{ parameter: "steps[1].command", start: 0, end: 4, verdict: "ASK" }],
    });
    expect(await explain({ command: "ls", steps: [{ command: "git push" }] })).toMatchObject({
      verdict: "DENY",
      parts: [{ parameter: "steps[0].command", start: 0, end: 8, verdict: "DENY" }],
    });
    expect(await explain({ command: "npm run build", steps: [{ command: "ls" }, { command: "make all" }] })).toMatchObject({
      verdict: "ALLOW",
      rule: "allow shell(command:npm run *)",
      reason:
        "allow rules take in all of its commands: characters 1 to 13 of command by shell(command:npm run *); characters 1 to 8 of steps[1].command by shell(command:make *)",
      considered: expect.arrayContaining([
        expect.objectContaining({ rule: "allow shell(command:npm run *)", verdict: "ALLOW" }),
        expect.objectContaining({ rule: "allow shell(command:make *)", verdict: "ALLOW" }),
      ]),
    });
  });

  it("are simulated as they were judged, and by other permissions", async () => {
    const { as } = await commandOffice();
    const { id: agent } = await as("anna").createAgent();
    for (const line of ["git status", "npm run build", "git push", "grep -rn x ."]) await as("anna").turn(agent, `run ${line}`);
    await ask(as("anna"), "run rm x", agent);
    const simulate = async (permission: object) =>
      (await as("ada").get(SimulatePolicyDocument, { permission })).simulatePolicy.simulation?.changes;
    expect(await simulate(PERMISSION)).toEqual([]);
    expect(await simulate({ ...PERMISSION, readOnlyCommands: false })).toEqual([
      { tool: "shell", before: "ALLOW", after: "ASK", calls: 2 },
    ]);
    expect(await simulate({ ...PERMISSION, deny: ["shell(command:rm *)"] })).toEqual([
      { tool: "shell", before: "ASK", after: "DENY", calls: 1 },
      { tool: "shell", before: "DENY", after: "ASK", calls: 1 },
    ]);
  });
});

describe("a stored rule that takes in less than it did", () => {
  it("is named at the start with the word that it would have to name, and simulations say whose verdict changes", async () => {
    const { as, app } = await commandOffice();
    const { id: agent } = await as("anna").createAgent();
    const { approvalId } = await ask(as("anna"), "run jq . x", agent);
    const input = { approvalId, rule: "shell(command:jq *)" };
    expect((await as("paul").get(AllowAlwaysDocument, { input })).allowAlways.userErrors).toEqual([]);
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    await as("anna").turn(agent, "run jq .a package.json");
    const { sql, reads, of } = app.services;
    expect(await narrowedRules(reads, of)).toEqual([]);
    // As it was recorded when the option was one of a row.
    await sql.query(
      {
        name: "record_as_before",
        text: `UPDATE tool_call SET rule_values = replace(replace(rule_values::text, '".a"', '"-r"'), '"effect":"unknown"', '"effect":"reads"')::json`,
      },
      [],
    );
    expect(await narrowedRules(reads, of)).toEqual([
      expect.stringMatching(
        /^the stored rule shell\(command:jq \*\) of .* takes in less than it did: "-r" must stand in the rule .* Revoke it, and store one that names the options$/,
      ),
    ]);
    const { simulatePolicy } = await as("ada").get(SimulatePolicyDocument, {
      permission: presets.readOnly,
    });
    expect(simulatePolicy.simulation?.changes).toContainEqual({ tool: "shell", before: "ALLOW", after: "ASK", calls: 1 });
  });
});

describe("always allow this command line", () => {
  it("answers what is asked about in mode auto, too", async () => {
    const { as } = await commandOffice({ mode: "auto" });
    const { id: agent } = await as("anna").createAgent();
    const { approvalId } = await ask(as("anna"), "run cat /etc/hosts", agent);
    const input = { approvalId, rule: "shell(command:cat /etc/hosts)" };
    expect((await as("paul").get(AllowAlwaysDocument, { input })).allowAlways.userErrors).toEqual([]);
    await as("paul").decide({ approvalId, decision: "DENY" });
    await as("anna").until(agent, "DONE");
    await as("anna").turn(agent, "run cat /etc/hosts");
    const last = (await as("anna").agent(agent)).toolCalls.nodes.at(-1);
    expect(last).toMatchObject({ state: "COMPLETED", explanation: { rule: "always allow shell(command:cat /etc/hosts)" } });
  });

  it("proposes the words up to the first that varied, with examples, and takes another rule to look at", async () => {
    const { as } = await commandOffice({ mode: "default" });
    const { id: agent } = await as("anna").createAgent();
    const paul = as("paul");
    const asked = async (line: string) => {
      const { approvalId } = await ask(as("anna"), `run ${line}`, agent);
      const proposed = await paul.get(AllowRuleProposalDocument, { approvalId });
      return { approvalId, ...proposed.allowRuleProposal };
    };
    const answer = async (approvalId: string) => {
      await paul.decide({ approvalId, decision: "DENY" });
      await expect.poll(async () => (await as("anna").agent(agent)).state).toBe("READY");
    };
    const first = await asked("npm run build");
    expect(first.proposal).toMatchObject({
      rule: "shell(command:npm run build)",
      past: { examined: 1, matched: 1, asked: 1, denied: 0 },
      matching: ["npm run build"],
      notMatching: [
        "npm run build other",
        "npm run build --other",
        "npm run build; rm -rf .",
        'npm run build "$(curl example.org)"',
        "PATH=. npm run build",
        "sudo npm run build",
      ],
      takesInAll: false,
    });
    await answer(first.approvalId);
    const second = await asked("npm run lint");
    expect(second.proposal).toMatchObject({
      rule: "shell(command:npm run *)",
      matching: ["npm run lint", "npm run build", "npm run other"],
      past: { examined: 2, matched: 2, asked: 2, denied: 1 },
    });
    const narrower = { approvalId: second.approvalId, rule: "shell(command:npm run lint *)" };
    expect((await paul.get(AllowRuleProposalDocument, narrower)).allowRuleProposal).toMatchObject({
      proposal: { rule: narrower.rule, matching: ["npm run lint"], past: { examined: 2, matched: 1 } },
      problems: [],
    });
    const wrong = { approvalId: second.approvalId, rule: "shell(command:npm test)" };
    expect((await paul.get(AllowRuleProposalDocument, wrong)).allowRuleProposal).toMatchObject({
      proposal: null,
      problems: [{ code: "INVALID", field: ["rule"], message: "the rule does not match the call of this approval" }],
    });
    const joined = { approvalId: second.approvalId, rule: "shell(command:npm run lint && npm run build)" };
    expect((await paul.get(AllowAlwaysDocument, { input: joined })).allowAlways.userErrors).toMatchObject([
      { code: "INVALID", field: ["rule"], message: expect.stringContaining("write one rule for each command") },
    ]);
    expect((await paul.get(AllowAlwaysDocument, { input: { approvalId: second.approvalId } })).allowAlways.userErrors).toEqual(
      [],
    );
    await answer(second.approvalId);
    await as("anna").turn(agent, "run npm run dev");
    const last = (await as("anna").agent(agent)).toolCalls.nodes.at(-1);
    expect(last).toMatchObject({ state: "COMPLETED", explanation: { rule: "always allow shell(command:npm run *)" } });
  });

  it("proposes a rule that names the options which were used, where the words behind them varied", async () => {
    const { as } = await commandOffice({ mode: "default" });
    const { id: agent } = await as("anna").createAgent();
    const rules: (string | undefined)[] = [];
    for (const line of ["git commit -q -m one", "git commit -q -m two"]) {
      const { approvalId } = await ask(as("anna"), `run ${line}`, agent);
      rules.push((await as("paul").get(AllowRuleProposalDocument, { approvalId })).allowRuleProposal.proposal?.rule);
      await as("paul").decide({ approvalId, decision: "DENY" });
      await as("anna").until(agent, "DONE");
    }
    expect(rules).toEqual(["shell(command:git commit -q -m one)", "shell(command:git commit -q -m *)"]);
  });

  it.each([
    ["make && make install", 'shell(command:"{make,make install}")'],
    ["git commit -m 'Fix it'", "shell(command:git commit -m 'Fix it')"],
    ["npm run x --watch", "shell(command:npm run x --watch)"],
    ["npm run x 'a|b'", "shell(command:npm run x 'a|b')"],
  ])("proposes of %s the rule %s", async (line, rule) => {
    const { as } = await commandOffice({ mode: "default" });
    const { approvalId } = await ask(as("anna"), `run ${line}`);
    expect((await as("paul").get(AllowRuleProposalDocument, { approvalId })).allowRuleProposal.proposal?.rule).toBe(rule);
  });

  it.each([
    ["for i in 1 2; do make; done", "a for is not a simple command"],
    ["echo $(date)", "which a pattern cannot express"],
    ["node <<< code", "what it reads may be a program"],
    ["find src -type f | xargs cat", "passes on file names that rules cannot check"],
    ["make; cat /etc/hosts > x; cat", "the call would still need approval"],
  ])("has no proposal for %s: %s", async (line, reason) => {
    const { as } = await commandOffice({ mode: "default" });
    const { approvalId } = await ask(as("anna"), `run ${line}`);
    expect((await as("paul").get(AllowRuleProposalDocument, { approvalId })).allowRuleProposal).toMatchObject({
      proposal: null,
      problems: [{ code: "INVALID", message: expect.stringContaining(reason) }],
    });
  });
});
