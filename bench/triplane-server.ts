import { setTimeout as delay } from "node:timers/promises";
import { createAgent } from "../src/agent/commands/create-agent.ts";
import { sendMessage } from "../src/agent/commands/send-message.ts";
import type { Actor } from "../src/agent/actor.ts";
import { startApp } from "../src/app.ts";
import { makeSettings } from "../src/settings.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { serveBench } from "./server-process.ts";

const [url = "", provider = "http://127.0.0.1:1"] = process.argv.slice(2);
const LOCAL: Actor = { id: "local", kind: "USER", tenant: "local", roles: ["admin"] };

const settings = await makeSettings(
  {
    port: 0,
    host: "127.0.0.1",
    database: { kind: "postgres", url, connections: 10 },
    configPath: "bench",
    folder: "/tmp",
    anthropic: { apiKey: "bench", baseUrl: provider },
    openai: null,
  },
  "/bench",
  {
    models: {
      wire: { provider: "anthropic", model: "bench" },
      asks: { provider: "scripted", script: { replies: [{ when: {}, call: [{ tool: "todo_write", input: { todos: [] } }] }] } },
    },
    templates: {
      wire: { model: "wire", systemPrompt: "x" },
      asks: { model: "asks", systemPrompt: "x", permission: { mode: "approval" } },
    },
  },
);
const app = await startApp(settings, { logger: silentLogger });

serveBench(
  app.port,
  async (request) => {
    if (request.ask === "park") await park(request.agents);
  },
  () => app.close(),
);

/** Has agents ask for something until so many are parked. */
async function park(agents: number): Promise<void> {
  const { parts } = app;
  let next = await parked();
  const work = async (): Promise<void> => {
    while (next < agents) {
      next += 1;
      const created = await createAgent(parts, LOCAL, {
        templateId: "asks",
        workspace: null,
        model: null,
        toolTimeoutMs: null,
        idempotencyKey: null,
      });
      if (!created.ok) throw new Error(created.refusal.message);
      await sendMessage(parts, LOCAL, { agentId: created.value.id, text: "go", images: [], idempotencyKey: null });
      app.wake(created.value.id);
    }
  };
  await Promise.all(Array.from({ length: 20 }, work));
  while ((await parked()) < agents) await delay(100);
}

async function parked(): Promise<number> {
  const [row] = await app.parts.sql.query<{ parked: number }>(
    { name: "parked", text: "SELECT count(*)::int AS parked FROM agent WHERE state = 'PAUSED' AND lease_owner IS NULL" },
    [],
  );
  return row?.parked ?? 0;
}
