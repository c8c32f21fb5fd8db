import { Type } from "typebox";
import { defineTool } from "../../src/agent/tools/tool.ts";
import { startApp } from "../../src/app.ts";
import { makeSettings } from "../../src/config/settings.ts";
import { silentLogger } from "../../tests/support/silent-logger.ts";
import { ownFolder } from "../own-folder.ts";
import { serveBench } from "../server-process.ts";
import { benchEnvironment } from "../environment.ts";

/** The window of a Claude model without a configured one. */
const USUAL_WINDOW = 200_000;

const [url = "", provider = "", tokens = ""] = process.argv.slice(2);
const window = Number(tokens);

const ownTool = (name: string, description: string, output: string) =>
  defineTool({ name, description, readOnly: true, inputSchema: Type.Object({}), run: () => ({ output, details: null }) });

const folder = ownFolder();
// The server's own folder is closed to agents.
const workspace = ownFolder();
const settings = await makeSettings(benchEnvironment(url, folder, { provider }), "/bench", {
  models: { wire: { provider: "anthropic", model: "bench", ...(window === USUAL_WINDOW ? {} : { window }) } },
  // An output has as many tokens as 1.5 % of the window.
  tools: [
    ownTool("look", "Looks at the fence.", "plank ".repeat((4 * 0.015 * window) / 6)),
    ownTool("deploy", "Deploys the fence.", "deployed"),
  ],
  workspaceRoots: [workspace],
  defaultWorkspace: workspace,
  // The limits of an actor are no part of the measurement.
  rateLimit: { pointsPerMinute: 1_000_000_000, subscriptions: 1_000_000 },
  templates: {
    long: {
      model: "wire",
      systemPrompt: "You build a fence.",
      tools: ["look", "deploy", "todo_write", "fs_write", "task_run", "memory", "read_output"],
      memory: { trustedTools: ["look", "deploy"] },
      subagents: { templates: ["child"] },
      selfApproval: true,
      permission: { mode: "auto", ask: ["deploy"] },
    },
    child: { model: "wire", systemPrompt: "You measure.", tools: ["look"], permission: { mode: "auto" } },
  },
});
const app = await startApp(settings, { logger: silentLogger });

serveBench(
  app.port,
  () => Promise.reject(new Error("only the raw server sends pages")),
  () => app.close(),
);
