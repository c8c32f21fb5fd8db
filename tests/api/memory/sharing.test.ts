import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TemplateConfig } from "../../../src/triplane.ts";
import { MEMORY } from "../../../src/db/commit/memory-change.ts";
import { ForkAgentDocument } from "../../generated/documents.ts";
import { NEIGHBOURS, tokenActor } from "../../support/actors.ts";
import { startTestApp, temporaryFolder, type TestAppOptions } from "../../support/app.ts";
import { connect } from "../../support/client.ts";
import { testDatabaseUrl } from "../../support/database.ts";
import { create, makeCalls, memory, obedientModel } from "../../support/memory-app.ts";

const TEMPLATE: Partial<TemplateConfig> = { permission: { mode: "auto" }, memory: {} };
const view = (path = "/memories") => memory("view", { path });

async function appWith(template: Partial<TemplateConfig> = {}, options: TestAppOptions = {}) {
  const model = obedientModel();
  const app = await startTestApp({ model, ...options, template: { ...TEMPLATE, ...template } });
  return { app, model, client: connect(app.url) };
}

describe("a memory", () => {
  it("is shared by the agents of one requester of one template, and by nobody else's (invariant 12)", async () => {
    const admin = tokenActor("ada", ["admin"]).actor;
    const other = { systemPrompt: "Other.", model: "test", ...TEMPLATE };
    const assistant = { systemPrompt: "You are tested.", model: "test", ...TEMPLATE };
    const { app } = await appWith(
      {},
      { config: { actors: [...(NEIGHBOURS.actors ?? []), admin], templates: { assistant, other } } },
    );
    const seen = async (who: string, templateId = "assistant") => {
      const client = connect(app.url, `${who}-token`);
      const { id } = await client.createAgent({ templateId });
      const [call] = await makeCalls(client, id, view());
      return call?.output?.split("\n").slice(2);
    };
    const anna = connect(app.url, "anna-token");
    const { id } = await anna.createAgent();
    await makeCalls(anna, id, create("/memories/of-anna.md"));
    expect(await seen("anna")).toEqual(["4B\t/memories/of-anna.md"]);
    expect(await seen("anna", "other")).toEqual([]);
    for (const who of ["ben", "ada", "zoe"]) expect(await seen(who)).toEqual([]);
    // A fork of another actor has that actor's memory, and one of their own shares it.
    const ada = connect(app.url, "ada-token");
    const { forkAgent } = await ada.get(ForkAgentDocument, { input: { agentId: id } });
    const [call] = await makeCalls(ada, forkAgent.agent?.id ?? "", view("/memories/of-anna.md"));
    expect(call?.output).toContain("does not exist");
    const own = await anna.get(ForkAgentDocument, { input: { agentId: id } });
    const [shared] = await makeCalls(anna, own.forkAgent.agent?.id ?? "", view("/memories/of-anna.md"));
    expect(shared?.output).toContain("1\ttext");
  });

  it("of a template is shared by all its requesters, and by none of another tenant", async () => {
    const { app } = await appWith({ memory: { per: "template" } }, { config: NEIGHBOURS });
    const outputs: (string | null | undefined)[] = [];
    for (const who of ["anna", "ben", "zoe"]) {
      const client = connect(app.url, `${who}-token`);
      const { id } = await client.createAgent();
      const [, seen] = await makeCalls(client, id, create(`/memories/${who}.md`), view());
      outputs.push(seen?.output?.split("\n").slice(2).join(" "));
    }
    expect(outputs).toEqual(["4B\t/memories/anna.md", "4B\t/memories/anna.md 4B\t/memories/ben.md", "4B\t/memories/zoe.md"]);
  });

  it("of a child is that of its own template and of the first requester", async () => {
    const templates = {
      assistant: { systemPrompt: "lead", model: "test", ...TEMPLATE, subagents: { templates: ["worker"] } },
      worker: { systemPrompt: "worker", model: "test", ...TEMPLATE },
    };
    const { app } = await appWith({}, { config: { ...NEIGHBOURS, templates } });
    const anna = connect(app.url, "anna-token");
    const prompt = JSON.stringify([create("/memories/of-worker.md"), view()]);
    const { id } = await anna.createAgent();
    await makeCalls(anna, id, ["task_run", { description: "d", prompt, agentTemplateId: "worker" }], view());
    const { id: worker } = await anna.createAgent({ templateId: "worker" });
    const [seen] = await makeCalls(anna, worker, view("/memories/of-worker.md"));
    expect(seen?.output).toContain("1\ttext");
    const [none] = await makeCalls(anna, id, view("/memories/of-worker.md"));
    expect(none?.output).toContain("does not exist");
  });

  it("loses no edit of two servers' agents that write to one entry at the same time", async () => {
    const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
    const folder = await temporaryFolder();
    const config = { workspaceRoots: [folder], defaultWorkspace: folder };
    const [one, other] = [await appWith({}, { database, config }), await appWith({}, { database, config })];
    const lines = Array.from({ length: 6 }, (_, index) => `line ${index}: open`);
    const first = await one.client.createAgent();
    await makeCalls(one.client, first.id, create("/memories/plan.md", lines.join("\n")));
    const ended = await Promise.all(
      lines.map(async (line, index) => {
        const { client } = index % 2 === 0 ? one : other;
        const { id } = await client.createAgent();
        const [call] = await makeCalls(
          client,
          id,
          memory("str_replace", { path: "/memories/plan.md", old_str: line, new_str: line.replace("open", "done") }),
        );
        return call?.state;
      }),
    );
    expect(ended).toEqual(lines.map(() => "COMPLETED"));
    const [seen] = await makeCalls(one.client, first.id, view("/memories/plan.md"));
    expect(seen?.output?.match(/done/g)).toHaveLength(6);
    expect(seen?.details["version"]).toBe(7);
  });

  it("takes one of two entries that are created at one path, or at a path and below it", async () => {
    const { client } = await appWith();
    const race = async (paths: readonly string[]) =>
      Promise.all(
        paths.map(async (path) => {
          const { id } = await client.createAgent();
          const [call] = await makeCalls(client, id, create(path));
          return call?.state;
        }),
      );
    const ended = await race(["/memories/a", "/memories/a", "/memories/a/b", "/memories/a"]);
    expect(ended.filter((state) => state === "COMPLETED")).toHaveLength(1);
    expect(ended.filter((state) => state === "FAILED")).toHaveLength(3);
  });

  it("keeps its limits, also of agents that create at the same time, and says what could go", async () => {
    const { app, client } = await appWith();
    const text = `INSERT INTO memory_entry (id, tenant, template_id, requester, path, text, bytes, version, lineage, created_at, updated_at)
      SELECT gen_random_uuid()::text, a.tenant, a.template_id, a.created_by, '/memories/full/' || n, 'x', 1, 1, 'MODEL', now(), now() FROM agent a, generate_series(1, $1::int) n`;
    const { id } = await client.createAgent();
    await app.database.sql.query({ name: "fill", text }, [MEMORY.entries - 2]);
    const agents = await Promise.all(Array.from({ length: 6 }, async () => client.createAgent()));
    const ended = await Promise.all(
      agents.map(async (agent, index) => (await makeCalls(client, agent.id, create(`/memories/new-${index}`)))[0]),
    );
    expect(ended.filter((call) => call?.state === "COMPLETED")).toHaveLength(2);
    const refused = ended.find((call) => call?.state === "FAILED");
    expect(refused?.output).toContain("the memory has 1000 entries, which is the most: delete one");
    expect(refused?.output).toContain("The largest: /memories/new-");
    const [large, gone, again] = await makeCalls(
      client,
      id,
      memory("insert", { path: "/memories/full/1", insert_line: 0, insert_text: "y".repeat(64 * 1024) }),
      memory("delete", { path: "/memories/full" }),
      create("/memories/after.md"),
    );
    expect(large?.output).toContain("64 KB is the most");
    expect([gone?.state, gone?.details["deleted"], again?.state]).toEqual(["COMPLETED", 998, "COMPLETED"]);
    const bytes = "UPDATE memory_entry SET bytes = 1398000 WHERE deleted_at IS NULL";
    await app.database.sql.query({ name: "large", text: bytes }, []);
    const [full] = await makeCalls(client, id, create("/memories/more.md", "z".repeat(1_000)));
    expect(full?.output).toContain("4 MB is the most");
  });

  it("takes no other input than that of its commands, whatever a model sends", async () => {
    const { client } = await appWith();
    const { id } = await client.createAgent();
    const odd = fc.oneof(
      fc.constant(null),
      fc.constant([]),
      fc.constant({}),
      fc.constant(7),
      fc.constant(-1),
      fc.constant(true),
      fc.constant("/memories/x\u0000"),
      fc.constant("/memories/\u202e"),
      fc.constant("y".repeat(5_000)),
      fc.constant("/memories/../../etc"),
    );
    const names = ["path", "file_text", "old_str", "new_str", "insert_line", "insert_text", "old_path", "new_path", "view_range"];
    const commands = fc.constantFrom("view", "create", "str_replace", "insert", "delete", "rename", "drop", "", null, 7);
    const inputs = fc.sample(fc.tuple(commands, fc.dictionary(fc.constantFrom(...names), odd)), { numRuns: 40, seed: 46 });
    const calls = await makeCalls(client, id, ...inputs.map(([command, input]) => ["memory", { ...input, command }] as const));
    const ended = calls.map(({ state, details }) => [state, details]);
    for (const [index, [state]] of ended.entries()) expect(state, JSON.stringify(inputs[index])).toBe("FAILED");
    const [seen] = await makeCalls(client, id, view());
    expect(seen?.details).toEqual({ path: "/memories", entries: 0 });
  });
});
