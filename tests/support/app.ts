import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Model } from "../../src/agent/models/model.ts";
import type { Script } from "../../src/agent/models/script.ts";
import { scriptedModel } from "../../src/agent/models/scripted.ts";
import { startApp, type App, type Overrides } from "../../src/app.ts";
import type { TemplateConfig, TriplaneConfig } from "../../src/triplane.ts";
import type { DatabaseConfig } from "../../src/db/database.ts";
import type { Logger } from "../../src/telemetry/log.ts";
import { makeSettings } from "../../src/config/settings.ts";
import { silentLogger } from "./silent-logger.ts";
import { testDatabaseUrl } from "./database.ts";

/** What a test's server differs in from a plain one. */
export type TestAppOptions = {
  readonly model?: Model;
  readonly script?: Script;
  readonly template?: Partial<TemplateConfig>;
  readonly config?: Partial<TriplaneConfig>;
  readonly database?: DatabaseConfig;
  readonly overrides?: Overrides;
  /** The test provokes errors of the server's own; otherwise one that is logged fails it. */
  readonly expectsErrors?: boolean;
};

/** A running server on a free port, with a folder to work in. */
export type TestApp = App & { readonly url: string; readonly workspace: string };

/** Starts a server of the test's own. It closes when the test ends. The default template is `assistant`. */
export async function startTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const workspace = await temporaryFolder();
  // PostgreSQL starts a process for each connection, which costs more than most tests: those of many at once give it more.
  const database = options.database ?? { kind: "postgres", url: await testDatabaseUrl(), connections: 3 };
  const script = options.script ?? { replies: [{ when: {}, say: ["Hello."] }] };
  const config: TriplaneConfig = {
    models: { test: { provider: "scripted", script } },
    templates: { assistant: { systemPrompt: "You are tested.", model: "test", selfApproval: true, ...options.template } },
    ...foldersOf(options.config, workspace),
    ...options.config,
  };
  const environment = {
    port: 0,
    host: "127.0.0.1",
    database,
    dataFolder: join(workspace, ".data"),
    programsFolder: join(workspace, ".data"),
    configPath: "test",
    folder: workspace,
    anthropic: null,
    openai: null,
  };
  const settings = await makeSettings(environment, join(workspace, "triplane.config.ts"), config);
  const model = options.model ?? scriptedModel("test", script);
  const complaints: string[] = [];
  onTestFinished(() => {
    if (complaints.length > 0 && options.expectsErrors !== true) throw new Error(`the server logged:\n${complaints.join("\n")}`);
  });
  const app = await startApp(settings, {
    logger: complaining(complaints),
    models: new Map([["test", model]]),
    ...options.overrides,
  });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (!isClosed) await app.close();
    isClosed = true;
  };
  onTestFinished(close);
  return { ...app, close, url: `http://127.0.0.1:${app.port}/graphql`, workspace };
}

/** One folder for all, which each of several tenants names; a test that names tenants gives them folders itself. */
function foldersOf(
  { actors = [], authenticate, tenants }: Partial<TriplaneConfig> = {},
  workspace: string,
): Partial<TriplaneConfig> {
  const folders = { workspaceRoots: [workspace], defaultWorkspace: workspace };
  const present = [...new Set(actors.map(({ tenant }) => tenant))];
  if (tenants !== undefined || authenticate !== undefined) return {};
  return present.length <= 1 ? folders : { tenants: Object.fromEntries(present.map((tenant) => [tenant, folders])) };
}

function complaining(complaints: string[]): Logger {
  return {
    ...silentLogger,
    error: (message, cause) =>
      void complaints.push(`${message}: ${cause instanceof Error ? (cause.stack ?? "") : String(cause)}`),
  };
}

/** A new folder, removed when the test ends. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "triplane-test-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
