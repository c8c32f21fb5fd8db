import { join } from "node:path";
import type { Actor } from "../src/agent/actors/actor.ts";
import { createAgent } from "../src/agent/commands/create-agent.ts";
import { sendMessage } from "../src/agent/commands/messages.ts";
import { NO_TOKENS, type Model, type ModelEvent } from "../src/agent/models/model.ts";
import { defineTool } from "../src/agent/tools/tool.ts";
import { startApp, type App } from "../src/app.ts";
import { makeSettings } from "../src/config/settings.ts";
import { benchEnvironment } from "./environment.ts";

const ACTOR: Actor = { id: "local", kind: "USER", tenant: "local", roles: ["admin"], delegators: [] };

/** A server of this process, with the instant model and a tool that does nothing. */
export async function start(url: string, folder: string): Promise<App> {
  const environment = benchEnvironment(url, folder);
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
    templates: {
      bench: { model: "instant", systemPrompt: "x", permission: { mode: "auto" }, contextMessages: 200, maxSteps: 1_000 },
    },
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

/** A new agent of the bench's template. */
export async function newAgent({ services }: App): Promise<string> {
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

/** Runs one turn of so many calls, as `text` says, and gives how long it took from the message to its DONE, in ms. */
export async function run({ services, wake }: App, agentId: string, text: string): Promise<number> {
  const done = Promise.withResolvers<void>();
  waiting.set(agentId, done.resolve);
  if (!listening.has(services.log)) {
    listening.add(services.log);
    services.log.onCommitted((_tenant, events) => {
      for (const event of events) if (event.body.kind === "DONE") waiting.get(event.agentId ?? "")?.();
    });
  }
  const started = performance.now();
  const sent = await sendMessage(services.of(ACTOR.tenant), ACTOR, {
    agentId,
    text,
    images: [],
    outputSchema: null,
    idempotencyKey: null,
  });
  if (!sent.ok) throw new Error(sent.refusal.message);
  wake({ agentId, tenant: ACTOR.tenant });
  await done.promise;
  return performance.now() - started;
}

const waiting = new Map<string, () => void>();
const listening = new WeakSet<object>();
