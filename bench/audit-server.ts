import { startApp } from "../src/app.ts";
import { makeSettings } from "../src/config/settings.ts";
import { tokenActor } from "../tests/support/actors.ts";
import { silentLogger } from "../tests/support/silent-logger.ts";
import { AUDIT } from "./audit-rows.ts";
import { serveBench } from "./server-process.ts";
import { ownFolder } from "./own-folder.ts";
import { benchEnvironment } from "./environment.ts";

/** A server of the tenant whose audit is read, for `admin-token`, and for `user-7-token` of a person with 1 % of the agents. */
const [url = ""] = process.argv.slice(2);
const folder = ownFolder();
const settings = await makeSettings(benchEnvironment(url, folder), "/bench", {
  models: { says: { provider: "scripted", script: { replies: [{ when: {}, say: ["x"] }] } } },
  templates: { assistant: { model: "says", systemPrompt: "x" } },
  actors: [tokenActor("admin", ["admin"], AUDIT.tenant).actor, tokenActor("user-7", ["user"], AUDIT.tenant).actor],
  workspaceRoots: [folder],
  // What is measured is not what an actor may ask.
  rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
});
const app = await startApp(settings, { logger: silentLogger });

serveBench(
  app.port,
  () => Promise.reject(new Error("only the raw server sends pages")),
  () => app.close(),
);
