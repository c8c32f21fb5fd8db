import { randomUUID } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createClient, type Client } from "graphql-ws";
import WebSocket from "ws";
import { changedFilesText, endedShellText } from "../../clients/src/workspace-news.ts";
import {
  askedText,
  CREATE,
  DECIDE,
  INBOX,
  decisionOf,
  decisionText,
  elsewhereText,
  endedText,
  returnedText,
  startedText,
  type InboxEvent,
  nameOf,
  questionText,
  SEND,
  type TreeEvent,
  WATCH,
  type WatchedEvent,
} from "./operations.ts";
import {
  begin,
  consoleUrl,
  dataOf,
  defaultUrl,
  describe,
  mutate,
  socketUrl,
  TerminalError,
  type Payload,
  type Results,
} from "./server.ts";

const HELP = `npm run demo -- [options]
  --url URL         the server (http://127.0.0.1:PORT/graphql; PORT from the environment, else 4000)
  --token TOKEN     if the server asks for one
  --template NAME   what the agent is made from (assistant, or the first that the server has)
  --workspace DIR   the folder in which the agent works (examples/workspace)
  --message TEXT    what to ask for
                    if none of these three is given, an engineer mends a copy of the example afterwards
  --team            a lead and three workers, with an MCP server, prepare a copy of the example for its release
  --yes | --no      answer every approval
  --monitor         show the monitor plane too`;

type Options = {
  readonly url: string;
  readonly token: string | undefined;
  readonly task: Task;
  readonly shows: "task" | "task and engineer" | "team";
  readonly answer: "yes" | "no" | "ask";
  readonly showsMonitor: boolean;
};

/** The work of one agent. */
type Task = { readonly template: string | undefined; readonly workspace: string; readonly message: string };

/** The project on which agents work if no other is named. */
const EXAMPLE = fileURLToPath(new URL("../workspace", import.meta.url));

try {
  const options = readOptions();
  if (options === null) console.log(HELP);
  else await runDemo(options);
} catch (error) {
  console.error(`\nThe demo failed: ${describe(error)}`);
  process.exitCode = 1;
}

function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      token: { type: "string" },
      template: { type: "string" },
      workspace: { type: "string" },
      message: { type: "string" },
      team: { type: "boolean", default: false },
      yes: { type: "boolean", default: false },
      no: { type: "boolean", default: false },
      monitor: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  if (values.yes && values.no) throw new TerminalError("give --yes or --no, not both");
  const isWhole = [values.template, values.workspace, values.message].every((value) => value === undefined);
  if (values.team && !isWhole) throw new TerminalError("give --team without --template, --workspace and --message");
  const calledFrom = process.env["TRIPLANE_CALLED_FROM"] ?? process.cwd();
  return {
    url: socketUrl(values.url ?? defaultUrl()),
    token: values.token,
    task: {
      template: values.template,
      workspace: values.workspace === undefined ? EXAMPLE : resolve(calledFrom, values.workspace),
      message: values.message ?? "Find every TODO and make a todo for each.",
    },
    shows: values.team ? "team" : isWhole ? "task and engineer" : "task",
    answer: values.yes ? "yes" : values.no ? "no" : "ask",
    showsMonitor: values.monitor,
  };
}

async function runDemo(options: Options): Promise<void> {
  const client = createClient({
    url: options.url,
    webSocketImpl: WebSocket,
    lazy: false,
    onNonLazyError: () => {},
    retryAttempts: 0,
    connectionParams: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
  });
  try {
    if (options.shows === "team") {
      await runOnCopy(client, { template: "lead", message: "Prepare the release." }, options);
      return;
    }
    const { templates } = await runTask(client, options.task, options);
    if (options.shows === "task" || !templates.includes("engineer")) return;
    console.log("\nAnother agent, an engineer, works on a copy of the example.\n");
    await runOnCopy(client, { template: "engineer", message: "Mend the test that fails." }, options);
  } finally {
    await client.dispose();
  }
}

/** Lets an agent work on a copy of the example, which is removed afterwards. */
async function runOnCopy(client: Client, task: Omit<Task, "workspace">, options: Options): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "triplane-demo-"));
  try {
    await cp(EXAMPLE, folder, { recursive: true });
    await runTask(client, { ...task, workspace: folder }, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Watched = { readonly timeline: { readonly events: readonly TreeEvent[] } };
type Inbox = { readonly control: { readonly events: readonly InboxEvent[] } };

/** Shows one agent at its work, until its turn is done. Gives the templates of the server. */
async function runTask(client: Client, task: Task, options: Options): Promise<{ readonly templates: readonly string[] }> {
  const { who, templateId, templates } = await begin(client, task.template);
  const { agent, cursor } = await create(client, templateId, task.workspace);
  console.log(
    `You are ${who}.\nAgent ${agent.id} works in ${agent.workspace} with the model ${agent.model}.\nWatch it at ${consoleUrl(options.url, agent.id)}\n\n> ${task.message}\n`,
  );
  const events = client.iterate<Watched>({
    query: WATCH,
    variables: { agentId: agent.id, since: cursor },
  });
  const inbox = client.iterate<Inbox>({ query: INBOX, variables: { since: cursor } });
  await mutate(client, SEND, { agentId: agent.id, text: task.message, idempotencyKey: randomUUID() });
  try {
    await Promise.race([showTurn(events, agent.id, client, options), decideForChildren(inbox, agent.id, client, options)]);
  } finally {
    void inbox.return?.();
  }
  return { templates };
}

/** Shows the events of an agent and the calls of its children, until its turn is done. */
async function showTurn(pages: Results<Watched>, agentId: string, client: Client, options: Options): Promise<void> {
  const children = new Map<string, string>();
  for await (const { timeline } of dataOf(pages)) {
    for (const event of timeline.events) {
      if (event.agent?.id !== agentId) {
        const child = children.get(event.agent?.id ?? "");
        if (event.__typename === "ToolEnd" && child !== undefined) console.log(`${child}: ${endedText(event.call)}`);
        continue;
      }
      if (event.__typename === "AgentSpawned") children.set(event.childId, event.description);
      if (event.__typename === "AgentReturned") console.log(`${returnedText(children.get(event.childId) ?? "", event)}\n`);
      else await show(event, client, options);
      if (event.__typename === "Done") return;
    }
  }
  throw new TerminalError("the stream ended before the turn was done");
}

/** Asks in one inbox about all that the children of an agent ask for. Does not end. */
async function decideForChildren(pages: Results<Inbox>, parentId: string, client: Client, options: Options): Promise<void> {
  for await (const { control } of dataOf(pages)) {
    for (const event of control.events) {
      if (event.__typename !== "PermissionRequired" || event.agent?.parent?.id !== parentId) continue;
      console.log(`The agent for "${event.agent.title ?? ""}" asks:`);
      await decide(event, client, options);
    }
  }
  throw new TerminalError("the inbox ended before the turn was done");
}

type Created = {
  readonly agent: { readonly id: string; readonly workspace: string; readonly model: string };
  readonly cursor: string;
};

async function create(client: Client, templateId: string, workspace: string): Promise<Created> {
  try {
    const input = { templateId, workspace, idempotencyKey: randomUUID() };
    return (await mutate<{ createAgent: Payload & Created }>(client, CREATE, input)).createAgent;
  } catch (error) {
    if (workspace !== EXAMPLE || !(error instanceof TerminalError)) throw error;
    throw new TerminalError(`${error.message} (with --workspace DIR), or talk with an agent: npm run chat`);
  }
}

async function show(event: WatchedEvent, client: Client, options: Options): Promise<void> {
  if (event.channel === "MONITOR") {
    if (options.showsMonitor) console.log(`  · ${event.seq} ${event.kind} ${monitorText(event)}`);
    else if (event.__typename === "ErrorRaised") console.error(`${event.severity}: ${event.message}`);
    return;
  }
  switch (event.__typename) {
    case "TextChunk":
      process.stdout.write(event.delta);
      return;
    case "TextChunkEnd":
      console.log(event.aborted ? " … (aborted)\n" : "\n");
      return;
    case "ToolStart":
      console.log(`[${event.call.name}] ${event.call.inputPreview ?? ""}`);
      return;
    case "ToolWaiting":
      // The beginning of a child is told by an event of its own.
      if (event.waitsFor === "CHILD") return;
      console.log(`[${event.call.name}] waits for an answer from elsewhere`);
      return;
    case "ToolEnd":
      return console.log(`${endedText(event.call)}\n`);
    case "PermissionRequired":
      return decide(event, client, options);
    case "AgentSpawned":
      return console.log(startedText(event));
    case "Done":
      if (event.reason !== "COMPLETED") throw new TerminalError(`the turn ended with ${event.reason}`);
      console.log(`Done after ${event.step} ${event.step === 1 ? "step" : "steps"}.`);
      return;
    default:
      return;
  }
}

async function decide(
  { request, approval }: WatchedEvent & { __typename: "PermissionRequired" },
  client: Client,
  options: Options,
): Promise<void> {
  const { approvalId, kind, inputHash, reason } = request;
  const name = nameOf(request);
  const reasons = approval?.viewerCannotDecideReasons ?? [];
  if (reasons.length > 0) return console.log(`${elsewhereText(name, reason, reasons)}\n`);
  console.log(`${questionText(kind, name)} (${reason ?? "why is no longer known"})\n${askedText(approval)}`);
  const isAllowed = options.answer === "ask" ? await ask() : options.answer === "yes";
  const decision = decisionOf(kind, isAllowed);
  await mutate(client, DECIDE, {
    approvalId,
    decision,
    inputHash,
    // A yes to the form of a tool gives its defaults.
    ...(kind === "TOOL_INPUT" && isAllowed ? { values: {} } : {}),
  });
  console.log(`→ ${decisionText(decision)}\n`);
}

async function ask(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new TerminalError("the agent asks for an approval, and there is no terminal to ask at: give --yes or --no");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (;;) {
      const answer = (await terminal.question("Allow? [y/n] ")).trim().toLowerCase();
      if (answer === "y" || answer === "yes") return true;
      if (answer === "n" || answer === "no") return false;
    }
  } finally {
    terminal.close();
  }
}

function monitorText(event: WatchedEvent): string {
  switch (event.__typename) {
    case "StateChanged":
      return `${event.previousState} → ${event.state}`;
    case "TokensUsed":
      return `${event.inputTokens} in, ${event.outputTokens} out`;
    case "FileChanged":
      return changedFilesText(event);
    case "ShellStarted":
      return `${event.command ?? "(erased)"} runs in the background`;
    case "ShellEnded":
      return `${event.command ?? "(erased)"} ${endedShellText(event)}`;
    case "TodoChanged":
      return `${event.todos.length} todos`;
    case "ToolExecuted":
      return `${event.call.name} ${event.call.state}`;
    case "BreakpointChanged":
      return `${event.previousBreakpoint} → ${event.breakpoint}`;
    case "StepComplete":
      return `after ${event.durationMs.toFixed(0)} ms (${event.stopReason})`;
    case "ErrorRaised":
      return `${event.severity} ${event.phase}: ${event.message}`;
    default:
      return "";
  }
}
