import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAgent } from "../src/agent/commands/create-agent.ts";
import { sendMessage } from "../src/agent/commands/messages.ts";
import { Owner } from "../src/agent/loop/owner.ts";
import { ToolCalls } from "../src/agent/loop/tool-calls.ts";
import { NO_TOKENS, type Model } from "../src/agent/models/model.ts";
import { defineTool } from "../src/agent/tools/tool.ts";
import { startApp, type App } from "../src/app.ts";
import { makeSettings } from "../src/config/settings.ts";
import { Coverage } from "./coverage.ts";

/**
 * `npm run walk`: counts the files that one tool call passes, from its judging to its TOOL_END, and compares them with the
 * walk that ARCHITECTURE.md tells. V8's precise coverage of a call says which functions ran; the list says in which order.
 * Ends with 1 if they differ, or if the walk is longer than MOST.
 */
const MOST = { files: 30, returns: 30 };
/** The wing of which the files count. Below it lies the log, which is the same for every commit. */
const WING = "src/agent/";

/** A place of the walk: a file, and a function of it that runs. */
type Place = { readonly file: string; readonly name: string };

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "triplane-walk-"));
try {
  const ran = await functionsOfOneCall();
  const told = await toldWalk("The walk of one tool call");
  const problems = [...differences(ran, told), ...tooLong(told), ...(await missing(await toldWalk("The walk of one decision")))];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The names of the functions that ran, by file. */
async function functionsOfOneCall(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const coverage = new Coverage(ROOT, WING);
  const ended = Promise.withResolvers<ReadonlyMap<string, ReadonlySet<string>>>();
  const { judge } = ToolCalls.prototype;
  const { view, defer } = Owner.prototype;
  // The model's answer is stored before, so that the start of the call carries nothing else.
  let flush = async (): Promise<unknown> => undefined;
  Owner.prototype.view = function (...given) {
    flush = () => this.flush();
    return view.apply(this, given);
  };
  ToolCalls.prototype.judge = async function (...given): Promise<void> {
    await flush();
    coverage.begin();
    return judge.apply(this, given);
  };
  Owner.prototype.defer = function (commit) {
    defer.call(this, commit);
    if (commit.events.some(({ kind }) => kind === "TOOL_END")) ended.resolve(coverage.end());
  };
  const app = await startWalked();
  await send(app);
  const ran = await ended.promise;
  await app.close();
  return ran;
}

/** A server with one agent's template, whose model makes one call. */
async function startWalked(): Promise<App> {
  let steps = 0;
  const model: Model = {
    name: "walked",
    price: null,
    async *stream() {
      steps += 1;
      if (steps === 1) yield { type: "tool_use", block: 0, id: "call", name: "own", arguments: "{}" };
      yield { type: "end", stopReason: steps === 1 ? "tool_use" : "end_turn", usage: NO_TOKENS };
    },
  };
  const tool = defineTool<Record<string, never>>({
    name: "own",
    description: "Does nothing.",
    readOnly: true,
    inputSchema: { type: "object", required: [], properties: {} },
    run: () => ({ output: "done", details: null }),
  });
  const environment = {
    port: 0,
    host: "127.0.0.1",
    database: { kind: "embedded", folder: join(folder, "pglite") },
    dataFolder: join(folder, "data"),
    programsFolder: join(folder, "data"),
    configPath: "walk",
    folder,
    anthropic: null,
    openai: null,
  } as const;
  const settings = await makeSettings(environment, join(folder, "triplane.config.ts"), {
    models: { walked: { provider: "scripted", script: { replies: [{ when: {}, say: [""] }] } } },
    templates: { assistant: { systemPrompt: "You are walked.", model: "walked", permission: { mode: "auto" } } },
    tools: [tool],
    defaultWorkspace: folder,
  });
  return startApp(settings, { models: new Map([["walked", model]]) });
}

async function send({ services, wake }: App): Promise<void> {
  const actor = { id: "anna", kind: "USER", tenant: "local", roles: ["admin"], delegators: [] } as const;
  const unsaid = {
    workspace: null,
    model: null,
    toolTimeoutMs: null,
    permission: null,
    title: null,
    hooks: [],
    idempotencyKey: null,
  };
  const created = await createAgent(services.of(actor.tenant), actor, { templateId: "assistant", ...unsaid });
  if (!created.ok) throw new Error(created.refusal.message);
  const agentId = created.value.id;
  await sendMessage(services.of(actor.tenant), actor, {
    agentId,
    text: "go",
    images: [],
    outputSchema: null,
    idempotencyKey: null,
  });
  wake({ agentId, tenant: actor.tenant });
}

/** A walk as ARCHITECTURE.md tells it: the numbered list below its heading. */
async function toldWalk(heading: string): Promise<readonly Place[]> {
  const text = await readFile(join(ROOT, "ARCHITECTURE.md"), "utf8");
  const [, section = ""] = new RegExp(`^### ${heading}$([^]*?)(?=^##)`, "m").exec(text) ?? [];
  return [...section.matchAll(/^\d+\. `([\w/.-]+)` `((?:get )?[#\w]+)`/gm)].map(([, file = "", name = ""]) => ({
    file: join(WING, file),
    name,
  }));
}

function differences(ran: ReadonlyMap<string, ReadonlySet<string>>, told: readonly Place[]): readonly string[] {
  const files = new Set(told.map(({ file }) => file));
  return [
    ...[...ran.keys()]
      .filter((file) => !files.has(file))
      .map((file) => `the call passes ${file}, and the walk does not tell of it`),
    ...told
      .filter(({ file, name }) => ran.get(file)?.has(name) !== true)
      .map(({ file, name }) => `the walk tells of ${name} in ${file}, and the call does not pass it`),
  ];
}

/** The places of a walk that are not there: their file, or the function in it. */
async function missing(told: readonly Place[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { file, name } of told) {
    const text = await readFile(join(ROOT, file), "utf8").catch(() => "");
    if (!text.includes(`${name}(`)) problems.push(`the walk tells of ${name} in ${file}, which is not there`);
  }
  return told.length === 0 ? ["the walk is not told"] : problems;
}

function tooLong(told: readonly Place[]): readonly string[] {
  const passed = told.filter(({ file }, index) => told[index - 1]?.file !== file).map(({ file }) => file);
  const files = new Set(passed).size;
  const returns = passed.length - files;
  console.log(`one tool call passes ${files} files, and returns ${returns} times to one that it has left`);
  return [
    ...(files > MOST.files ? [`${files} files are more than ${MOST.files}`] : []),
    ...(returns > MOST.returns ? [`${returns} returns are more than ${MOST.returns}`] : []),
  ];
}
