import { describe, expect, it } from "vitest";
import type { PermissionSource } from "../../../src/agent/policy/permission-source.ts";
import { presets, type TemplateConfig } from "../../../src/triplane.ts";
import { AllowAlwaysDocument, AllowRuleProposalDocument, AllowRulesDocument } from "../../generated/documents.ts";
import { shell } from "../../support/command-lines.ts";
import { ACTORS, approvalOf, ask, office } from "../../support/office.ts";

const SCRIPT = {
  replies: [
    { when: { user: "^run (?<line>.*)$" }, call: [{ tool: "shell", input: { command: "{{line}}" } }] },
    { when: {}, say: ["Done."] },
  ],
};

/** An office whose agent asks for a line, and what people see of it. */
async function askedFor(line: string, template: Partial<TemplateConfig> = { permission: presets.askAll }) {
  const { as } = await office(template, { script: SCRIPT, config: { ...ACTORS, tools: [shell] } });
  const { agent, approvalId } = await ask(as("anna"), `run ${line}`);
  const paul = as("paul");
  return {
    as,
    agent,
    approval: await approvalOf(paul, approvalId),
    propose: async (rule?: string) =>
      (await paul.get(AllowRuleProposalDocument, { approvalId, ...(rule === undefined ? {} : { rule }) })).allowRuleProposal,
    store: async (rule: string) => (await paul.get(AllowAlwaysDocument, { input: { approvalId, rule } })).allowAlways.userErrors,
    stored: async () => (await paul.get(AllowRulesDocument, {})).allowRules.nodes,
  };
}

describe("the parts of a line that are asked about", () => {
  const parts = async (line: string, permission: PermissionSource) => {
    const { approval } = await askedFor(line, { permission });
    return approval.commandParts.map(({ start, end, reason }) => [line.slice(start, end), reason]);
  };

  it("are all, also beside a path out of the workspace and a file with secrets, each with its own reason", async () => {
    expect(await parts("npm install x; cat /etc/passwd; sudo rm y", presets.askAll)).toEqual([
      ["npm install x", expect.stringContaining("npm install")],
      ["/etc/passwd", "/etc/passwd lies outside of the workspace"],
      ["sudo rm y", "sudo runs another command"],
    ]);
    expect(await parts("git push && cat id_rsa", presets.askAll)).toEqual([
      ["git push", expect.stringContaining("git push")],
      ["id_rsa", expect.stringContaining("id_rsa mostly holds secrets")],
    ]);
  });

  it("are no more than those that the mode would not run, and what ask rules name", async () => {
    const line = "git push && npm publish && make && cat id_rsa";
    const found = await parts(line, { mode: "auto", ask: ["shell(command:npm publish)"] });
    expect(found.map(([text]) => text)).toEqual(["npm publish", "id_rsa"]);
    const allowed = await parts(line, {
      ...presets.askAll,
      allow: ["shell(command:make)"],
      ask: ["shell(command:{make,npm publish})"],
    });
    expect(allowed).toEqual([
      ["git push", expect.any(String)],
      ["npm publish", "shell(command:{make,npm publish}) asks for it"],
      ["id_rsa", expect.any(String)],
    ]);
  });
});

describe("a rule for a command line", () => {
  it.each([
    ["echo hi > out.txt", "shell(command:echo *)", "it writes out.txt, and no allow rule names that file"],
    ["for i in 1 2; do make; done", "shell(command:make)", "does not match"],
    ["cat id_rsa | grep x", "shell", "id_rsa mostly holds secrets"],
  ])("that would not let %s run is neither stored nor proposed: %s", async (line, rule, reason) => {
    const { store, stored, propose } = await askedFor(line);
    const problem = { code: "INVALID", field: ["rule"], message: expect.stringContaining(reason) };
    expect(await store(rule)).toEqual([problem]);
    expect(await propose(rule)).toEqual({ proposal: null, problems: [problem] });
    expect(await stored()).toEqual([]);
  });

  it("is not proposed, nor asked for, where none can be given", async () => {
    for (const line of ["echo hi > out.txt; for i in 1; do make; done", "for i in 1 2; do make; done"]) {
      const { propose } = await askedFor(line);
      const [problem] = (await propose()).problems;
      expect(problem?.message).toMatch(/^there is no narrow rule for this call: .*\. Decide each call$/);
    }
  });

  it("names the rule on the file if a redirection alone keeps the call asking", async () => {
    const { propose } = await askedFor("echo hi > out.txt");
    const remedy = "Add fs_write(path:/out.txt) to `allow` of the template first";
    expect((await propose()).problems).toMatchObject([
      { message: expect.stringMatching(/^there is no narrow rule .* Or decide each call$/) },
    ]);
    expect((await propose()).problems).toMatchObject([{ message: expect.stringContaining(remedy) }]);
    expect((await propose("shell(command:echo *)")).problems).toMatchObject([{ message: expect.stringContaining(remedy) }]);
    const { propose: ofHook } = await askedFor("echo hi > out.txt", {
      permission: presets.askAll,
      hooks: { preToolUse: [() => ({ decision: "ask" }) as const] },
    });
    expect((await ofHook()).problems).toMatchObject([{ message: expect.stringMatching(/\. Decide each call$/) }]);
  });

  it("is not stored if a hook asks whatever rules say", async () => {
    const hooks = { preToolUse: [() => ({ decision: "ask" }) as const] };
    const { store } = await askedFor("make", { permission: presets.askAll, hooks });
    expect(await store("shell(command:make)")).toMatchObject([
      { code: "INVALID", message: expect.stringContaining("a hook requires approval") },
    ]);
  });

  it("has examples of its own, and says if nothing is left that it does not take in", async () => {
    const { propose } = await askedFor("npm run build");
    const examples = async (rule: string) => (await propose(rule)).proposal;
    expect(await examples("shell(command:npm run build)")).toMatchObject({ matching: ["npm run build"], takesInAll: false });
    expect(await examples("shell(command:npm *)")).toMatchObject({ matching: ["npm run build", "npm other", "npm run other"] });
    expect(await examples("shell(command:*)")).toMatchObject({
      matching: ["npm run build", "git push", "other", "npm other"],
      notMatching: expect.arrayContaining(["npm run build --other", "sudo npm run build"]),
      takesInAll: false,
    });
    expect(await examples("shell")).toMatchObject({
      matching: ["npm run build", "rm -rf .", "git push", "npm run build; rm -rf ."],
      notMatching: [],
      takesInAll: true,
    });
  });
});

describe("the record of a call whose input was edited", () => {
  const edited = async (input: { command: string }, template: Partial<TemplateConfig>) => {
    const { as, agent, approval } = await askedFor("make original", template);
    const decision = { approvalId: approval.id, decision: "ALLOW", inputHash: approval.inputHash, input } as const;
    expect((await as("paul").decide(decision)).userErrors).toEqual([]);
    await as("anna").until(agent, "DONE");
    const [call] = (await as("anna").agent(agent)).toolCalls.nodes;
    return { call, approval: await approvalOf(as("ada"), approval.id) };
  };

  it("explains the input that ran, with its parts", async () => {
    const input = { command: "ls; sudo -n true" };
    const { call, approval } = await edited(input, { permission: presets.readOnly, selfApproval: true });
    expect(call).toMatchObject({
      state: "COMPLETED",
      input,
      explanation: { verdict: "ASK", parts: [{ parameter: "command", start: 4, end: 16 }] },
    });
    expect(call?.explanation?.reason).not.toContain("make original");
    expect(approval.commandParts).toMatchObject([{ start: 4, reason: "sudo runs another command" }]);
  });

  it("says by which rule it runs if it needs no decision any more, and what hooks say of it", async () => {
    const hooks: TemplateConfig["hooks"] = {
      preToolUse: [({ input }) => (JSON.stringify(input).includes("ls -l") ? { decision: "ask", reason: "a list" } : undefined)],
    };
    const { call } = await edited({ command: "ls" }, { permission: presets.readOnly, hooks, selfApproval: true });
    expect(call).toMatchObject({ state: "COMPLETED", explanation: { verdict: "ALLOW", rule: "readOnlyCommands", parts: [] } });
    const hooked = await edited({ command: "ls -l" }, { permission: presets.readOnly, hooks, selfApproval: true });
    expect(hooked.call).toMatchObject({ state: "COMPLETED", explanation: { verdict: "ASK", rule: "hook", reason: "a list" } });
  });
});
