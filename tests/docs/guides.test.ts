import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import { Type } from "typebox";
import type { Script } from "../../src/agent/models/script.ts";
import { isHostRule, parseHostRule } from "../../src/agent/policy/hosts/host-rule.ts";
import { parseRule } from "../../src/agent/policy/parse-rule.ts";
import { closed, complete } from "../../src/lib/setting.ts";
import { CONTEXT_SETTINGS } from "../../src/agent/conversation/scope.ts";
import { formCheck } from "../../src/lib/form.ts";
import { mcpServersOf } from "../../src/config/mcp-servers.ts";
import { PLAIN_SETTINGS } from "../../src/config/template-settings.ts";
import { BUILTIN_TOOLS } from "../../src/agent/tools/builtin.ts";
import { later } from "../../src/agent/tools/later.ts";
import { defineTool, type Tool } from "../../src/agent/tools/tool.ts";
import { presets, type TemplateConfig, type TriplaneConfig } from "../../src/triplane.ts";
import { schema } from "../../src/schema/index.ts";
import { ExplainPermissionDocument, TemplateToolsDocument } from "../generated/documents.ts";
import { tokenActor } from "../support/actors.ts";
import { startTestApp } from "../support/app.ts";
import { bashApp, type MadeCall } from "../support/bash.ts";
import { hasNoBox } from "../support/box.ts";
import { commandJudge, projectFolder } from "../support/command-lines.ts";
import { setPolicyTime } from "../support/clock.ts";
import { connect, ofType, textOf } from "../support/client.ts";
import { referenceServer } from "../support/mcp.ts";
import { callsWith, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

type Guide =
  | "permissions"
  | "approvals"
  | "configuration"
  | "hooks"
  | "tools"
  | "sub-agents"
  | "mcp"
  | "memory"
  | "schedules"
  | "shapes"
  | "context"
  | "budgets";

type Language = "ts" | "graphql" | "json" | "bash" | "";

/** The code blocks of a guide in a language, in order. */
async function blocks(guide: Guide, language: Language): Promise<string[]> {
  const text = await readFile(new URL(`../../docs/${guide}.md`, import.meta.url), "utf8");
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].flatMap(([, found, code]) => (found === language ? [code ?? ""] : []));
}

/** The first block of a language that has this in it. */
async function block(guide: Guide, language: Language, has: string): Promise<string> {
  const found = (await blocks(guide, language)).find((code) => code.includes(has));
  if (found === undefined) throw new Error(`docs/${guide}.md has no block with ${has}`);
  return found;
}

/** What a block of TypeScript stands for: the exported value, the constant, or the object whose fields it lists. */
function valueOf(block: string, names: Readonly<Record<string, unknown>> = {}): unknown {
  const code = block.replace(/^(import .*|\/\/ .*)?\n/gm, "");
  const isExport = code.startsWith("export default ");
  const constant = /^const (\w+) =/.exec(code)?.[1];
  const source = isExport
    ? code.replace("export default", "const exported =")
    : constant === undefined
      ? `const exported = {${code}}`
      : code;
  const script = `${stripTypeScriptTypes(source)}\nreturn ${constant ?? "exported"};`;
  const given = { defineConfig: (config: TriplaneConfig) => config, defineTool, Type, process, ...names };
  const compiled = runInThisContext(`(${Object.keys(given).join(", ")}) => {
${script}
}`) as (...values: unknown[]) => unknown;
  return compiled(...Object.values(given));
}

describe.each(["permissions", "approvals"] as const)("docs/%s.md", (guide) => {
  it("has operations that the schema knows", async () => {
    const operations = await blocks(guide, "graphql");
    expect(operations.length).toBeGreaterThan(1);
    for (const operation of operations) expect(validate(schema, parse(operation)), operation).toEqual([]);
  });
});

describe("docs/configuration.md", () => {
  it("has an example whose template names every setting, with its default or with what its comment says", async () => {
    const code = await block("configuration", "ts", "export default defineConfig");
    const template = (valueOf(code) as TriplaneConfig).templates["assistant"];
    expect(Object.keys(template ?? {}).toSorted()).toEqual(
      [...Object.keys(PLAIN_SETTINGS), "budgets", "memory", "permission", "schedules", "subagents"].toSorted(),
    );
    const defaults = complete(PLAIN_SETTINGS, { model: "claude", systemPrompt: "You are a careful assistant." });
    const { tools, contextMessages, fallbackModel, approvalExpiresMs, name, description, version, outputSchema, ...others } =
      defaults;
    const empty = [tools, contextMessages, fallbackModel, approvalExpiresMs, name, description, version, outputSchema];
    expect(empty).toEqual(Array.from({ length: 8 }, () => null));
    expect(template).toMatchObject(others);
  });

  it("has a tool of one's own that the server takes, and whose input is checked", async () => {
    const tool = valueOf(await block("configuration", "ts", "word_count")) as Tool;
    expect(tool.bind({ path: "a.txt" })).toMatchObject({ ok: true });
    expect(tool.bind({ path: 1, other: true })).toMatchObject({
      ok: false,
      refusal: [{ message: 'has no parameter "other"' }, { path: "/path", message: "must be string" }],
    });
  });
});

describe("docs/tools.md", () => {
  it("has a client tool that a configuration takes, and a query for the open calls that the schema knows", async () => {
    const config = valueOf(await block("tools", "ts", "clientTools")) as TriplaneConfig;
    const { model } = config.templates["assistant"] ?? {};
    expect(model).toBe("demo");
    const app = await startTestApp({ template: { clientTools: config.templates["assistant"]?.clientTools ?? {} } });
    const { templates } = await connect(app.url).get(TemplateToolsDocument, {});
    expect(templates[0]?.tools.at(-1)).toEqual({ name: "ask_user", source: "CLIENT", isReadOnly: true });
    for (const operation of await blocks("tools", "graphql")) expect(validate(schema, parse(operation)), operation).toEqual([]);
  });

  it("has a request that gives the result of a call that waits", async () => {
    const command = await block("tools", "bash", "/tool-calls/result");
    const waiting = Promise.withResolvers<string>();
    const report = ownTool("report", (_input, { completionToken }) => {
      waiting.resolve(completionToken());
      return later();
    });
    const app = await startTestApp({
      model: playedModel(
        () => callsWith(["report", {}]),
        () => says("Done."),
      ),
      config: { tools: [report] },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.send(agent.id, "go");
    const token = await waiting.promise;
    const headers = [...command.matchAll(/-H ["']([\w-]+): ([^"']+)["']/g)].map(([, name = "", value = ""]): [string, string] => [
      name,
      value.replace("$TOKEN", token),
    ]);
    const [, path = "", body = ""] = /localhost:4000(\S+)[^]* -d '([^']+)'/.exec(command) ?? [];
    const response = await fetch(new URL(path, app.url), { method: "POST", headers, body });
    expect(await response.json()).toEqual({ callId: expect.any(String) });
    const events = await client.until(agent.id, "DONE");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
  });

  it("has a tool that reminds its agent, once, with its next step", async () => {
    const deploy = valueOf(await block("tools", "ts", "context.remind")) as Tool;
    const model = playedModel(
      () => callsWith(["deploy", { branch: "main" }]),
      () => says("Done."),
    );
    const app = await startTestApp({ model, template: { permission: { mode: "auto" } }, config: { tools: [deploy] } });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const events = await client.turn(id, "Deploy");
    expect(ofType(events, "ReminderSent")).toMatchObject([{ priority: "HIGH", startsTurn: false, sentBy: { kind: "SYSTEM" } }]);
    const [, after] = model.calls.map(({ request }) => JSON.stringify(request.messages));
    expect(after?.split("One deployment is left for today.")).toHaveLength(2);
    expect(after).toContain("deployed: main");
  });

  it("has a cacheable tool whose result is given again, and whose file counts", async () => {
    const tool = valueOf(await block("tools", "ts", "cacheable: true")) as Tool;
    const look: MadeCall = ["outline", { path: "a.md" }];
    const { app, turn } = await bashApp([look, look, ["fs_write", { path: "b.md", content: "# B" }], look], {
      config: { tools: [tool] },
    });
    await writeFile(join(app.workspace, "a.md"), "# A\ntext\n## B\n");
    const [first, second, , fourth] = await turn();
    expect(first).toMatchObject({ output: "# A\n## B", details: { headings: ["# A", "## B"] }, cachedFrom: null });
    expect(second).toMatchObject({ output: "# A\n## B", cachedFrom: { callId: first?.callId } });
    expect(fourth?.cachedFrom).toBeNull();
  });
});

describe("docs/sub-agents.md", () => {
  it("has templates and a script with which an agent starts another, and returns its answer", async () => {
    const { templates } = valueOf(await block("sub-agents", "ts", "subagents")) as TriplaneConfig;
    const script = JSON.parse(await block("sub-agents", "json", "task_run")) as Script;
    const app = await startTestApp({ config: { templates, models: { main: { provider: "scripted", script } } } });
    await writeFile(join(app.workspace, "a.md"), "");
    await writeFile(join(app.workspace, "b.md"), "");
    const client = connect(app.url);
    const { id } = await client.createAgent({ templateId: "lead" });
    const events = await client.turn(id, "Count them");
    expect(ofType(events, "AgentReturned")).toMatchObject([{ outcome: "OK" }]);
    expect(textOf(events)).toBe("My worker says: 2 files.");
    for (const name of ["a.md", "b.md"]) await rm(join(app.workspace, name));
    expect(textOf(await client.turn(id, "Count them again"))).toBe("My worker says: 0 files.");
  });
});

describe("docs/shapes.md", () => {
  it("has a template and a message that are answered in their shapes", async () => {
    for (const operation of await blocks("shapes", "graphql")) expect(validate(schema, parse(operation)), operation).toEqual([]);
    const { templates } = valueOf(await block("shapes", "ts", "outputSchema")) as TriplaneConfig;
    const script = { replies: [{ when: {}, say: ['{ "files": 12 }'] }] };
    const app = await startTestApp({ config: { templates, models: { main: { provider: "scripted", script } } } });
    const client = connect(app.url);
    const { id } = await client.createAgent({ templateId: "counter" });
    expect(ofType(await client.turn(id, "Count."), "Done")).toMatchObject([{ reason: "COMPLETED", value: { files: 12 } }]);
    const [send = ""] = await blocks("shapes", "graphql");
    const sent = await client.post<{ sendMessage: { cursor: string; userErrors: readonly object[] } }>({
      query: send.replace("QWdlbnQ6…", id),
    });
    expect(sent.data?.sendMessage.userErrors).toEqual([]);
    const events = await client.until(id, "DONE", sent.data?.sendMessage.cursor);
    expect(ofType(events, "Done")).toMatchObject([{ value: { files: 12 } }]);
  });
});

describe("docs/context.md", () => {
  it("has operations that the schema knows, and settings that the configuration takes", async () => {
    for (const operation of await blocks("context", "graphql")) expect(validate(schema, parse(operation)), operation).toEqual([]);
    const { models } = valueOf(await block("context", "ts", "models: {")) as Pick<TriplaneConfig, "models">;
    expect(Object.keys(models)).toEqual(["claude", "local"]);
    const { context } = valueOf(await block("context", "ts", "compressAt")) as { readonly context: object };
    expect(Object.keys(context)).toEqual(Object.keys(CONTEXT_SETTINGS));
    expect(formCheck(closed(CONTEXT_SETTINGS), "context")(context)).toEqual([]);
  });

  it("has scripted models of which one has a window, and the other plays the summary", async () => {
    const { models, templates } = valueOf(await block("context", "ts", 'model: "summary"')) as TriplaneConfig;
    const app = await startTestApp({ config: { templates, models }, overrides: { models: new Map() } });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const summaries = async () =>
      ofType(await client.events(id), "ContextCompression").flatMap(({ summary }) => (summary === null ? [] : [summary]));
    for (let turn = 0; turn < 12 && (await summaries()).length === 0; turn += 1)
      await client.turn(id, `message ${turn} ${"m".repeat(4_000)}`);
    await expect.poll(summaries).toContainEqual(expect.stringContaining("Anna drinks tea."));
    const query = `query Meter($id: ID!) { agent(id: $id) { context { window } } }`;
    const meter = await client.post({ query, variables: { id } });
    expect(meter.data).toEqual({ agent: { context: { window: 8_000 } } });
  });

  it("has a mark for making room that is another than the window of the model", async () => {
    const script: Script = { replies: [{ when: {}, say: ["I see."] }] };
    const models: TriplaneConfig["models"] = { main: { provider: "scripted", script, window: 8_000 } };
    const template = { model: "main", systemPrompt: "You listen.", context: { maxTokens: 2_000 }, tools: ["todo_read"] };
    const app = await startTestApp({
      config: { models, templates: { assistant: template } },
      overrides: { models: new Map() },
    });
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const events = await client.turn(id, "m".repeat(12_000));
    expect(ofType(events, "Done")).toMatchObject([{ reason: "COMPLETED" }]);
    const query = `query Meter($id: ID!) { agent(id: $id) { context { tokens window } } }`;
    const meter = await client.post<{ agent: { context: { tokens: number; window: number } } }>({ query, variables: { id } });
    expect(meter.data?.agent.context.window).toBe(2_000);
    expect(meter.data?.agent.context.tokens).toBeGreaterThan(2_000);
  });
});

describe("docs/schedules.md", () => {
  it("has operations that the schema knows, and a template whose schedule begins a turn", async () => {
    for (const operation of await blocks("schedules", "graphql"))
      expect(validate(schema, parse(operation)), operation).toEqual([]);
    const { templates } = valueOf(await block("schedules", "ts", "schedules: [")) as TriplaneConfig;
    const script = JSON.parse(await block("schedules", "json", "Look at the build")) as Script;
    const app = await startTestApp({ config: { templates, models: { main: { provider: "scripted", script } } } });
    const client = connect(app.url);
    const { id } = await client.createAgent({ templateId: "watch" });
    await setPolicyTime(app.database.sql, "statement_timestamp() + interval '1 hour'");
    const events = await client.until(id, "DONE");
    expect(ofType(events, "SchedulerTriggered")).toMatchObject([{ spec: "every 3600000 ms", missed: 0 }]);
    expect(textOf(events)).toBe("The build is green.");
  });

  it("has a listener that the configuration takes, and that reminds once for files of TypeScript", async () => {
    const { on } = valueOf(await block("schedules", "ts", "FILE_CHANGED")) as TriplaneConfig;
    const made: object[] = [];
    const actions = { remind: async (reminder: object) => void made.push(reminder) };
    const listener = on?.FILE_CHANGED as unknown as (event: object, given: typeof actions) => Promise<void>;
    await listener({ files: [{ path: "a.md" }] }, actions);
    await listener({ files: [{ path: "a.md" }, { path: "src/a.ts" }] }, actions);
    expect(made).toMatchObject([{ as: "type-checker", category: "FILE" }]);
  });

  it("has operations that do what it says", async () => {
    const app = await startTestApp();
    const client = connect(app.url);
    const { id } = await client.createAgent();
    const [create = "", pause = ""] = await blocks("schedules", "graphql");
    type Answer = Record<string, { schedule: { id: string; spec: string; pausedAt: string }; userErrors: readonly object[] }>;
    const made = await client.post<Answer>({ query: create.replace("QWdlbnQ6…", id) });
    const { schedule, userErrors } = made.data?.["createSchedule"] ?? {};
    expect([schedule?.spec, userErrors]).toEqual(["0 9 * * 1-5 (Europe/Berlin)", []]);
    const paused = await client.post<Answer>({ query: pause.replace("U2NoZWR1bGU6…", schedule?.id ?? "") });
    expect(paused.data?.["pauseSchedule"]).toEqual({ schedule: { pausedAt: expect.any(String) }, userErrors: [] });
  });
});

describe("docs/memory.md", () => {
  it("has a template and a script with which an agent reads the note of another, and operations on the same note", async () => {
    const { models, templates } = valueOf(await block("memory", "ts", "memory:")) as TriplaneConfig;
    expect(models).toEqual({ main: { provider: "scripted", script: "./memory.script.json" } });
    const script = JSON.parse(await block("memory", "json", "remember")) as Script;
    const app = await startTestApp({ config: { templates, models: { main: { provider: "scripted", script } } } });
    const client = connect(app.url);
    const [writer, reader] = [await client.createAgent(), await client.createAgent()];
    await client.turn(writer.id, "Remember that Anna drinks tea.");
    expect(textOf(await client.turn(reader.id, "Which tea does Anna drink?"))).toContain("1\tAnna drinks tea.");
    const operations = await blocks("memory", "graphql");
    for (const operation of operations) expect(validate(schema, parse(operation)), operation).toEqual([]);
    const [, write = ""] = operations;
    const { data } = await client.post<{ writeMemory: object }>({ query: write });
    expect(data?.writeMemory).toEqual({ entry: { version: 2, lineage: "PERSON" }, userErrors: [] });
  });
});

describe("docs/mcp.md", () => {
  it("has a server, a template and a script with which an agent lists a folder", async () => {
    const { templates, mcpServers = {} } = valueOf(await block("mcp", "ts", "mcpServers")) as TriplaneConfig;
    const script = JSON.parse(await block("mcp", "json", "mcp__files")) as Script;
    const { files } = mcpServers;
    const [, named, ...args] = files?.args ?? [];
    const { devDependencies } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
      devDependencies: Record<string, string>;
    };
    const name = "@modelcontextprotocol/server-filesystem";
    expect(named).toBe(`${name}@${devDependencies[name]}`);
    const installed = { files: { ...files, ...referenceServer("filesystem", ...args) } };
    const app = await startTestApp({
      config: { templates, mcpServers: installed, models: { main: { provider: "scripted", script } } },
    });
    await writeFile(join(app.workspace, "a.md"), "");
    const client = connect(app.url);
    const { id } = await client.createAgent({ templateId: "clerk" });
    expect(textOf(await client.turn(id, "What is there?"))).toContain("[FILE] a.md");
  });

  it("has a block of another product that is valid, with notes about what has no effect", async () => {
    const { mcpServers } = JSON.parse(await block("mcp", "json", "autoApprove")) as Pick<TriplaneConfig, "mcpServers">;
    const { servers, notes } = mcpServersOf("config", "/", mcpServers ?? {}, {}, {});
    expect(servers.map(({ server: { name, way } }) => [name, way.kind])).toEqual([
      ["github", "http"],
      ["memory", "stdio"],
    ]);
    expect(notes).toEqual([
      "mcpServers.memory.autoApprove has no effect here. Write allow rules in the permission of the template.",
      expect.stringContaining("npx downloads @modelcontextprotocol/server-memory at each start in any version"),
    ]);
  });
});

describe("docs/permissions.md", () => {
  it("says of its first example what explainPermission says", async () => {
    const template = valueOf(await block("permissions", "ts", "customers/**")) as Partial<TemplateConfig>;
    const app = await startTestApp({ template });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent();
    const verdict = async (tool: string, input: object) =>
      (await client.get(ExplainPermissionDocument, { agentId, tool, input })).explainPermission.explanation?.verdict;
    expect(await verdict("fs_read", { path: "src/a.ts" })).toBe("ALLOW");
    expect(await verdict("fs_read", { path: "config/.env" })).toBe("DENY");
    expect(await verdict("fs_write", { path: ".env", content: "" })).toBe("DENY");
    expect(await verdict("fs_read", { path: "a/secrets/b" })).toBe("DENY");
    expect(await verdict("fs_write", { path: "docs/a.md", content: "" })).toBe("ALLOW");
    expect(await verdict("fs_write", { path: "package-lock.json", content: "" })).toBe("DENY");
    expect(await verdict("fs_read", { path: "package-lock.json" })).toBe("ALLOW");
    expect(await verdict("fs_write", { path: "src/a.ts", content: "" })).toBe("ASK");
    expect(await verdict("fs_read", { path: "customers/a.txt" })).toBe("ALLOW");
  });

  it("says of its command lines what explainPermission says, and has a tool that runs one", async () => {
    const tool = valueOf(await block("permissions", "ts", 'name: "tidy"')) as Tool;
    const template = valueOf(await block("permissions", "ts", "...presets.readOnly"), { presets }) as Partial<TemplateConfig>;
    const app = await startTestApp({ template, config: { tools: [tool] } });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent();
    const explained = async (command: string) =>
      (await client.get(ExplainPermissionDocument, { agentId, tool: "bash_run", input: { command } })).explainPermission
        .explanation;
    const verdicts = {
      ALLOW: ["cat docs/a.md | head -5", "echo x > build/log.txt"],
      ASK: ["npm run deploy", "npm run build", "npm install", "cat $X", "grep -r x . > out.txt"],
      DENY: ["git push origin main", "ls; sudo git -C web push", "cat secrets/key.txt", "echo x > secrets/key.txt"],
    };
    for (const [verdict, lines] of Object.entries(verdicts))
      for (const line of lines) expect((await explained(line))?.verdict, line).toBe(verdict);
    const tidied = await client.get(ExplainPermissionDocument, { agentId, tool: "tidy", input: { command: "ls" } });
    expect(tidied.explainPermission.explanation?.verdict).toBe("ALLOW");
    // The template denies paths, and npm may read any file.
    expect((await explained("npm run build"))?.reason).toContain("fs_*(path:secrets) closes files to it");
  });

  it.skipIf(hasNoBox)("has command lines that run and are asked about as it says where a box holds programs", async () => {
    const permission = valueOf(await block("permissions", "ts", "...presets.readOnly"), { presets }) as Partial<TemplateConfig>;
    const app = await startTestApp({ template: { ...permission, sandbox: "required" } });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent();
    const explained = async (command: string) => {
      const { explainPermission } = await client.get(ExplainPermissionDocument, {
        agentId,
        tool: "bash_run",
        input: { command },
      });
      return `${explainPermission.explanation?.verdict} by ${explainPermission.explanation?.rule}`;
    };
    expect(await explained("npm run build")).toBe("ALLOW by allow bash_run(command:npm run build *)");
    expect(await explained("npm run test:unit && npm run build")).toContain("ALLOW");
    expect(await explained("git status")).toContain("ALLOW");
    for (const line of ["npm run deploy prod", "npm run build && npm run deploy prod", "npm run deploy"])
      expect(await explained(line), line).toContain("ASK");
    expect(await explained("git log")).toBe("ASK by ask bash_run(command:git log *)");
  });

  it("has operations that are answered as it says, and a template for each machine", async () => {
    const app = await startTestApp({
      script: {
        replies: [
          { when: { user: "go" }, call: [{ tool: "fs_read", input: { path: "config/.env" } }] },
          { when: {}, say: ["Done."] },
        ],
      },
      template: { permission: { deny: ["fs_read(path:.env)"] } },
    });
    const workspace = join(app.workspace, "project");
    await mkdir(join(workspace, "config"), { recursive: true });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent({ workspace });
    await client.turn(agentId, "go");
    const answers = await Promise.all(
      (await blocks("permissions", "graphql")).map((query) => client.post({ query, variables: { agentId } })),
    );
    expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
    expect(answers.map(({ data }) => data)).toMatchObject([
      {
        explainPermission: {
          explanation: {
            verdict: "ASK",
            parts: [
              { start: 0, end: 10 },
              { parameter: "command", start: 14, end: 25 },
            ],
          },
        },
      },
      { createAgent: { agent: { permission: { source: { deny: ["fs_write"] } } }, userErrors: [] } },
      { explainPermission: { explanation: { verdict: "DENY", rule: "deny fs_read(path:.env)" }, problems: [] } },
      { simulatePolicy: { problems: [], simulation: { examined: 1 } } },
    ]);
    const byMachine = await block("permissions", "ts", "sandboxAvailable()");
    for (const isAvailable of [true, false]) {
      const template = valueOf(byMachine, { presets, sandboxAvailable: () => isAvailable }) as Partial<TemplateConfig>;
      expect(template).toEqual({
        sandbox: isAvailable ? "required" : "none",
        permission: isAvailable ? presets.workspace : presets.askAll,
      });
    }
  });

  it("lists rules that can be read", async () => {
    const text = await readFile(new URL("../../docs/permissions.md", import.meta.url), "utf8");
    const rows = text.split("\n").filter((line) => line.startsWith("| `"));
    const rules = rows.flatMap((row) => [...(row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, rule]) => rule ?? ""));
    expect(rules.length).toBeGreaterThan(8);
    const tools = new Map(BUILTIN_TOOLS.map((tool) => [tool.name, tool]));
    for (const rule of rules)
      expect(isHostRule(rule) ? parseHostRule(rule, "docs") : parseRule(rule, "docs", tools), rule).toMatchObject({ ok: true });
  });

  it("has a rule that gives back each line which is asked about without a box", async () => {
    const text = await readFile(new URL("../../docs/permissions.md", import.meta.url), "utf8");
    const rows = [...text.matchAll(/^\| as `([^`]+)` \| `bash_run\((command:[^`]+)\)` \|/gm)];
    expect(rows.length).toBeGreaterThan(8);
    const workspace = await projectFolder();
    for (const [, line = "", rule = ""] of rows) {
      expect((await commandJudge(workspace, presets.readOnly)(line)).verdict, line).toBe("ask");
      const judge = commandJudge(workspace, { ...presets.readOnly, allow: [`shell(${rule})`] });
      expect(await judge(line), line).toMatchObject({ verdict: "allow" });
    }
  });

  it("shows the error that a wrong rule gives", async () => {
    const [shown = ""] = await blocks("permissions", "");
    const start = startTestApp({ template: { permission: { deny: ["fs_read(pth:.env)"] } } });
    const [, message = ""] = /^triplane\.config\.ts: (.*)$/m.exec(shown) ?? [];
    expect(message).not.toBe("");
    await expect(start).rejects.toThrow(message);
  });

  it("has a tool and a mode that the configuration takes", async () => {
    const tool = valueOf(await block("permissions", "ts", "word_count")) as Tool;
    const { permissionModes = {} } = valueOf(await block("permissions", "ts", "permissionModes")) as TriplaneConfig;
    const app = await startTestApp({ template: { permission: { mode: "office" } }, config: { tools: [tool], permissionModes } });
    const client = connect(app.url);
    const { id: agentId } = await client.createAgent();
    const explained = async (name: string, input: object) =>
      (await client.get(ExplainPermissionDocument, { agentId, tool: name, input })).explainPermission.explanation;
    expect(await explained("fs_read", { path: "a" })).toMatchObject({ verdict: "ALLOW" });
    const written = await explained("fs_write", { path: "a", content: "" });
    expect(["ASK", "DENY"]).toContain(written?.verdict);
    expect(JSON.stringify(written)).toContain("office");
  });
});

describe("docs/hooks.md", () => {
  it("has hooks round tool calls and model calls that the configuration takes, and that do what it says", async () => {
    const told: unknown[] = [];
    const stubs = {
      isFrozen: () => true,
      traced: (name: string, next: () => unknown) => (told.push(name), next()),
      redact: (text: string) => text.replace("secret", "…"),
      reminder: { role: "user", content: [{ type: "text", text: "Be brief." }] },
      meter: { count: (_agentId: string, model: string) => void told.push(model) },
      archive: { store: (tenant: string) => void told.push(tenant) },
    };
    const hooks = (await blocks("hooks", "ts")).map((code) => valueOf(code, stubs) as Pick<TemplateConfig, "hooks">);
    const model = playedModel(
      () => callsWith(["fs_write", { path: "a.txt", content: "" }], ["fs_glob", { pattern: "*" }]),
      () => says("Done."),
    );
    const app = await startTestApp({ model, template: { hooks: Object.assign({}, ...hooks.map((one) => one.hooks)) as object } });
    await writeFile(join(app.workspace, "secret.txt"), "");
    const client = connect(app.url);
    const agent = await client.createAgent({ workspace: app.workspace });
    await client.turn(agent.id, "go");
    const [written, found] = (await client.agent(agent.id)).toolCalls.nodes;
    expect(written).toMatchObject({ state: "DENIED" });
    expect(written?.output).toContain("the release is frozen");
    expect(found?.output).toContain("….txt");
    expect(model.calls.map(({ request }) => JSON.stringify(request.messages).includes("Be brief."))).toEqual([true, false]);
    await expect.poll(() => told).toEqual(expect.arrayContaining(["fs_glob", model.name, "local"]));
  });
});

describe("docs/approvals.md", () => {
  it("has a template, a listener and a webhook that the configuration takes", async () => {
    const { templates } = valueOf(await block("approvals", "ts", "approvalQuorum")) as Pick<TriplaneConfig, "templates">;
    const { model: _model, ...template } = templates["assistant"] ?? { model: "", systemPrompt: "" };
    const { on = {} } = valueOf(await block("approvals", "ts", "PERMISSION_REQUIRED: async")) as TriplaneConfig;
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const { webhooks = {} } = valueOf(await block("approvals", "ts", "INBOX_WEBHOOK_SECRET"), {
      process: { env: { INBOX_WEBHOOK_SECRET: secret } },
    }) as Pick<TriplaneConfig, "webhooks">;
    const app = await startTestApp({
      template,
      config: { on, webhooks: { inbox: { ...webhooks["inbox"], url: "https://hooks.invalid/triplane", secret } } },
    });
    expect(app.port).toBeGreaterThan(0);
  });

  it("has a listener that does what it says", async () => {
    const { on = {} } = valueOf(await block("approvals", "ts", "PERMISSION_REQUIRED: async")) as TriplaneConfig;
    const app = await startTestApp({
      config: { on },
      script: {
        replies: [
          { when: { user: "go" }, call: [{ tool: "fs_write", input: { path: "docs/a.md", content: "" } }] },
          { when: {}, say: ["Done."] },
        ],
      },
    });
    const client = connect(app.url);
    const agent = await client.createAgent();
    await client.turn(agent.id, "go");
    expect((await client.agent(agent.id)).toolCalls.nodes).toMatchObject([{ state: "COMPLETED" }]);
  });
});

describe("docs/budgets.md", () => {
  it("has operations that the schema knows", async () => {
    const operations = await blocks("budgets", "graphql");
    expect(operations.length).toBeGreaterThan(3);
    for (const operation of operations) expect(validate(schema, parse(operation)), operation).toEqual([]);
  });

  it("has a configuration whose budgets hold, and operations by which people look at them and set them", async () => {
    const config = valueOf(await block("budgets", "ts", 'per: "TENANT"')) as TriplaneConfig;
    const { budgets = [] } = config.templates["assistant"] ?? {};
    const app = await startTestApp({
      model: playedModel(() => says("Yes.")),
      template: { budgets },
      config: { budgets: config.budgets ?? [], actors: [tokenActor("ada", ["admin", "user"]).actor] },
    });
    const client = connect(app.url, "ada-token");
    const { id: agentId } = await client.createAgent();
    await client.turn(agentId, "go");
    const set = await block("budgets", "graphql", "setBudget");
    const answer = await client.post<{ setBudget: { userErrors: object[] } }>({ query: set });
    expect(answer).toMatchObject({ errors: [], data: { setBudget: { userErrors: [], budget: { standing: { spentUsd: 0 } } } } });
    const query = await block("budgets", "graphql", "query Spending");
    const { data, errors } = await client.post<{ budgets: object[]; agent: { budgets: object[] } }>({
      query,
      variables: { agentId },
    });
    expect(errors).toEqual([]);
    expect(data?.budgets).toHaveLength(3);
    expect(data?.agent.budgets).toHaveLength(3);
    const inbox = await block("budgets", "graphql", "approvals(");
    expect((await client.post({ query: inbox })).errors).toEqual([]);
  });
});
