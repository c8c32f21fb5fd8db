import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import { ModelError, type ModelRequest } from "../../src/agent/models/model.ts";
import { ContextAtDocument, ForkAgentDocument } from "../generated/documents.ts";
import { startTestApp, type TestAppOptions } from "../support/app.ts";
import { connect, type TestClient } from "../support/client.ts";
import { tokenActor } from "../support/actors.ts";
import { ownTool } from "../support/tools.ts";
import { windowedModel, type Played } from "../support/windowed-model.ts";

const reads = ownTool("reads", async () => ({ output: "x".repeat(3_000), details: null }));

type Options = Partial<Parameters<typeof windowedModel>[0]> & Pick<TestAppOptions, "template" | "config">;

async function world({ template, config, ...options }: Options = {}) {
  const model = windowedModel({ window: 8_000, reply: () => ({ text: "ok" }), summary: () => "A summary.", ...options });
  const app = await startTestApp({
    model,
    config: { tools: [reads], ...config },
    template: { tools: ["reads"], permission: { mode: "auto" }, ...template },
  });
  const client = connect(app.url);
  return { app, model, client };
}

async function contextAt(client: TestClient, id: string, step: number) {
  const { agent } = await client.get(ContextAtDocument, { id, step });
  if (!agent?.contextAt) throw new Error(`step ${step} has no context`);
  return agent.contextAt;
}

/** The part of a request that is recorded, in its RFC 8785 form; a request of these tests has no images. */
function form({ messages, exposeThinking, isFirstOfTurn, settings, shape, system, tools }: ModelRequest): string {
  const described = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const all = { exposeThinking, isFirstOfTurn, settings, shape };
  return canonicalize({ messages, settings: all, system, tools: described }) ?? "";
}

/** Every step so far is proved, and shows the request that the model had. */
async function expectProved(client: TestClient, id: string, requests: readonly ModelRequest[]): Promise<void> {
  for (const [index, request] of requests.entries()) {
    const shown = await contextAt(client, id, index + 1);
    expect(shown).toMatchObject({ step: index + 1, isProved: true, missing: [] });
    expect(shown.hash).toBe(createHash("sha256").update(form(request)).digest("hex"));
    const messages = shown.messages?.nodes.map(({ role, content }) => ({ role, content }));
    expect(canonicalize(messages)).toBe(canonicalize(request.messages));
    expect(shown.system).toBe(request.system);
  }
}

describe("contextAt shows the request of a step, and proves it", () => {
  it("with tools, results and several turns", async () => {
    const reply = (_request: ModelRequest, count: number): Played =>
      count === 2 ? { tool: "reads", input: { path: "a" } } : { text: `answer ${count}` };
    const { client, model } = await world({ reply });
    const { id } = await client.createAgent();
    for (const text of ["one", "two é \u{1f600}", "three"]) await client.turn(id, text);
    expect(model.requests).toHaveLength(4);
    await expectProved(client, id, model.requests);
  });

  it("after clearing, summaries and shortening, also of the steps before them", async () => {
    const reply = (_request: ModelRequest, count: number): Played =>
      count % 3 === 0 ? { tool: "reads", input: {} } : { text: "ok" };
    const { client, model } = await world({ reply });
    const { id } = await client.createAgent();
    for (let turn = 0; turn < 14; turn += 1) {
      await client.turn(id, `message ${turn}: ${"m".repeat(2_500)}`);
      await expect.poll(async () => (await client.agent(id)).state).toBe("READY");
    }
    expect(model.summaries.length).toBeGreaterThan(0);
    await expectProved(client, id, model.requests);
  });

  it("with messages that a preModel hook changed, of that step alone", async () => {
    const brief = { type: "text", text: "Be brief." } as const;
    const { client, model } = await world({
      template: {
        hooks: {
          preModel: [
            ({ step }, [first, ...rest]) => (step === 2 && first ? [{ ...first, content: [brief] }, ...rest] : undefined),
          ],
        },
      },
    });
    const { id } = await client.createAgent();
    for (const text of ["one", "two", "three"]) await client.turn(id, text);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain("Be brief.");
    await expectProved(client, id, model.requests);
  });

  it("of a fork, with the steps that both share", async () => {
    const { client, model } = await world();
    const { id } = await client.createAgent();
    for (const text of ["one", "two"]) await client.turn(id, text);
    const { forkAgent } = await client.get(ForkAgentDocument, { input: { agentId: id } });
    const fork = forkAgent.agent?.id ?? "";
    await client.turn(fork, "three");
    await expectProved(client, fork, model.requests);
  });

  it("of a call that failed, and of the one that was made again", async () => {
    let fails = true;
    const { client } = await world({
      reply: () => {
        if (fails) throw new ModelError("rejected", "no");
        return { text: "ok" };
      },
    });
    const { id } = await client.createAgent();
    await client.turn(id, "one");
    fails = false;
    await client.turn(id, "two");
    for (const step of [1, 2]) expect(await contextAt(client, id, step)).toMatchObject({ isProved: true, missing: [] });
  });

  it("in pages", async () => {
    const { client } = await world();
    const { id } = await client.createAgent();
    for (const text of ["one", "two", "three"]) await client.turn(id, text);
    const first = (await client.get(ContextAtDocument, { id, step: 3, first: 2 })).agent?.contextAt?.messages;
    expect(first).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } });
    const after = first?.pageInfo.endCursor ?? null;
    const rest = (await client.get(ContextAtDocument, { id, step: 3, after })).agent?.contextAt?.messages;
    expect(rest?.nodes.map(({ index }) => index)).toEqual([2, 3, 4]);
  });
});

describe("contextAt does not claim more than the rows say", () => {
  it("a message that was erased, a summary that was erased, or tools that are gone are named", async () => {
    const { app, client } = await world();
    const { id } = await client.createAgent();
    for (let turn = 0; turn < 9; turn += 1) {
      await client.turn(id, `message ${turn}: ${"m".repeat(3_000)}`);
      await expect.poll(async () => (await client.agent(id)).state).toBe("READY");
    }
    const run = (text: string): Promise<unknown> => app.database.sql.query({ name: text.slice(0, 30), text }, []);
    await run("UPDATE compaction SET erased_at = now(), summary = NULL, restated = NULL WHERE method = 'SUMMARY'");
    expect(await contextAt(client, id, 9)).toMatchObject({ isProved: false, missing: ["SUMMARY"] });
    expect(await contextAt(client, id, 1)).toMatchObject({ isProved: true });
    await run("UPDATE message SET erased_at = now(), content = NULL WHERE ordinal = 0");
    expect(await contextAt(client, id, 1)).toMatchObject({ isProved: false, missing: ["MESSAGES"] });
    await run("DELETE FROM request_part WHERE body LIKE '[%'");
    expect(await contextAt(client, id, 2)).toMatchObject({ isProved: false, tools: null, missing: ["TOOLS", "MESSAGES"] });
    await run("DELETE FROM request_part");
    expect(await contextAt(client, id, 2)).toMatchObject({ settings: null, missing: ["SETTINGS", "SYSTEM", "TOOLS"] });
  });

  it("a step that does not exist has none, and an open one is unknown", async () => {
    const { client } = await world();
    const { id } = await client.createAgent();
    await client.turn(id, "one");
    for (const step of [0, -1, 2, 2_147_483_647])
      expect((await client.get(ContextAtDocument, { id, step })).agent?.contextAt).toBeNull();
  });

  it("parts are kept once a tenant, and a person who sees only their own agents is refused", async () => {
    const people = [tokenActor("anna", ["user"]), tokenActor("ben", ["viewer"])] as const;
    const { app } = await world({ config: { actors: people.map(({ actor }) => actor) } });
    const anna = connect(app.url, people[0].token);
    const ben = connect(app.url, people[1].token);
    const ids = [await anna.createAgent(), await anna.createAgent()].map(({ id }) => id);
    for (const id of ids) await anna.turn(id, "one");
    const refused = await anna.ask(ContextAtDocument, { id: ids[0] ?? "", step: 1 });
    expect(refused).toMatchObject({
      status: 200,
      data: { agent: { contextAt: null } },
      errors: [{ extensions: { code: "FORBIDDEN" } }],
    });
    for (const id of ids) expect(await contextAt(ben, id, 1)).toMatchObject({ isProved: true });
    const text = "SELECT count(*)::int AS parts FROM request_part";
    expect(await app.database.sql.query({ name: "parts", text }, [])).toEqual([{ parts: 3 }]);
  });
});
