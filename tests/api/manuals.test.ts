import { describe, expect, it } from "vitest";
import type { ModelEvent, ModelRequest } from "../../src/agent/models/model.ts";
import type { Tool } from "../../src/agent/tools/tool.ts";
import type { TriplaneConfig } from "../../src/triplane.ts";
import { ForkAgentDocument } from "../generated/documents.ts";
import { startTestApp, temporaryFolder, type TestApp, type TestAppOptions } from "../support/app.ts";
import { connect, ofType, type TestClient } from "../support/client.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { playedModel, says } from "../support/models.ts";
import { ownTool, toolWithPrompt } from "../support/tools.ts";

const TOLD = "[The Tools Manual has changed: these sections hold from here on.]";

/** The notes about the manual in a request, in the order of its messages. */
function notesOf({ messages }: ModelRequest): readonly string[] {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks.flatMap((block) =>
    block.type === "text" && block.text.startsWith(TOLD) ? [block.text.slice(TOLD.length + 2)] : [],
  );
}

type Player = (request: ModelRequest) => AsyncIterable<ModelEvent>;

/** A place for servers of one database with different configurations, and all that their model was asked. */
async function place(player: Player = () => says("Done.")) {
  const database = { kind: "postgres", url: await testDatabaseUrl(), connections: 3 } as const;
  const workspace = await temporaryFolder();
  const folders = { workspaceRoots: [workspace], defaultWorkspace: workspace };
  const model = playedModel(player);
  const start = async (
    tools: readonly Tool[],
    { overrides, ...template }: { overrides?: TestAppOptions["overrides"] } & TestAppOptions["template"] = {},
    config: Partial<TriplaneConfig> = {},
  ): Promise<{ app: TestApp; client: TestClient }> => {
    const options = { database, model, template, config: { ...folders, tools, ...config } };
    const app = await startTestApp(overrides === undefined ? options : { ...options, overrides });
    return { app, client: connect(app.url) };
  };
  const systems = () => model.calls.map(({ request }) => request.system);
  return { start, model, systems };
}

const MANUAL = "You are tested.\n\n### Tools Manual\n\n#### a_tool\n\nUse a.\n\n#### b_tool\n\nUse b.";

describe("the system prompt of an agent's requests", () => {
  it("ends with the sections of the tools that the agent has, in the order of names", async () => {
    const { start, systems } = await place();
    const tools = [toolWithPrompt("b_tool", "Use b."), toolWithPrompt("other", "Not his."), toolWithPrompt("a_tool", "Use a.")];
    const { client } = await start(tools, { tools: ["fs_read", "a_tool", "b_tool"] });
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    await client.turn(id, "go on");
    expect(systems()).toEqual([MANUAL, MANUAL]);
    expect(ofType(await client.events(id), "ToolManualUpdated")).toEqual([]);
  });

  it("is that of the template alone, if no tool has a section, and no row is written", async () => {
    const { start, systems } = await place();
    const { app, client } = await start([ownTool("plain", () => "")]);
    await client.turn((await client.createAgent()).id, "go");
    expect(systems()).toEqual(["You are tested."]);
    const rows = { name: "rows_of_manuals", text: "SELECT agent_id FROM agent_manual UNION ALL SELECT digest FROM manual" };
    expect(await app.database.sql.query(rows, [])).toEqual([]);
  });

  it("stays as the first step gave it, on a server with another configuration too, and the changes are told once", async () => {
    const { start, systems, model } = await place();
    const first = await start([toolWithPrompt("b_tool", "Use b."), toolWithPrompt("a_tool", "Use a.")]);
    const { id } = await first.client.createAgent();
    await first.client.turn(id, "go");
    await first.app.close();
    const { client } = await start([toolWithPrompt("a_tool", "Use a well."), toolWithPrompt("c_tool", "Use c.")]);
    const { cursor } = await client.agent(id);
    await client.send(id, "go on");
    const events = await client.until(id, "DONE", cursor);
    expect(ofType(events, "ToolManualUpdated")).toMatchObject([{ tools: ["a_tool", "b_tool", "c_tool"] }]);
    await client.turn(id, "and on");
    expect(systems()).toEqual([MANUAL, MANUAL, MANUAL]);
    const note =
      "#### a_tool\n\nUse a well.\n\n#### b_tool\n\nThis tool, or its section, is not there any more.\n\n#### c_tool\n\nUse c.";
    expect(model.calls.map(({ request }) => notesOf(request))).toEqual([[], [note], [note]]);
    // An agent that begins now has the manual of now.
    const { id: other } = await client.createAgent();
    await client.turn(other, "go");
    expect(systems().at(-1)).toBe("You are tested.\n\n### Tools Manual\n\n#### a_tool\n\nUse a well.\n\n#### c_tool\n\nUse c.");
  });

  it("is one row for all agents of a tenant that were given the same", async () => {
    const { start } = await place();
    const { app, client } = await start([toolWithPrompt("a_tool", "Use a.")]);
    for (let agents = 0; agents < 3; agents += 1) await client.turn((await client.createAgent()).id, "go");
    const rows = { name: "texts_of_manuals", text: "SELECT tenant, text FROM manual" };
    expect(await app.database.sql.query(rows, [])).toEqual([
      { tenant: "local", text: "### Tools Manual\n\n#### a_tool\n\nUse a." },
    ]);
  });
});

describe("a tool that comes or goes while the server runs", () => {
  it("is told at the next step, to an agent that began without a manual too; it stays in the list when it goes", async () => {
    const { start, systems, model } = await place();
    const { app, client } = await start([]);
    const { tools } = app.services.of("local");
    tools.setServerUnavailable("gh", "it has not answered yet");
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    tools.set("gh", [toolWithPrompt("mcp__gh__list", "Lists.")]);
    await client.turn(id, "go on");
    tools.setServerUnavailable("gh", "it does not answer");
    await client.turn(id, "and on");
    expect(systems()).toEqual(Array.from({ length: 3 }, () => "You are tested."));
    const came = expect.stringMatching(/^#### mcp__gh__list\n\nCall it with call_tool: [^\n]+\n\n\{[^\n]+\}\n\nLists\.$/);
    expect(model.calls.map(({ request }) => notesOf(request))).toEqual([[], [came], [came]]);
    const updated = ofType(await client.events(id), "ToolManualUpdated");
    expect(updated).toMatchObject([{ channel: "MONITOR", tools: ["mcp__gh__list"] }]);
  });

  it("is told once when owners die before the model answers", async () => {
    const ended: Promise<never> = new Promise(() => {});
    async function* hangs(): AsyncGenerator<never> {
      yield await ended;
    }
    let calls = 0;
    const { start, model } = await place(() => ((calls += 1) === 2 ? hangs() : says("Done.")));
    const { app, client } = await start([], { overrides: { leaseTimes: { ttlMs: 1_500, renewMs: 100, startMs: 1_000 } } });
    app.services.of("local").tools.setServerUnavailable("gh", "it has not answered yet");
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    app.services.of("local").tools.set("gh", [toolWithPrompt("mcp__gh__list", "Lists.")]);
    const { cursor } = await client.agent(id);
    await client.send(id, "go on");
    await expect.poll(() => calls).toBe(2);
    const died =
      "UPDATE agent SET lease_epoch = lease_epoch + 1, lease_owner = 'gone', lease_until = clock_timestamp() - interval '1 s'";
    await app.database.sql.query({ name: "steal", text: died }, []);
    const events = await client.until(id, "DONE", cursor);
    expect(ofType(events, "ToolManualUpdated")).toHaveLength(1);
    expect(model.calls.map(({ request }) => notesOf(request).length)).toEqual([0, 1, 1]);
  });

  it("is told again to a fork from an earlier message, and not to one that has read of it; both have the same system prompt", async () => {
    const { start, systems, model } = await place();
    const { app, client } = await start([toolWithPrompt("a_tool", "Use a.")]);
    app.services.of("local").tools.setServerUnavailable("gh", "it has not answered yet");
    const { id } = await client.createAgent();
    await client.turn(id, "go");
    const early = (await client.agent(id)).messages.nodes.at(-1)?.id;
    app.services.of("local").tools.set("gh", [toolWithPrompt("mcp__gh__list", "Lists.")]);
    await client.turn(id, "go on");
    const fork = async (messageId?: string): Promise<string> => {
      const input = { agentId: id, ...(messageId === undefined ? {} : { messageId }) };
      return (await client.get(ForkAgentDocument, { input })).forkAgent.agent?.id ?? "";
    };
    await client.turn(await fork(early), "and you?");
    await client.turn(await fork(), "and you?");
    expect(model.calls.map(({ request }) => notesOf(request).length)).toEqual([0, 1, 1, 1]);
    expect(new Set(systems())).toEqual(new Set(["You are tested.\n\n### Tools Manual\n\n#### a_tool\n\nUse a."]));
  });
});

describe("servers with different configurations that take turns", () => {
  it("tell what differs after more and more steps, and the last one tells it in the end", async () => {
    const { start, model } = await place();
    const [one, other] = [[toolWithPrompt("a_tool", "One.")], [toolWithPrompt("a_tool", "Other.")]];
    let id: string | null = null;
    for (const tools of [one, other, one, other, other, other]) {
      const { app, client } = await start(tools);
      id ??= (await client.createAgent()).id;
      await client.turn(id, "go");
      await app.close();
    }
    expect(model.calls.map(({ request }) => notesOf(request).length)).toEqual([0, 1, 2, 2, 3, 3]);
    expect(model.calls.flatMap(({ request }) => notesOf(request)).at(-1)).toBe("#### a_tool\n\nOther.");
  });
});

describe("Tool in GraphQL", () => {
  it("has its section, its server, and the reason why it is unavailable", async () => {
    const { start } = await place();
    const { app, client } = await start([toolWithPrompt("a_tool", "Use a.")], { tools: ["fs_read", "a_tool", "mcp__gh__*"] });
    const { tools } = app.services.of("local");
    tools.set("gh", [toolWithPrompt("mcp__gh__list", "Lists.")]);
    tools.setUnavailable("mcp__gh__list", "its token is refused");
    const query = `{ templates { tools { name source server prompt unavailable } } }`;
    expect((await client.post({ query })).data).toEqual({
      templates: [
        {
          tools: [
            { name: "fs_read", source: "BUILTIN", server: null, prompt: null, unavailable: null },
            { name: "a_tool", source: "REGISTERED", server: null, prompt: "Use a.", unavailable: null },
            { name: "mcp__gh__list", source: "MCP", server: "gh", prompt: "Lists.", unavailable: "its token is refused" },
          ],
        },
      ],
    });
  });
});
