import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TriplaneConfig } from "../../src/triplane.ts";
import { CreateAgentDocument, PollTimelineDocument } from "../generated/documents.ts";
import { NEIGHBOURS } from "../support/actors.ts";
import { startTestApp, temporaryFolder } from "../support/app.ts";
import { embeddedFolder } from "../support/embedded.ts";
import { connect, ofType, textOf, type TestClient } from "../support/client.ts";
import { calls, playedModel, says } from "../support/models.ts";
import { ownTool } from "../support/tools.ts";

const scripted = (text: string) => ({ provider: "scripted", script: { replies: [{ when: {}, say: [text] }] } }) as const;

const templateNode = (tenant: string): string => Buffer.from(`Template:${tenant}_helper`).toString("base64");

/** The tenants acme and other, each with a folder, a template, a model and a tool of its own. */
async function tenantsIn(folder: string): Promise<Partial<TriplaneConfig>> {
  const tenant = async (name: string) => {
    await mkdir(join(folder, name));
    return {
      workspaceRoots: [join(folder, name)],
      templates: { [`${name}_helper`]: { model: `${name}_model`, systemPrompt: "x", selfApproval: true } },
      models: { [`${name}_model`]: scripted(`Hello from ${name}.`) },
      tools: [ownTool(`${name}_tool`, async () => ({ output: name, details: null }))],
    };
  };
  return { ...NEIGHBOURS, tenants: { acme: await tenant("acme"), other: await tenant("other") } };
}

const create = async (client: TestClient, input: { templateId: string; workspace?: string; model?: string }) =>
  (await client.get(CreateAgentDocument, { input })).createAgent;

it("each tenant sees, and makes agents of, what is everybody's and its own, and nothing of another (invariant 12)", async () => {
  const app = await startTestApp({ config: await tenantsIn(await temporaryFolder()) });
  const lists = "{ templates { id templateId } models { name } tools { name } }";
  type Lists = Record<"templates" | "models" | "tools", Record<string, string>[]>;
  for (const [who, own, foreign] of [
    ["anna", "acme", "other"],
    ["zoe", "other", "acme"],
  ] as const) {
    const client = connect(app.url, `${who}-token`);
    const seen = JSON.stringify((await client.post<Lists>({ query: lists })).data);
    for (const part of [`${own}_helper`, `${own}_model`, `${own}_tool`, "assistant", "fs_read"]) expect(seen).toContain(part);
    expect(seen).not.toContain(foreign);
    const unknown = await create(client, { templateId: `${foreign}_helper` });
    expect(unknown).toMatchObject({ agent: null, userErrors: [{ code: "NOT_FOUND", field: ["templateId"] }] });
    expect(unknown.userErrors[0]?.message.replace(`${foreign}_helper`, "")).not.toContain(foreign);
    expect(await create(client, { templateId: "assistant", model: `${foreign}_model` })).toMatchObject({
      agent: null,
      userErrors: [{ code: "NOT_FOUND", field: ["model"] }],
    });
    const nodes = `{ ours: node(id: "${templateNode(own)}") { id } theirs: node(id: "${templateNode(foreign)}") { id } }`;
    expect((await client.post({ query: nodes })).data).toMatchObject({ ours: { id: expect.any(String) }, theirs: null });
    const { agent } = await create(client, { templateId: `${own}_helper` });
    expect(textOf(await client.turn(agent?.id ?? "", "hi"))).toBe(`Hello from ${own}.`);
  }
});

it("no tenant opens an agent in a folder of another (invariant 12)", async () => {
  const folder = await temporaryFolder();
  const app = await startTestApp({ config: await tenantsIn(folder) });
  const anna = connect(app.url, "anna-token");
  const zoe = connect(app.url, "zoe-token");
  expect(await create(anna, { templateId: "assistant", workspace: join(folder, "acme") })).toMatchObject({ userErrors: [] });
  const [own, foreign] = [await create(zoe, { templateId: "assistant" }), join(folder, "acme")];
  for (const workspace of [foreign, join(folder, "other", "..", "acme"), folder, app.workspace]) {
    const refused = await create(zoe, { templateId: "assistant", workspace });
    expect(refused).toMatchObject({ agent: null, userErrors: [{ code: "INVALID", field: ["workspace"] }] });
    expect(refused.userErrors[0]?.message).toContain(join(folder, "other"));
  }
  // Nor in the folder that an agent of another tenant was given.
  const workspace = own.agent?.workspace ?? "";
  expect(await create(anna, { templateId: "assistant", workspace })).toMatchObject({ userErrors: [{ code: "INVALID" }] });
});

it.for(["embedded", "postgres"] as const)(
  "an agent whose folder is no longer its tenant's does nothing, and says so: %s",
  async (kind) => {
    const folder = await temporaryFolder();
    const config = await tenantsIn(folder);
    const database = kind === "embedded" ? { database: { kind, folder: await embeddedFolder() } as const } : {};
    const first = await startTestApp({ config, ...database });
    const { agent } = await create(connect(first.url, "anna-token"), {
      templateId: "assistant",
      workspace: join(folder, "acme"),
    });
    const id = agent?.id ?? "";
    await first.close();
    const tenants = { ...config.tenants, acme: { workspaceRoots: [await temporaryFolder()] } };
    const second = await startTestApp({ database: first.database.config, config: { ...config, tenants } });
    const anna = connect(second.url, "anna-token");
    if (kind === "embedded") {
      const events = await anna.turn(id, "hi");
      expect(ofType(events, "ErrorRaised")).toMatchObject([{ message: expect.stringContaining("a workspace root around") }]);
      return;
    }
    // Another server may have it in its configuration.
    await anna.send(id, "hi");
    const waitingFor = async (): Promise<string | undefined> =>
      (await anna.post<{ agent: { waitingFor: string } }>({ query: `{ agent(id: "${id}") { waitingFor } }` })).data?.agent
        .waitingFor;
    await expect.poll(waitingFor).toContain("a server that has a workspace root, or a data folder, around");
  },
);

it("a tenant's tools run within its own limits, beside others that go on (invariant 13)", async () => {
  const release = Promise.withResolvers<void>();
  const holds = ownTool("holds", async () => ({ output: String(await release.promise), details: null }));
  const model = playedModel(
    () => calls("holds"),
    () => calls("holds"),
    () => calls("quick"),
    () => says("Done."),
    () => says("Done."),
    () => says("Done."),
  );
  const quick = ownTool("quick", async () => ({ output: "quick", details: null }));
  const app = await startTestApp({
    model,
    template: { permission: { mode: "auto" } },
    config: {
      ...NEIGHBOURS,
      tools: [holds, quick],
      toolLimits: { running: 2 },
      tenants: { acme: { toolLimits: { running: 1, waiting: 1, waitMs: 60_000 } } },
    },
  });
  const [anna, zoe] = [connect(app.url, "anna-token"), connect(app.url, "zoe-token")];
  const agents = [await anna.createAgent(), await anna.createAgent()];
  await anna.send(agents[0]?.id ?? "", "go");
  await anna.until(agents[0]?.id ?? "", "TOOL_START");
  await anna.send(agents[1]?.id ?? "", "go");
  const places = app.services.of("acme").slots;
  await expect.poll(() => places.load).toEqual({ running: 1, waiting: 1 });
  expect(app.services.slots.load).toEqual({ running: 1, waiting: 1 });
  const neighbour = await zoe.createAgent();
  expect(ofType(await zoe.turn(neighbour.id, "go"), "ToolEnd")).toMatchObject([{ toolCall: { state: "COMPLETED" } }]);
  release.resolve();
  for (const agent of agents) await anna.until(agent.id, "DONE");
  await expect.poll(() => [places.load.running, app.services.slots.load.running]).toEqual([0, 0]);
});

it("a change of one tenant's part of the configuration is said in that tenant's log alone (invariant 15)", async () => {
  const config = await tenantsIn(await temporaryFolder());
  const first = await startTestApp({ config });
  for (const who of ["anna", "zoe"]) await connect(first.url, `${who}-token`).createAgent();
  await first.close();
  const { acme, other } = config.tenants ?? {};
  const templates = { other_helper: { model: "other_model", systemPrompt: "y" } };
  const changed = { ...config, tenants: { acme: acme ?? {}, other: { ...other, templates, tools: [] } } };
  const second = await startTestApp({ database: first.database.config, config: changed });
  const said = async (who: string) =>
    (await connect(second.url, `${who}-token`).get(PollTimelineDocument, { kinds: ["CONFIGURATION_CHANGED"] })).timeline.events;
  expect(await said("vera")).toEqual([]);
  expect(await said("zoe")).toMatchObject([
    {
      changes: [
        { part: "templates.other_helper", change: "CHANGED" },
        { part: "tools.other_tool", change: "REMOVED" },
      ],
    },
  ]);
});
