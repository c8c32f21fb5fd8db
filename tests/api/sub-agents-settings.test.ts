import { describe, expect, it } from "vitest";
import { CreateAgentDocument, ExplainPermissionDocument } from "../generated/documents.ts";
import type { Template } from "../../src/agent/loop/scope.ts";
import { agentPolicy } from "../../src/agent/policy/agent-policy.ts";
import type { HeldTemplate } from "../../src/agent/policy/held-template.ts";
import { templateOf } from "../../src/agent/conversation/agent-template.ts";
import { rowId } from "../../src/lib/global-id.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { startTestApp } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { first, lead, task, team, teamModel, treeOf, worker } from "../support/team.ts";
import { testTemplate } from "../support/template.ts";
import { ownTool } from "../support/tools.ts";

const WRITE = ["fs_write", { path: "a.txt", content: "a" }] as const;

const childOf = async (client: TestClient, id: string): Promise<string> => (await treeOf(client, id)).children[0]?.id ?? "";

describe("hooks of an agent above", () => {
  const secret = ownTool("secret", () => ({ output: "SECRET44", details: null }));

  it("run before a child's calls, too, and tighten them", async () => {
    const seen: string[] = [];
    const hooks: TemplateConfig["hooks"] = {
      preToolUse: [
        ({ name, agentId }) => {
          seen.push(`${name} ${agentId}`);
          return name === "fs_write" ? { decision: "deny", reason: "the lead forbids it" } : undefined;
        },
      ],
    };
    const { client, agent } = await team(
      { lead: [first(task())], worker: [first(WRITE)] },
      { assistant: { ...lead, hooks }, worker },
    );
    await client.until(agent.id, "DONE");
    const events = await client.events(await childOf(client, agent.id));
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "DENIED" } }]);
    expect(ofType(events, "ToolError").map(({ error }) => error)).toMatchObject([expect.stringContaining("the lead forbids it")]);
    expect(seen.map((each) => each.split(" ")[0])).toEqual(["task_run", "fs_write"]);
  });

  it("that withhold redact the results of a child's calls; its other hooks are not asked", async () => {
    let others = 0;
    const hooks: TemplateConfig["hooks"] = {
      postToolUse: [
        {
          run: ({ name }) => (name === "secret" ? { replace: { output: "redacted", details: null } } : undefined),
          ifItFails: "withhold",
        },
        ({ name }) => void (others += Number(name === "secret")),
      ],
    };
    const { client, agent, model } = await team(
      { lead: [first(task())], worker: [first(["secret", {}])] },
      { assistant: { ...lead, hooks }, worker },
      [secret],
    );
    await client.until(agent.id, "DONE");
    const events = await client.events(await childOf(client, agent.id));
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED", output: "redacted" } }]);
    expect(JSON.stringify([events, model.calls.map(({ request }) => request.messages)])).not.toContain("SECRET44");
    expect(others).toBe(0);
  });
});

describe("the limits of an agent above", () => {
  it("are named by an explanation", async () => {
    const permission = { mode: "auto" as const, deny: ["fs_write(path:/private/**)"] };
    const { client, agent } = await team(
      { lead: [first(task())], worker: [first(WRITE)] },
      { assistant: { ...lead, permission }, worker },
    );
    await client.until(agent.id, "DONE");
    const child = await childOf(client, agent.id);
    const explained = async (agentId: string, path: string) =>
      (await client.get(ExplainPermissionDocument, { agentId, tool: "fs_write", input: { path, content: "" } })).explainPermission
        ?.explanation;
    const row = Buffer.from(agent.id, "base64").toString().split(":")[1] ?? "";
    expect(await explained(child, "private/a.txt")).toMatchObject({
      verdict: "DENY",
      place: `templates.assistant.permission.deny.0 of the ancestor ${row}`,
      reason: `denied by the permission of assistant (ancestor, agent ${row}): the rule fs_write(path:/private/**) forbids it`,
    });
    expect(await explained(child, "b.txt")).toMatchObject({ verdict: "ALLOW" });
  });

  it("hold for a fork of the child, which has no parent", async () => {
    const permission = { mode: "readonly" as const };
    const { client, agent } = await team(
      { lead: [first(task())], worker: [first(WRITE)] },
      { assistant: { ...lead, permission }, worker },
    );
    await client.until(agent.id, "DONE");
    const child = await childOf(client, agent.id);
    const { data } = await client.post<{ forkAgent: { agent: { id: string; parent: null } } }>({
      query: `mutation { forkAgent(input: { agentId: "${child}" }) { agent { id parent { id } } } }`,
    });
    const fork = data?.forkAgent.agent;
    expect(fork?.parent).toBeNull();
    const events = await client.turn(fork?.id ?? "", "again");
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "DENIED" } }]);
  });

  it("are a box for all below a boxed agent, with its settings", async () => {
    const box = { protectedPaths: ["deploy"] };
    const boxed = { ...testTemplate(), id: "boxed", box, sandbox: "required" as const };
    const plain = { ...testTemplate(), id: "worker" };
    const named = (id: string) => (id === "boxed" ? boxed : plain);
    const above = (templateId: string) => ({ agentId: "a", templateId, permission: null });
    const agent = (...ancestors: string[]) => ({
      tenant: "local",
      templateId: "worker",
      templateVersion: null,
      hooks: [],
      permission: { scope: "TIGHTEN", source: {}, ancestors: ancestors.map(above) } as const,
    });
    const heldTemplate: HeldTemplate<Template> = async ({ permission }) => ({
      ...plain,
      above: (permission?.ancestors ?? []).map(({ templateId }) => named(templateId)),
    });
    const configuration = { heldTemplate, agentHooks: new Map() };
    expect(await templateOf(configuration, agent("boxed", "worker"))).toMatchObject({ box, sandbox: "required" });
    expect(await templateOf(configuration, agent("worker"))).toMatchObject({ box: null });
    const vocabulary = { tools: new Map(), modes: new Map() };
    const below = { ...plain, above: [boxed, plain] };
    expect(agentPolicy(below, agent("boxed", "worker").permission, [], vocabulary).box).toEqual(box);
  });
});

describe("the settings of subagents", () => {
  const players = { lead: [first(task())], worker: [first(WRITE)] };

  it("`overrides.permission` tightens the permission of children alone", async () => {
    const subagents = { templates: ["worker"], overrides: { permission: { deny: ["fs_write"] } } };
    const { client, agent } = await team(players, { assistant: { ...lead, subagents }, worker });
    await client.until(agent.id, "DONE");
    const events = await client.events(await childOf(client, agent.id));
    expect(ofType(events, "ToolEnd")).toMatchObject([{ call: { state: "DENIED" } }]);
    const child = await childOf(client, agent.id);
    const input = { path: "a.txt", content: "" };
    const { explainPermission } = await client.get(ExplainPermissionDocument, { agentId: child, tool: "fs_write", input });
    expect(explainPermission?.explanation).toMatchObject({
      place: "templates.assistant.subagents.overrides.permission.deny.0",
      reason: `denied by the permission of assistant (ancestor, agent ${rowId("Agent", agent.id)}): the rule fs_write forbids it`,
    });
    const other = await client.createAgent({ templateId: "worker" });
    expect(ofType(await client.turn(other.id, "go"), "ToolEnd")).toMatchObject([{ call: { state: "COMPLETED" } }]);
  });

  it.each([
    [true, "other", 7_000],
    [false, "test", null],
  ])("`inheritConfig: %s` gives a child the model %s and the tool timeout %s", async (inheritConfig, model, toolTimeoutMs) => {
    const played = teamModel(players);
    const subagents = { templates: ["worker"], inheritConfig };
    const templates = { assistant: { ...lead, subagents }, worker } as Record<string, TemplateConfig>;
    const unplayed = { provider: "scripted", script: { replies: [{ when: {}, say: ["Unplayed."] }] } } as const;
    const app = await startTestApp({
      config: { templates, models: { test: unplayed, other: unplayed } },
      overrides: {
        models: new Map([
          ["test", played],
          ["other", played],
        ]),
      },
    });
    const client = connect(app.url);
    const input = { templateId: "assistant", model: "other", toolTimeoutMs: 7_000 };
    const { createAgent } = await client.get(CreateAgentDocument, { input });
    const id = createAgent.agent?.id ?? "";
    await client.turn(id, "go");
    const text = "SELECT model, tool_timeout_ms FROM agent WHERE depth = 1";
    expect(await app.database.sql.query({ name: "", text }, [])).toEqual([{ model, tool_timeout_ms: toolTimeoutMs }]);
  });
});
