import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Around } from "../../src/agent/calls/hooks.ts";
import type { PreToolUse } from "../../src/agent/tools/tool-hooks.ts";
import type { PermissionSource } from "../../src/agent/policy/permission-source.ts";
import { defineTool } from "../../src/agent/tools/tool.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import type { Json } from "../../src/lib/json.ts";
import { ExplainCallDocument, ExplainPermissionDocument, type CreateAgentInput } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect } from "../support/client.ts";
import { tokenActor } from "../support/actors.ts";

const READ = { tool: "fs_read", input: { path: "a.txt" } } as const;

/** Lets an agent make one call, and gives its row; a call that is asked for stays open. */
async function call(
  { tool, input }: { tool: string; input: Json },
  template: Partial<TemplateConfig>,
  options: TestAppOptions & { readonly agent?: Partial<CreateAgentInput> } = {},
) {
  const app = await startTestApp({
    script: {
      replies: [
        { when: { user: "go" }, call: [{ tool, input }] },
        { when: {}, say: ["done"] },
      ],
    },
    ...options,
    template,
  });
  await writeFile(join(app.workspace, "a.txt"), "text of a");
  const client = connect(app.url);
  const agent = await client.createAgent(options.agent);
  await client.send(agent.id, "go");
  await client.until(agent.id, "STEP_COMPLETE");
  for await (const page of client.timeline({ agentId: agent.id, since: "0" }))
    if (page.events.some(({ kind }) => kind === "PERMISSION_REQUIRED" || kind === "TOOL_END")) break;
  const [row] = (await client.agent(agent.id)).toolCalls.nodes;
  if (row === undefined) throw new Error("the agent made no call");
  return { app, client, agent, row };
}

describe("rules, in the order of DESIGN section 6", () => {
  const deny = ["fs_read(path:a.txt)"];
  const cases: [string, PermissionSource, string, string, string][] = [
    ["deny beats allow", { mode: "auto", deny, allow: ["*"] }, "DENIED", "deny fs_read(path:a.txt)", "deny.0"],
    [
      "deny of another tool that reads it",
      { mode: "auto", deny: ["fs_glob", "fs_read(path:/a.txt)"] },
      "DENIED",
      "deny fs_read(path:/a.txt)",
      "deny.1",
    ],
    [
      "allow beats ask and mode",
      { mode: "approval", allow: ["fs_*(path:*.txt)"], ask: ["*"] },
      "COMPLETED",
      "allow fs_*(path:*.txt)",
      "allow.0",
    ],
    [
      "ask beats the mode",
      { mode: "auto", ask: ["fs_read(path:*.txt)"] },
      "APPROVAL_REQUIRED",
      "ask fs_read(path:*.txt)",
      "ask.0",
    ],
    [
      "autoAllowTools beats ask",
      { mode: "auto", autoAllowTools: ["fs_read"], ask: ["*"] },
      "COMPLETED",
      "autoAllowTools",
      "autoAllowTools.0",
    ],
    [
      "a rule that does not match leaves it to the mode",
      { mode: "approval", allow: ["fs_read(path:b.txt)"] },
      "APPROVAL_REQUIRED",
      "mode approval",
      "mode",
    ],
    [
      "denyTools beats an allow rule",
      { mode: "auto", denyTools: ["fs_read"], allow: ["*"] },
      "DENIED",
      "denyTools",
      "denyTools.0",
    ],
  ];
  it.each(cases)("%s", async (_name, permission, state, rule, place) => {
    const { row } = await call(READ, { permission });
    expect(row).toMatchObject({ state, explanation: { rule, place: `templates.assistant.permission.${place}` } });
  });

  const asked: [string, PermissionSource, string, Record<string, Json>, string][] = [
    [
      "an ask rule reaches a search without a path",
      { mode: "auto", ask: ["fs_*(path:customers)"] },
      "fs_grep",
      { pattern: "x" },
      "APPROVAL_REQUIRED",
    ],
    [
      "an ask rule reaches a wider search",
      { mode: "auto", ask: ["fs_*(path:customers)"] },
      "fs_grep",
      { pattern: "x", path: "c*/*" },
      "APPROVAL_REQUIRED",
    ],
    [
      "an ask rule leaves other searches alone",
      { mode: "auto", ask: ["fs_*(path:/customers)"] },
      "fs_grep",
      { pattern: "x", path: "src/*" },
      "COMPLETED",
    ],
    [
      "an allow rule does not take in a search that also looks elsewhere",
      { mode: "approval", allow: ["fs_grep(path:docs)"] },
      "fs_grep",
      { pattern: "x", path: "{customers/**,docs/*}" },
      "APPROVAL_REQUIRED",
    ],
    [
      "an allow rule takes in a search in its folder",
      { mode: "approval", allow: ["fs_grep(path:docs)"] },
      "fs_grep",
      { pattern: "x", path: "docs/**/*.md" },
      "COMPLETED",
    ],
    [
      "an allow rule does not take in a search from another folder",
      { mode: "approval", allow: ["fs_glob(pattern:docs)"] },
      "fs_glob",
      { pattern: "{**,/docs/}" },
      "APPROVAL_REQUIRED",
    ],
    [
      "a deny rule with another condition reaches a wider search",
      { mode: "auto", deny: ["fs_grep(path:customers, pattern:*)"] },
      "fs_grep",
      { pattern: "x" },
      "DENIED",
    ],
  ];
  it.each(asked)("%s", async (_name, permission, tool, input, state) => {
    expect((await call({ tool, input }, { permission })).row.state).toBe(state);
  });

  it("a path out of the workspace is denied before anybody is asked", async () => {
    const { row } = await call({ tool: "fs_write", input: { path: "../x", content: "" } }, { permission: { mode: "approval" } });
    expect(row).toMatchObject({
      state: "DENIED",
      explanation: { rule: "workspace" },
      output: expect.stringContaining("outside of the workspace"),
    });
  });
});

describe("custom modes", () => {
  const run = async (mine: () => never) =>
    (await call(READ, { permission: { mode: "mine" } }, { config: { permissionModes: { mine } } })).row;
  it.each([
    ["allow", "COMPLETED"],
    ["ask", "APPROVAL_REQUIRED"],
    ["deny", "DENIED"],
    ["perhaps", "DENIED"],
    [undefined, "DENIED"],
  ])("one that answers %s: %s", async (verdict, state) => {
    expect(await run(() => verdict as never)).toMatchObject({ state, explanation: { rule: "mode mine" } });
  });

  it("an asynchronous one denies, and what it throws later harms nobody", async () => {
    expect(await run((async () => Promise.reject(new Error("later"))) as never)).toMatchObject({ state: "DENIED" });
  });

  it("one that throws denies, and says so", async () => {
    const row = await run(() => {
      throw new Error("mode bug");
    });
    expect(row).toMatchObject({ state: "DENIED", output: expect.stringContaining("mode bug") });
  });
});

describe("a permission of an agent's own", () => {
  const tighten = (permission: PermissionSource) => ({
    agent: { permission: permission as NonNullable<CreateAgentInput["permission"]> },
  });

  it.each([
    ["may deny", { deny: ["fs_read"] }, "DENIED", "agent.permission.deny.0"],
    ["may ask", { ask: ["fs_read"] }, "APPROVAL_REQUIRED", "agent.permission.ask.0"],
    ["may not allow what the template asks", { allow: ["fs_write"] }, "APPROVAL_REQUIRED", "templates.assistant.permission.mode"],
    ["says nothing of what it does not name", { deny: ["fs_write(path:z)"] }, "COMPLETED", "templates.assistant.permission.mode"],
  ] as const)("TIGHTEN %s", async (_name, permission, state, place) => {
    const tried = "allow" in permission ? { tool: "fs_write", input: { path: "b", content: "" } } : READ;
    const { row } = await call(tried, {}, tighten(permission));
    expect(row).toMatchObject({ state, explanation: { place } });
  });

  it("REPLACE takes the template's place, and needs an administrator", async () => {
    const replace = { permission: { mode: "auto" }, permissionScope: "REPLACE" as const };
    expect((await call({ tool: "fs_write", input: { path: "b", content: "" } }, {}, { agent: replace })).row).toMatchObject({
      state: "COMPLETED",
    });
    const user = tokenActor("user", ["user"]);
    const app = await startTestApp({ config: { actors: [user.actor] } });
    const client = connect(app.url, user.token);
    await expect(client.createAgent(replace)).rejects.toThrow(/FORBIDDEN.*permissionScope/);
    await expect(client.createAgent({ ...replace, permissionScope: "TIGHTEN" })).resolves.toBeDefined();
  });

  it.each([
    [{ deny: ["bash_run(command:ls; rm)"] }, /"permission","deny","0".*one rule for each command/],
    [{ deny: ["fs_read(pth:x)"] }, /"permission","deny","0".*at character 9/],
    [{ mode: "yolo" }, /"permission","mode".*there is no mode/],
    [{ denyTools: ["rm"] }, /"permission","denyTools","0".*there is no tool/],
  ])("%j is refused with its place", async (permission, message) => {
    const client = connect((await startTestApp()).url);
    await expect(client.createAgent({ permission })).rejects.toThrow(message);
  });
});

describe("explainPermission", () => {
  it("answers the verdict, the deciding rule with its place, what was considered, and the values as rules see them", async () => {
    const app = await startTestApp({
      template: {
        permission: { mode: "auto", deny: ["fs_write", "fs_read(path:.private)"], ask: ["fs_read(path:docs)"] },
        hooks: { preToolUse: [() => undefined] },
      },
    });
    await mkdir(join(app.workspace, "config"));
    await writeFile(join(app.workspace, ".private"), "x");
    await symlink("../.private", join(app.workspace, "config/link"));
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const explain = async (input: Json, tool = "fs_read") => client.ask(ExplainPermissionDocument, { agentId: id, tool, input });
    expect((await explain({ path: "config/link" })).data?.explainPermission.explanation).toMatchObject({
      verdict: "DENY",
      rule: "deny fs_read(path:.private)",
      place: "templates.assistant.permission.deny.1",
      values: { path: [{ kind: "file", names: ["config/link", ".private"], access: "read" }] },
      considered: [{ rule: "deny fs_read(path:.private)", verdict: "DENY" }],
      hooks: ["templates.assistant.hooks.preToolUse.0"],
    });
    const explained = async (path: string) => (await explain({ path })).data?.explainPermission;
    expect((await explained("docs/a.md"))?.explanation?.verdict).toBe("ASK");
    expect(await explained("a.md")).toMatchObject({ explanation: { verdict: "ALLOW", rule: "mode auto" }, problems: [] });
    expect((await explain({ pth: "a.md", offset: "x" })).data?.explainPermission).toEqual({
      explanation: null,
      problems: expect.arrayContaining([
        { code: "INVALID", field: ["input"], message: expect.stringContaining("pth") },
        { code: "INVALID", field: ["input", "offset"], message: expect.any(String) },
      ]),
    });
    expect((await explain({}, "rm")).data?.explainPermission).toMatchObject({
      explanation: null,
      problems: [{ field: ["tool"], message: expect.stringContaining("There is no tool") }],
    });
    expect((await client.agent(id)).toolCalls.nodes).toEqual([]);
  });

  it("of a recorded call says what would become of it by the rules as they are, and neither runs nor records it again", async () => {
    const permission = { mode: "auto" as const, deny: [] as string[], ask: ["fs_write"] };
    const { client, agent, row } = await call({ tool: "fs_write", input: { path: "./b.txt", content: "b" } }, { permission });
    const of = async (callId: string) => (await client.ask(ExplainCallDocument, { callId })).data?.explainPermission;
    expect(await of(row.callId)).toMatchObject({
      explanation: { verdict: "ASK", values: { path: [{ kind: "file", names: ["b.txt"], access: "write" }] } },
      problems: [],
    });
    expect((await client.agent(agent.id)).toolCalls.nodes).toHaveLength(1);
    const broken = await call({ tool: "fs_read", input: "no object" }, { permission: { mode: "auto" } });
    expect((await broken.client.ask(ExplainCallDocument, { callId: broken.row.callId })).data?.explainPermission).toMatchObject({
      explanation: null,
      problems: [{ code: "INVALID", field: ["input"] }],
    });
  });

  it("takes a recorded call or a call with its agent, and says which is missing", async () => {
    const { client, agent, row } = await call(READ, { permission: { mode: "auto" } });
    const codeOf = async (args: string) =>
      (await client.post({ query: `{ explainPermission(${args}) { problems { code } } }` })).errors?.[0]?.extensions?.["code"];
    for (const args of [`agentId: "${agent.id}"`, `tool: "fs_read"`, `callId: "${row.callId}", tool: "fs_read"`, "callId: null"])
      expect(await codeOf(args), args).toBe("BAD_USER_INPUT");
    for (const callId of ["x", agent.id]) expect(await codeOf(`callId: "${callId}"`)).toBe("NOT_FOUND");
  });
});

describe("hooks before a call", () => {
  const WRITE = { tool: "fs_write", input: { path: "b.txt", content: "b" } };
  const give =
    (input: Record<string, Json>): PreToolUse =>
    () => ({ input });

  it("another input is validated, judged and hashed in the place of the first, and both are kept", async () => {
    const { row } = await call(READ, {
      permission: { mode: "auto" },
      hooks: { preToolUse: [give({ path: "a.txt", limit: 1 })] },
    });
    expect(row).toMatchObject({
      state: "COMPLETED",
      input: { path: "a.txt", limit: 1 },
      requestedInput: { path: "a.txt" },
      output: "text of a",
    });
  });

  it.each([
    ["an input that is not valid denies", give({ pth: "a.txt" }), { mode: "auto" }, "DENIED", "has no parameter"],
    [
      "an input that a rule denies is denied",
      give({ path: ".private" }),
      { mode: "auto", deny: ["fs_read(path:.private)"] },
      "DENIED",
      "fs_read(path:.private)",
    ],
    [
      "an input that a rule asks for is asked",
      give({ path: ".private" }),
      { mode: "auto", ask: ["fs_read(path:.private)"] },
      "APPROVAL_REQUIRED",
      "",
    ],
    [
      "what was asked stays asked, whatever the new input",
      give({ path: "a.txt" }),
      { mode: "approval", allow: ["fs_read(limit:1)"] },
      "APPROVAL_REQUIRED",
      "",
    ],
    ["an answer that is no object denies", (() => true) as never, { mode: "auto" }, "DENIED", "something else than an object"],
    ["an input with NUL denies", give({ path: "a\0b" }), { mode: "auto" }, "DENIED", "must not contain NUL"],
    [
      "an answer of no known form denies",
      (() => ({ decision: "allow" })) as never,
      { mode: "auto" },
      "DENIED",
      "neither a decision",
    ],
  ] as const)("%s", async (_name, hook, permission, state, text) => {
    const { row } = await call(READ, { permission, hooks: { preToolUse: [hook] } });
    expect(row.state).toBe(state);
    expect(row.output ?? "").toContain(text);
  });

  it("asks, which a later hook cannot take back; the input that is shown is the one that would run", async () => {
    const hooks = {
      preToolUse: [() => ({ decision: "ask" as const, reason: "look twice" }), give({ path: "b.txt", content: "changed" })],
    };
    const { client, agent, row, app } = await call(WRITE, { permission: { mode: "auto" }, hooks });
    expect(row).toMatchObject({ state: "APPROVAL_REQUIRED", explanation: { place: "templates.assistant.hooks.preToolUse.0" } });
    const [approval] = (await client.agent(agent.id)).pendingApprovals;
    expect(approval).toMatchObject({ reason: "look twice", input: { path: "b.txt", content: "changed" } });
    await client.decide({ approvalId: approval?.id ?? "", decision: "ALLOW", inputHash: approval?.inputHash ?? "" });
    await client.until(agent.id, "DONE");
    expect((await client.agent(agent.id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED" }]);
    expect(app.workspace).toBeDefined();
  });

  it("run in order: the tool's own, the configuration's, the template's", async () => {
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const tool = defineTool<Record<string, never>>({
      name: "own",
      description: "x",
      readOnly: true,
      inputSchema: { type: "object", required: [], properties: {} },
      hooks: { preToolUse: [note("tool")], postToolUse: [note("after: tool")] },
      run: () => ({ output: "ran", details: null }),
    });
    const config = { tools: [tool], hooks: { preToolUse: [note("configuration")], postToolUse: [note("after: configuration")] } };
    await call(
      { tool: "own", input: {} },
      { hooks: { preToolUse: [note("template")], postToolUse: [note("after: template")] } },
      { config },
    );
    expect(order).toEqual(["tool", "configuration", "template", "after: tool", "after: configuration", "after: template"]);
  });
});

/** A tool of one's own that throws what `error` answers. */
function failingTool(error: () => Error) {
  return defineTool<Record<string, never>>({
    name: "own",
    description: "x",
    readOnly: true,
    inputSchema: { type: "object", required: [], properties: {} },
    run: () => {
      throw error();
    },
  });
}

describe("wrappers round an execution", () => {
  it("the configuration's goes round the template's; one may answer itself, and next runs the tool at most once", async () => {
    const order: string[] = [];
    const round = (name: string) => async (_call: unknown, next: () => Promise<{ output: string; details: Json }>) => {
      order.push(`${name} in`);
      const result = await next();
      order.push(`${name} out`);
      return { ...result, output: `${name}(${result.output})` };
    };
    const { row } = await call(
      READ,
      { hooks: { around: [round("inner")] } },
      { config: { hooks: { around: [round("outer")] } } },
    );
    expect(row.output).toBe("outer(inner(text of a))");
    expect(order).toEqual(["outer in", "inner in", "inner out", "outer out"]);
    expect((await call(READ, { hooks: { around: [async () => ({ output: "cached", details: null })] } })).row).toMatchObject({
      state: "COMPLETED",
      output: "cached",
    });
    const twice = await call(READ, { hooks: { around: [async (_call, next) => (await next(), next())] } });
    expect(twice.row).toMatchObject({
      state: "FAILED",
      error: { type: "EXECUTION_FAILED", message: expect.stringContaining("next() twice") },
    });
  });

  it("a tool does not start after its call has ended, whatever a wrapper does; what fails unheard harms nobody (invariant 5)", async () => {
    let runs = 0;
    const { promise: isTried, resolve: tried } = Promise.withResolvers<unknown>();
    const tool = failingTool(() => {
      runs += 1;
      return new Error("unheard");
    });
    const late: Around = async (_call, next) => {
      setTimeout(() => tried(next().catch((error: unknown) => error)), 50);
      return { output: "early", details: null };
    };
    expect(
      (await call({ tool: "own", input: {} }, { hooks: { around: [late] } }, { config: { tools: [tool] } })).row,
    ).toMatchObject({ output: "early" });
    expect(await isTried).toMatchObject({ message: expect.stringContaining("after the call had ended") });
    expect(runs).toBe(0);
    const unheard: Around = async (_call, next) => {
      void next();
      return { output: "cached", details: null };
    };
    expect(
      (await call({ tool: "own", input: {} }, { hooks: { around: [unheard] } }, { config: { tools: [tool] } })).row,
    ).toMatchObject({ state: "COMPLETED", output: "cached" });
    expect(runs).toBe(1);
  });

  it("one that throws is named by the error; what the tool threw goes through as it is", async () => {
    const through: Around = async (_call, next) => next();
    const breaks: Around = async (_call, next) => {
      await next();
      throw new Error("the meter is gone");
    };
    const config = { hooks: { around: [through] } };
    const failed = await call(READ, { hooks: { around: [breaks] } }, { config });
    expect(failed.row).toMatchObject({
      state: "FAILED",
      error: {
        type: "EXECUTION_FAILED",
        message: expect.stringContaining("templates.assistant.hooks.around.0 failed: the meter is gone"),
      },
    });
    const tool = failingTool(() => new Error("the disk is gone"));
    const { row } = await call(
      { tool: "own", input: {} },
      { hooks: { around: [through] } },
      { config: { ...config, tools: [tool] } },
    );
    expect(row).toMatchObject({ state: "FAILED", error: { message: expect.stringContaining("the disk is gone") } });
    expect(JSON.stringify(row.error)).not.toContain("the hook");
  });

  it("one that never ends is under the call's time limit", async () => {
    const { row } = await call(READ, { toolTimeoutMs: 50, hooks: { around: [() => new Promise<never>(() => {})] } });
    expect(row).toMatchObject({ state: "FAILED", error: { type: "TIMEOUT" } });
  });
});
