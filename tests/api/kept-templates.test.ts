import { describe, expect, it } from "vitest";
import { ExplainPermissionDocument, ForkAgentDocument, SimulatePolicyDocument } from "../generated/documents.ts";
import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import type { TemplateConfig } from "../../src/triplane.ts";
import { connect, ofType, type PageEvent, type TestClient } from "../support/client.ts";
import { callsWith, says } from "../support/models.ts";
import { ACTORS, PEOPLE } from "../support/office.ts";
import { ownTool } from "../support/tools.ts";
import { place, versionOf } from "../support/template-versions.ts";

const KEEP = { onTemplateChange: "keep" } as const;
const WRITE = ["fs_write", { path: "a.txt", content: "text" }] as const;

/** Answers "write" with a call of fs_write, "task" with one of task_run, and everything else with a text. */
function player({ messages }: ModelRequest): AsyncIterable<ModelEvent> {
  const said = JSON.stringify(messages.at(-1));
  if (said.includes("tool_result")) return says("Done.");
  if (said.includes("write")) return callsWith(WRITE);
  if (!said.includes("task")) return says("Done.");
  return callsWith(["task_run", { description: "do it", prompt: "write", agentTemplateId: "worker" }]);
}

type Servers = Awaited<ReturnType<typeof place>>;

/** An agent whose first turn began with a template, and a server with the next one. */
async function restarted(
  { start }: Pick<Servers, "start">,
  before: Partial<TemplateConfig>,
  now: Partial<TemplateConfig>,
  options: Parameters<Servers["start"]>[1] = {},
) {
  const first = await start({ ...KEEP, ...before }, options);
  const { id } = await first.client.createAgent();
  await first.client.turn(id, "go");
  await first.app.close();
  return { id, ...(await start({ ...KEEP, ...now }, options)) };
}

async function verdictOf(client: TestClient, agentId: string, [tool, input]: readonly [string, object] = WRITE) {
  const { explainPermission } = await client.get(ExplainPermissionDocument, { agentId, tool, input });
  return [explainPermission.explanation?.verdict, explainPermission.explanation?.place];
}

const states = (events: readonly PageEvent[]) => ofType(events, "ToolEnd").map(({ call }) => call.state);
const changes = async (client: TestClient, id: string) => ofType(await client.events(id), "TemplateChanged").length;

describe("an agent whose template has onTemplateChange: keep", () => {
  it("keeps the version of its latest turn, beside agents with others; a fork keeps that of its original", async () => {
    const { start, systems } = await place();
    const { id, app, client } = await restarted(
      { start },
      { version: "one", systemPrompt: "First." },
      { systemPrompt: "Second." },
    );
    const later = await client.createAgent();
    await client.turn(later.id, "go");
    await app.close();
    const third = await start({ ...KEEP, systemPrompt: "Third." });
    const { forkAgent } = await third.client.get(ForkAgentDocument, { input: { agentId: id } });
    const fork = forkAgent.agent?.id ?? "";
    for (const each of [id, later.id, fork, (await third.client.createAgent()).id]) await third.client.turn(each, "go on");
    expect(systems()).toEqual(["First.", "Second.", "First.", "Second.", "First.", "Third."]);
    expect(await versionOf(third.client, id)).toMatchObject({ version: "one" });
    expect([await changes(third.client, id), await changes(third.client, fork)]).toEqual([0, 0]);
  });

  it("keeps a version that was taken while changes were taken, and takes the present one once they are again", async () => {
    const { start, systems } = await place();
    const { id, app, client } = await restarted(
      { start },
      { onTemplateChange: "take", systemPrompt: "First." },
      { systemPrompt: "Second." },
    );
    await client.turn(id, "go on");
    await app.close();
    const third = await start({ systemPrompt: "Third." });
    await third.client.turn(id, "and on");
    expect(systems()).toEqual(["First.", "First.", "Third."]);
    expect(await changes(third.client, id)).toBe(1);
  });

  it("has the same version on servers with other configurations, and after the death of its owner", async () => {
    const ended: Promise<never> = new Promise(() => {});
    async function* hangs(): AsyncGenerator<never> {
      yield await ended;
    }
    let calls = 0;
    const { start, systems } = await place(() => ((calls += 1) === 2 ? hangs() : says("Done.")));
    const overrides = { leaseTimes: { ttlMs: 1_500, renewMs: 100, startMs: 1_000 } };
    const { id, app, client } = await restarted(
      { start },
      { systemPrompt: "First." },
      { systemPrompt: "Second." },
      { overrides },
    );
    await client.send(id, "go on");
    await expect.poll(() => calls).toBe(2);
    const other = await start({ ...KEEP, systemPrompt: "Other." }, { overrides });
    const died =
      "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s'";
    const { cursor } = await client.agent(id);
    await app.database.sql.query({ name: "steal", text: died }, []);
    await other.client.until(id, "DONE", cursor);
    expect(systems()).toEqual(["First.", "First.", "First."]);
  });

  it("has the present hooks and names, and the kept limits", async () => {
    const { start } = await place(player);
    const seen: string[] = [];
    const { id, client } = await restarted(
      { start },
      { maxSteps: 1, permission: { mode: "auto" } },
      { name: "Now", hooks: { preToolUse: ({ name }) => void seen.push(name) }, permission: { mode: "auto" } },
    );
    const events = await client.turn(id, "write");
    expect(ofType(events, "Done")).toMatchObject([{ reason: "MAX_STEPS" }]);
    expect(seen).toEqual(["fs_write"]);
  });

  it("takes the present version if no data of its own is stored", async () => {
    const { start, systems } = await place();
    const { id, app, client } = await restarted({ start }, { systemPrompt: "First." }, { systemPrompt: "Second." });
    await app.database.sql.query({ name: "lose", text: "DELETE FROM template_version" }, []);
    await client.turn(id, "go on");
    expect(systems()).toEqual(["First.", "Second."]);
    expect(await changes(client, id)).toBe(1);
  });

  it.each<[string, Partial<TemplateConfig>, object, RegExp]>([
    ["an unknown mode", { permission: { mode: "office" } }, { permissionModes: { office: () => "ask" } }, /permission\.mode/],
    ["data of another form", {}, {}, /maxSteps/],
  ])(
    "ends its turn with an error if its version has %s, and works again once it is configured",
    async (name, before, more, told) => {
      const { start, systems, tool } = await withBook();
      const isForm = name === "data of another form";
      const config = { ...more, ...(isForm ? {} : { tools: [tool] }) };
      const first = await start({ ...KEEP, systemPrompt: "First.", ...before }, { config });
      const { id } = await first.client.createAgent();
      await first.client.turn(id, "go");
      if (isForm)
        await first.app.database.sql.query({ name: "spoil", text: `UPDATE template_version SET data = '{"maxSteps":"x"}'` }, []);
      await first.app.close();
      const second = await start({ ...KEEP, systemPrompt: "Second." });
      const events = await second.client.turn(id, "go on");
      expect(ofType(events, "Done")).toMatchObject([{ reason: "ERROR" }]);
      expect(ofType(events, "ErrorRaised")[0]?.message).toMatch(told);
      expect(systems()).toEqual(["First."]);
      await second.app.close();
      if (isForm) return;
      const third = await start({ ...KEEP, systemPrompt: "Third." }, { config });
      await third.client.turn(id, "and on");
      expect(systems()).toEqual(["First.", "First."]);
    },
  );

  it.each<[string, NonNullable<TemplateConfig["permission"]>]>([
    ["allows", { allow: ["book"] }],
    ["denies", { deny: ["book"] }],
    ["asks about", { ask: ["book"] }],
  ])("works without a tool that its version %s and this server does not have", async (_name, permission) => {
    const { start, systems, tool } = await withBook();
    const first = await start({ ...KEEP, tools: ["book", "fs_read"], permission }, { tools: [tool] });
    const { id } = await first.client.createAgent();
    await first.client.turn(id, "go");
    await first.app.close();
    const { client } = await start({ ...KEEP, systemPrompt: "Second." });
    await client.turn(id, "go on");
    expect(systems()).toEqual(["You are tested.", "You are tested."]);
  });
});

async function withBook() {
  return { ...(await place()), tool: ownTool("book", () => ({ output: "", details: null }), false) };
}

describe("a template of one tenant", () => {
  it("has versions of its own there, and says that its agents keep them", async () => {
    const { start, systems } = await place();
    const bookkeeper = (systemPrompt: string): TemplateConfig => ({ systemPrompt, model: "test", ...KEEP });
    const at = async (systemPrompt: string) => {
      const tenants = { acme: { templates: { bookkeeper: bookkeeper(systemPrompt) } } };
      const { app } = await start({ systemPrompt: "First." }, { config: { ...ACTORS, tenants } });
      return { app, client: connect(app.url, PEOPLE.ada.token) };
    };
    const first = await at("First.");
    const { id } = await first.client.createAgent({ templateId: "bookkeeper" });
    await first.client.turn(id, "go");
    await first.app.close();
    const { client } = await at("Second.");
    await client.turn(id, "go on");
    expect(systems()).toEqual(["First.", "First."]);
    const query = "{ templates { templateId onTemplateChange } }";
    const { data } = await client.post<{ templates: unknown }>({ query });
    expect(data?.templates).toEqual([
      { templateId: "assistant", onTemplateChange: "TAKE" },
      { templateId: "bookkeeper", onTemplateChange: "KEEP" },
    ]);
  });
});

describe("the permission of a kept version", () => {
  it("keeps what it allows, and is bound by what the present one denies and asks about", async () => {
    const servers = await place(player);
    const before = { permission: { allow: ["fs_write"] } };
    const { id, app, client } = await restarted(servers, before, {});
    expect(await verdictOf(client, id)).toEqual([
      "ALLOW",
      expect.stringMatching(/^templates\.assistant@[0-9a-f]{12}\.permission\.allow\.0$/),
    ]);
    expect(states(await client.turn(id, "write"))).toEqual(["COMPLETED"]);
    const { id: fresh } = await client.createAgent();
    expect(await verdictOf(client, fresh)).toEqual(["ASK", "templates.assistant.permission.mode"]);
    await app.close();

    const third = await servers.start({ ...KEEP, permission: { deny: ["fs_write"] } });
    expect(await verdictOf(third.client, id)).toEqual(["DENY", "templates.assistant.permission.deny.0"]);
    expect(states(await third.client.turn(id, "write"))).toEqual(["DENIED"]);
    await third.app.close();

    const fourth = await servers.start({ ...KEEP, permission: { ask: ["fs_write"] } });
    const { cursor } = await fourth.client.agent(id);
    await fourth.client.send(id, "write");
    const [asked] = ofType(await fourth.client.until(id, "PERMISSION_REQUIRED", cursor), "PermissionRequired");
    const { approvalId, inputHash } = asked?.request ?? { approvalId: "", inputHash: "" };
    await fourth.client.decide({ approvalId, decision: "ALLOW", inputHash });
    expect(states(await fourth.client.until(id, "DONE", cursor))).toEqual(["COMPLETED"]);
  });

  it("gains nothing that the present one allows, also in a simulation", async () => {
    const servers = await place(player);
    const { id, client } = await restarted(servers, {}, { permission: { mode: "auto" } });
    expect((await verdictOf(client, id))[0]).toBe("ASK");
    const { cursor } = await client.agent(id);
    await client.send(id, "write");
    await client.until(id, "PERMISSION_REQUIRED", cursor);
    const simulated = async (permission: object) =>
      (await client.get(SimulatePolicyDocument, { permission })).simulatePolicy.simulation?.changes.map(({ after }) => after);
    expect(await simulated({ mode: "auto" })).toEqual([]);
    expect(await simulated({ deny: ["fs_write"] })).toEqual(["DENY"]);
  });

  it.each([
    [true, false],
    [false, true],
  ])("needs another person if either version does (selfApproval %s, then %s)", async (before, now) => {
    const servers = await place(player);
    const permission = { mode: "approval" };
    const { id, client } = await restarted(
      servers,
      { permission, selfApproval: before },
      { permission, selfApproval: now, maxSteps: 9 },
    );
    const { cursor } = await client.agent(id);
    await client.send(id, "write");
    const [asked] = ofType(await client.until(id, "PERMISSION_REQUIRED", cursor), "PermissionRequired");
    const { approvalId, inputHash } = asked?.request ?? { approvalId: "", inputHash: "" };
    const decided = await client.decide({ approvalId, decision: "ALLOW", inputHash });
    expect(decided.userErrors.map(({ code }) => code)).toEqual(["SELF_APPROVAL"]);
  });

  it("tightens the agents below by the overrides of both versions", async () => {
    const servers = await place(player);
    const worker = { systemPrompt: "worker", model: "test", permission: { mode: "auto" } };
    const lead = (permission: object) => ({
      subagents: { templates: ["worker"], overrides: { permission } },
      permission: { mode: "auto" },
    });
    const now = lead({ deny: ["fs_write"] });
    const { id, client } = await restarted(servers, lead({ ask: ["fs_read"] }), now, { others: { worker } });
    const [spawned] = ofType(await client.turn(id, "task"), "AgentSpawned");
    const child = spawned?.childId ?? "";
    expect(states(await client.events(child))).toEqual(["DENIED"]);
    expect((await verdictOf(client, child, ["fs_read", { path: "a.txt" }]))[0]).toBe("ASK");
  });

  it("binds the agents below, which have the present version of their own template", async () => {
    const servers = await place(player);
    const worker = { systemPrompt: "worker", model: "test", permission: { mode: "auto" } };
    const lead = { subagents: { templates: ["worker"] }, permission: { mode: "auto", allow: ["task_run"] } };
    const before = { ...lead, permission: { mode: "auto", deny: ["fs_write(path:**)"] } };
    const { id, client } = await restarted(servers, before, lead, { others: { worker } });
    const events = await client.turn(id, "task");
    const [spawned] = ofType(events, "AgentSpawned");
    const ended = await client.events(spawned?.childId ?? "");
    expect(states(ended)).toEqual(["DENIED"]);
    expect((await verdictOf(client, spawned?.childId ?? ""))[1]).toMatch(
      /^templates\.assistant@[0-9a-f]{12}\.permission\.deny\.0 of the ancestor /,
    );
  });
});
