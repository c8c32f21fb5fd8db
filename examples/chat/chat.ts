import { resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { parseArgs } from "node:util";
import type { ResumeStatus } from "../../clients/src/index.ts";
import { defaultUrl, describe, socketUrl, TerminalError } from "../demo/server.ts";
import { Conversation, type Question } from "./conversation.ts";
import type { ChatEvent } from "./operations.ts";
import { Screen } from "./screen.ts";

const HELP = `npm run chat -- [options]
  --agent ID        an agent that is there; a new one where omitted
  --since CURSOR    show what happened after this cursor first; 0 is the beginning
  --template NAME   what a new agent is made from (assistant)
  --workspace DIR   the folder in which a new agent works
  --url URL         the server (http://127.0.0.1:PORT/graphql; PORT from the environment, else 4000)
  --token TOKEN     where the server asks for one

Type a message and press Enter, also while the agent works. Where it asks, press y or n.
Ctrl-C interrupts the agent; when it is idle, it ends the chat, as Ctrl-D does.`;

/** A person at a terminal, or lines from a pipe, and an agent. */
class Chat {
  readonly #conversation: Conversation;
  readonly #screen: Screen;
  readonly #terminal: Interface;
  readonly #isTerminal: boolean;
  readonly #ended = Promise.withResolvers<void>();
  /** Texts of one's own that the server has not yet told back. */
  readonly #own: string[] = [];
  readonly #questions = new Map<string, Question>();
  #isWorking: boolean;
  #hasInputEnded = false;
  #isLost = false;

  constructor(conversation: Conversation, screen: Screen, terminal: Interface, isTerminal: boolean) {
    this.#conversation = conversation;
    this.#screen = screen;
    this.#terminal = terminal;
    this.#isTerminal = isTerminal;
    this.#isWorking = conversation.agent.state !== "READY";
  }

  async run(since: string | null): Promise<void> {
    const { agent } = this.#conversation;
    this.#screen.line(`Agent ${agent.id} works in ${agent.workspace} with the model ${agent.model}.`);
    this.#terminal.on("line", (line) => this.#guard(this.#said(line)));
    this.#terminal.on("SIGINT", () => this.#guard(this.#interrupted()));
    process.on("SIGINT", () => this.#guard(this.#interrupted()));
    this.#terminal.on("close", () => this.#inputEnded());
    process.stdin.on("keypress", (key: string) => this.#guard(this.#pressed(key)));
    if (since === null) {
      for (const { id, inputHash, reason, input, toolCall } of agent.pendingApprovals)
        this.#ask({ approvalId: id, inputHash }, toolCall.name, reason, input);
    }
    this.#guard(this.#watch(since ?? agent.cursor));
    this.#prompt();
    await this.#ended.promise;
  }

  async #watch(since: string): Promise<void> {
    for await (const event of this.#conversation.events(since, (status) => this.#show(status))) this.#take(event);
  }

  #take(event: ChatEvent): void {
    const screen = this.#screen;
    switch (event.__typename) {
      case "MessageReceived": {
        this.#isWorking = true;
        const own = this.#own.indexOf(event.text);
        if (own >= 0) this.#own.splice(own, 1);
        else screen.line(`> ${event.text}${event.images === 0 ? "" : ` (${event.images} images)`}`);
        return;
      }
      case "TextChunk":
        return screen.text(event.delta);
      case "TextChunkEnd":
        return screen.line(event.aborted ? " … (broken off)" : "");
      case "ThinkChunkStart":
        return screen.started("thinking", "thinking");
      case "ThinkChunkEnd":
        return screen.stopped("thinking");
      case "ToolStart":
        return screen.started(event.call.callId, `${event.call.name} ${event.call.inputPreview}`);
      case "ToolEnd": {
        const { callId, name, inputPreview, state, durationMs, error } = event.call;
        screen.stopped(callId);
        return screen.line(
          `[${name}] ${inputPreview} ${state}${durationMs === null ? "" : ` in ${durationMs.toFixed(0)} ms`}${error === null ? "" : `: ${error.message}`}`,
        );
      }
      case "PermissionRequired":
        if (event.approval?.state === "PENDING")
          this.#ask(event.request, event.request.call.name, event.request.reason, event.approval.input);
        return;
      case "PermissionDecided":
        this.#questions.delete(event.approvalId);
        return screen.line(
          `→ ${event.decision === "ALLOW" ? "allowed" : "denied"} by ${event.decidedBy?.id ?? "somebody"}${event.note === null ? "" : `: ${event.note}`}`,
        );
      case "Error":
        return screen.line(`${event.severity}: ${event.message}`);
      case "Done":
        this.#isWorking = false;
        this.#questions.clear();
        if (event.reason !== "COMPLETED") screen.line(`(the turn ended: ${event.reason})`);
        if (this.#hasInputEnded) return this.#ended.resolve();
        return this.#prompt();
      default:
        return;
    }
  }

  #ask(question: Question, tool: string, reason: string, input: unknown): void {
    this.#questions.set(question.approvalId, question);
    this.#screen.line(`May ${tool} run? (${reason})\n${JSON.stringify(input, null, 2)}\n[y/n]`);
  }

  /** By key at a terminal; otherwise by a line. */
  async #pressed(key: string): Promise<void> {
    const [question] = this.#questions.values();
    if (!this.#isTerminal || question === undefined || this.#terminal.line.length > 1 || (key !== "y" && key !== "n")) return;
    this.#terminal.write(null, { ctrl: true, name: "u" });
    await this.#decide(question, key === "y");
  }

  async #said(line: string): Promise<void> {
    const text = line.trim();
    const [question] = this.#questions.values();
    if (question !== undefined && /^(y|yes|n|no)$/i.test(text)) return this.#decide(question, /^y/i.test(text));
    if (text === "") return this.#prompt();
    this.#own.push(text);
    this.#isWorking = true;
    await this.#conversation.send(text);
  }

  async #decide(question: Question, isAllowed: boolean): Promise<void> {
    this.#questions.delete(question.approvalId);
    await this.#conversation.decide(question, isAllowed);
  }

  async #interrupted(): Promise<void> {
    if (!this.#isWorking) return this.#ended.resolve();
    this.#screen.line("(interrupting …)");
    await this.#conversation.interrupt();
  }

  /** What was asked last is still answered. */
  #inputEnded(): void {
    this.#hasInputEnded = true;
    if (!this.#isWorking || this.#isTerminal) this.#ended.resolve();
  }

  #show(status: ResumeStatus): void {
    if (status.kind === "lost" && !this.#isLost) this.#screen.line("(the connection was lost; trying again …)");
    if ((status.kind === "caught up" || status.kind === "catching up") && this.#isLost) this.#screen.line("(connected again)");
    if (status.kind === "outage") this.#screen.line(`(the server's database is away since ${status.outage.since})`);
    this.#isLost = status.kind === "lost" || (this.#isLost && status.kind === "connecting");
  }

  #prompt(): void {
    if (this.#isTerminal && !this.#isWorking) this.#terminal.prompt();
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (error instanceof TerminalError) this.#screen.line(`Not done: ${error.message}`);
      else this.#ended.reject(error);
    });
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      agent: { type: "string" },
      since: { type: "string" },
      template: { type: "string", default: "assistant" },
      workspace: { type: "string" },
      url: { type: "string" },
      token: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return console.log(HELP);
  const server = { url: socketUrl(values.url ?? defaultUrl()), token: values.token };
  const calledFrom = process.env["TRIPLANE_CALLED_FROM"] ?? process.cwd();
  const workspace = values.workspace === undefined ? null : resolve(calledFrom, values.workspace);
  const conversation = await Conversation.open(
    server,
    values.agent === undefined ? { templateId: values.template, workspace } : { agentId: values.agent },
  );
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: isTerminal, prompt: "> " });
  const screen = new Screen(process.stdout, isTerminal);
  try {
    await new Chat(conversation, screen, terminal, isTerminal).run(values.since ?? null);
  } finally {
    screen.close();
    terminal.close();
    await conversation.close();
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(`\nThe chat ended: ${describe(error)}`);
  process.exit(1);
}
