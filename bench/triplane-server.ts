import { later } from "../src/agent/tools/later.ts";
import { defineTool } from "../src/agent/tools/tool.ts";
import { startApp } from "../src/app.ts";
import { makeSettings } from "../src/config/settings.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { serveBench } from "./server-process.ts";
import { ownFolder } from "./own-folder.ts";
import { benchEnvironment } from "./environment.ts";

const [url = "", provider = "http://127.0.0.1:1"] = process.argv.slice(2);

/** Its result comes after the bench, or by time. */
const order = defineTool<Record<string, never>>({
  name: "order",
  description: "Orders something.",
  readOnly: true,
  paths: {},
  inputSchema: { type: "object", required: [], properties: {} } as const,
  run: () => later({ dueMs: 24 * 60 * 60 * 1_000 }),
});

const folder = ownFolder();
const settings = await makeSettings(benchEnvironment(url, folder, { provider }), "/bench", {
  models: {
    wire: { provider: "anthropic", model: "bench" },
    speaks: {
      provider: "scripted",
      script: { pace: { characters: 15, delayMs: 25 }, replies: [{ when: {}, say: ["a few words 12 ".repeat(40)] }] },
    },
    waits: { provider: "scripted", script: { replies: [{ when: {}, call: [{ tool: "order", input: {} }] }] } },
    leads: {
      provider: "scripted",
      script: {
        replies: [{ when: {}, call: [{ tool: "task_run", input: { description: "x", prompt: "x", agentTemplateId: "waits" } }] }],
      },
    },
    asks: { provider: "scripted", script: { replies: [{ when: {}, call: [{ tool: "todo_write", input: { todos: [] } }] }] } },
  },
  tools: [order],
  // What is measured is not what an actor may ask.
  rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
  templates: {
    wire: { model: "wire", systemPrompt: "x" },
    budgeted: { model: "wire", systemPrompt: "x", budgets: [{ per: "AGENT", tokens: 1_000_000_000_000, then: "ask" }] },
    speaks: { model: "speaks", systemPrompt: "x" },
    waits: { model: "waits", systemPrompt: "x", permission: { mode: "auto" } },
    leads: { model: "leads", systemPrompt: "x", permission: { mode: "auto" }, subagents: { templates: ["waits"] } },
    asks: { model: "asks", systemPrompt: "x", permission: { mode: "approval" } },
  },
});
const app = await startApp(settings, { logger: silentLogger });

serveBench(
  app.port,
  () => Promise.reject(new Error("only the raw server sends pages")),
  () => app.close(),
);
