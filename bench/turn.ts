import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { Actor } from "../src/agent/actors/actor.ts";
import { createAgent } from "../src/agent/commands/create-agent.ts";
import { sendMessage } from "../src/agent/commands/send-message.ts";
import { NO_TOKENS, type Model, type ModelEvent } from "../src/agent/models/model.ts";
import { defineTool } from "../src/agent/tools/tool.ts";
import { startApp, type App } from "../src/app.ts";
import { makeSettings } from "../src/config/settings.ts";
import type { Figure } from "./figure.ts";
import { median } from "../tests/support/median.ts";

const LONG = { turns: 40, calls: 20 };
/** Turns of one call each, of which those after WARM are compared with those after MANY. */
const MANY = 10_000;
const WARM = 10;
const COMPARED = 50;
const INSERTS = 1_000;

const ACTOR: Actor = { id: "local", kind: "USER", tenant: "local", roles: ["admin"], delegators: [] };

/**
 * A full turn with the durable log on PostgreSQL, by a model and a tool that take no time, with a window of 200 messages:
 * ms a tool call, with its model call, of turns of 20 calls, beside one durable INSERT; and how much longer a turn takes
 * after 10,000 of them.
 */
export async function turn(url: string): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-bench-"));
  const app = await start(url, folder);
  try {
    const perCall: number[] = [];
    const agent = await newAgent(app);
    for (let index = 0; index < LONG.turns; index += 1) perCall.push((await run(app, agent, String(LONG.calls))) / LONG.calls);
    const perCallMs = median(perCall.slice(WARM));
    const insertMs = await insertion(url);
    const old = await newAgent(app);
    for (let index = 0; index < MANY; index += 1) await run(app, old, "1");
    const fresh = await newAgent(app);
    for (let index = 0; index < WARM; index += 1) await run(app, fresh, "1");
    // In turn, so that both meet the same machine.
    const times: { early: number; late: number }[] = [];
    for (let index = 0; index < COMPARED; index += 1)
      times.push({ early: await run(app, fresh, "1"), late: await run(app, old, "1") });
    const [early, late] = [median(times.map((pair) => pair.early)), median(times.map((pair) => pair.late))];
    return [
      { name: "turn", value: perCallMs, unit: "ms a tool call", baseline: insertMs, ratio: perCallMs / insertMs },
      { name: "turn 10,000", value: late, unit: "ms a turn of one call", baseline: early, ratio: late / early },
    ];
  } finally {
    await app.close();
    await rm(folder, { recursive: true });
  }
}

/** How long one INSERT of one row takes with its commit, in ms: no tool call can do with less than two. */
async function insertion(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("CREATE TABLE inserted (text text NOT NULL)");
  const times: number[] = [];
  for (let index = 0; index < INSERTS; index += 1) {
    const started = performance.now();
    await client.query({ name: "insert", text: "INSERT INTO inserted VALUES ($1)", values: ["x".repeat(1_000)] });
    times.push(performance.now() - started);
  }
  await client.query("DROP TABLE inserted");
  await client.end();
  return median(times);
}

async function start(url: string, folder: string): Promise<App> {
  const environment = {
    port: 0,
    host: "127.0.0.1",
    database: { kind: "postgres", url, connections: 10 },
    dataFolder: folder,
    configPath: "bench",
    folder,
    anthropic: null,
    openai: null,
  } as const;
  const nothing = defineTool<Record<string, never>>({
    name: "nothing",
    description: "Does nothing.",
    readOnly: true,
    inputSchema: { type: "object", required: [], properties: {} },
    run: () => ({ output: "done", details: null }),
  });
  const settings = await makeSettings(environment, join(folder, "triplane.config.ts"), {
    models: { instant: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
    // What is measured is not what an actor may ask.
    rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
    templates: { bench: { model: "instant", systemPrompt: "x", permission: { mode: "auto" }, contextMessages: 200 } },
    tools: [nothing],
  });
  return startApp(settings, { models: new Map([["instant", instant]]) });
}

/** Calls the tool as often as the last message of a person says, one call an answer, and then says that it is done. */
const instant: Model = {
  name: "instant",
  price: null,
  async *stream({ messages }): AsyncGenerator<ModelEvent> {
    const last = messages.findLastIndex(({ role, content }) => role === "user" && content.some(({ type }) => type === "text"));
    const said = messages[last]?.content.find((block) => block.type === "text");
    const wanted = Number(said?.type === "text" ? said.text : 0);
    const calls = messages.slice(last).filter(({ role }) => role === "assistant").length;
    if (calls < wanted) {
      yield { type: "tool_use", block: 0, id: `call-${calls}`, name: "nothing", arguments: "{}" };
      yield { type: "end", stopReason: "tool_use", usage: NO_TOKENS };
    } else {
      yield { type: "text_start", block: 0 };
      yield { type: "text_delta", block: 0, text: "Done." };
      yield { type: "end", stopReason: "end_turn", usage: NO_TOKENS };
    }
  },
};

async function newAgent({ services }: App): Promise<string> {
  const request = {
    templateId: "bench",
    workspace: null,
    model: null,
    toolTimeoutMs: null,
    permission: null,
    title: null,
    hooks: [],
    idempotencyKey: null,
  };
  const created = await createAgent(services.of(ACTOR.tenant), ACTOR, request);
  if (!created.ok) throw new Error(created.refusal.message);
  return created.value.id;
}

/** Runs one turn and gives how long it took from the message to its DONE, in ms. */
async function run({ services, wake }: App, agentId: string, text: string): Promise<number> {
  const done = Promise.withResolvers<void>();
  waiting.set(agentId, done.resolve);
  if (!listening.has(services.log)) {
    listening.add(services.log);
    services.log.onCommitted((_tenant, events) => {
      for (const event of events) if (event.body.kind === "DONE") waiting.get(event.agentId ?? "")?.();
    });
  }
  const started = performance.now();
  const sent = await sendMessage(services.of(ACTOR.tenant), ACTOR, { agentId, text, images: [], idempotencyKey: null });
  if (!sent.ok) throw new Error(sent.refusal.message);
  wake(agentId);
  await done.promise;
  return performance.now() - started;
}

const waiting = new Map<string, () => void>();
const listening = new WeakSet<object>();
