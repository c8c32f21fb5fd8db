import { startApp } from "../src/app.ts";
import { makeSettings } from "../src/config/settings.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { serveBench } from "./server-process.ts";
import { ownFolder } from "./own-folder.ts";

const [url = "", provider = "http://127.0.0.1:1"] = process.argv.slice(2);

const folder = ownFolder();
const settings = await makeSettings(
  {
    port: 0,
    host: "127.0.0.1",
    database: { kind: "postgres", url, connections: 10 },
    dataFolder: folder,
    programsFolder: folder,
    configPath: "bench",
    folder,
    anthropic: { apiKey: "bench", baseUrl: provider },
    openai: null,
  },
  "/bench",
  {
    models: {
      wire: { provider: "anthropic", model: "bench" },
      speaks: {
        provider: "scripted",
        script: { pace: { characters: 15, delayMs: 25 }, replies: [{ when: {}, say: ["a few words 12 ".repeat(40)] }] },
      },
      asks: { provider: "scripted", script: { replies: [{ when: {}, call: [{ tool: "todo_write", input: { todos: [] } }] }] } },
    },
    // What is measured is not what an actor may ask.
    rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
    templates: {
      wire: { model: "wire", systemPrompt: "x" },
      speaks: { model: "speaks", systemPrompt: "x" },
      asks: { model: "asks", systemPrompt: "x", permission: { mode: "approval" } },
    },
  },
);
const app = await startApp(settings, { logger: silentLogger });

serveBench(
  app.port,
  () => Promise.reject(new Error("only the raw server sends pages")),
  () => app.close(),
);
