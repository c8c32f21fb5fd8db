import { resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { parseArgs } from "node:util";
import type { ResumeStatus } from "../../clients/src/index.ts";
import { cacheText, compactionText, contextText } from "../../clients/src/compaction.ts";
import { changedFilesText, endedShellText } from "../../clients/src/workspace-news.ts";
import { defaultUrl, describe, RefusedError, socketUrl, TerminalError } from "../demo/server.ts";
import { answerIn, askedUser, askedUserText, type AskedUser, type WaitingCall } from "./asked-user.ts";
import { Conversation, type Question } from "./conversation.ts";
import { Children, type TreeEvent } from "./children.ts";
import { formOf, formText, saidIn, waysOf, wrongFieldsText, type Said } from "./asked-input.ts";
import { askedText, decisionText, elsewhereText, nameOf, questionText } from "../demo/operations.ts";
import type { ApprovalEvent, ChatEvent } from "./operations.ts";
import { Screen } from "./screen.ts";

const HELP = `npm run chat -- [options]
  --agent ID        an agent that is there; a new one if omitted
  --since CURSOR    show what happened after this cursor first; 0 is the beginning
  --template NAME   what a new agent is made from (assistant, or the first that the server has)
  --workspace DIR   the folder in which a new agent works; the server's own if omitted
  --url URL         the server (http://127.0.0.1:PORT/graphql; PORT from the environment, else 4000)
  --token TOKEN     if the server asks for one

Type a message and press Enter, also while the agent works. If it asks for a permission, press y or n;
if it asks you a question (ask_user), type the answer; to the form of a tool, name=value; name=value.
/compact has the older conversation summarised; /compact TEXT says what the summary should keep.
Ctrl-C interrupts the agent; when it is idle, it ends the chat, as Ctrl-D does.
/stop interrupts the agent and all that it has started, also in the background.
Lines from a pipe go one after the other: a message when the agent is idle, y or n, or an answer, when it asks.`;

/** The line that interrupts all agents. */
const STOP = "/stop";
const COMPACT = "/compact";

/** A key counts as an answer when no other follows within so many ms: it may be the first of a message. */
const KEY_MS = 250;

/** A person at a terminal, or lines from a pipe, and an agent. */
class Chat {
  readonly #conversation: Conversation;
  readonly #screen: Screen;
  readonly #terminal: Interface;
  readonly #isTerminal: boolean;
  readonly #ended = Promise.withResolvers<void>();
  /** The size of the context, and of the model's window, in tokens; null if unknown. */
  #context: { readonly tokens: number | null; readonly window: number | null } = { tokens: null, window: null };
  #cache: { readonly share: number | null; readonly miss: string | null } = { share: null, miss: null };
  /** Lines of a pipe that wait for their turn. */
  readonly #lines: string[] = [];
  /** Texts of one's own that the log has not yet told back. */
  readonly #own: string[] = [];
  /** One's own messages that no DONE has answered yet, and nobody has taken back. */
  readonly #unanswered = new Set<string>();
  /** Messages that are over while one is sent: perhaps that one, before the server has said its id. */
  readonly #overMeanwhile = new Set<string>();
  /** What is asked, oldest first: only the first of them stands on the screen. */
  readonly #questions = new Map<string, Question>();
  /** The questions of `ask_user` that wait, by their calls, oldest first. */
  readonly #asked = new Map<string, AskedUser>();
  readonly #tools = new Map<string, string>();
  readonly #children = new Children();
  /** One's own decisions that the log has not yet told back. */
  readonly #deciding = new Set<string>();
  #shown: string | null = null;
  /** Whether a key has just answered: what else of that line comes is no message. */
  #hasKeyAnswered = false;
  /** True while a turn is under way, and from a message on that waits for its turn. */
  #isWorking: boolean;
  /** True while a turn is under way. */
  #isInTurn: boolean;
  #isSending = false;
  #hasInputEnded = false;
  #isLost = false;
  #isCaughtUp = false;

  constructor(conversation: Conversation, screen: Screen, terminal: Interface, isTerminal: boolean) {
    this.#conversation = conversation;
    this.#screen = screen;
    this.#terminal = terminal;
    screen.restsWhile(() => this.#questions.size + this.#asked.size > 0);
    this.#isTerminal = isTerminal;
    this.#isInTurn = conversation.agent.state !== "READY";
    this.#isWorking = this.#isInTurn;
  }

  async run(since: string | null): Promise<void> {
    const { agent } = this.#conversation;
    this.#screen.line(
      `Agent ${agent.id} works in ${agent.workspace} with the model ${agent.model}, of the template ${agent.template.templateId}.`,
    );
    if (this.#isTerminal)
      this.#screen.line("Type a message, for example: Find every TODO and make a todo for each. Ctrl-C interrupts, Ctrl-D ends.");
    this.#terminal.on("line", (line) => this.#typed(line.trim()));
    this.#terminal.on("SIGINT", () => this.#interrupted());
    process.on("SIGINT", () => this.#interrupted());
    this.#terminal.on("close", () => {
      this.#hasInputEnded = true;
      if (this.#isTerminal) this.#ended.resolve();
      else this.#goOn();
    });
    process.stdin.on("keypress", (key: string) => this.#pressed(key));
    for (const { id, toolCall, viewerCannotDecideReasons: reasons, ...asked } of agent.pendingApprovals)
      this.#ask(
        {
          approvalId: id,
          agentId: agent.id,
          path: null,
          tool: nameOf({ host: null, port: null, ...asked.subject, call: toolCall }),
          ...asked,
          inputText: asked.kind === "BUDGET" ? "" : askedText(asked),
          form: formOf(asked.form),
        },
        reasons,
      );
    for (const call of this.#conversation.waiting) this.#askUser(call);
    for (const watching of [this.#watch(since ?? agent.cursor), this.#watchTree()])
      watching.catch((error: unknown) => this.#ended.reject(error));
    this.#prompt();
    await this.#ended.promise;
  }

  async #watch(since: string): Promise<void> {
    for await (const { events, caughtUp } of this.#conversation.pages(since, (status) => this.#show(status))) {
      for (const event of events) this.#take(event);
      if (!caughtUp || this.#isCaughtUp) continue;
      this.#isCaughtUp = true;
      this.#goOn();
    }
  }

  async #watchTree(): Promise<void> {
    let isNew = false;
    for await (const { events, caughtUp } of this.#conversation.treePages()) {
      for (const event of events) this.#takeOfTree(event, isNew);
      isNew ||= caughtUp;
    }
  }

  /** Tells of the agents below. Of the past only open questions are told. */
  #takeOfTree(event: TreeEvent, isNew: boolean): void {
    const agentId = event.agent?.id ?? "";
    if (event.__typename === "AgentSpawned") {
      const line = this.#children.started(event, agentId);
      if (isNew) this.#screen.line(line);
      return;
    }
    if (event.__typename === "AgentReturned") {
      if (isNew) this.#screen.line(this.#children.returned(event));
      return;
    }
    // The agent's own are told with its other events.
    const path = this.#children.pathOf(agentId);
    if (path === null) return;
    if (event.__typename === "Done") this.#closeQuestions(agentId);
    else if (event.__typename === "PermissionRequired" || isNew) this.#takeApproval(event, agentId, path);
  }

  #take(event: ChatEvent): void {
    const screen = this.#screen;
    switch (event.__typename) {
      case "MessageReceived": {
        this.#isWorking = true;
        const own = this.#own.indexOf(event.text ?? "");
        if (own >= 0) this.#own.splice(own, 1);
        else screen.line(`> ${event.text ?? "(erased)"}${event.images === 0 ? "" : ` (${event.images} images)`}`);
        return;
      }
      case "MessageWithdrawn":
        screen.line(`(a message that waited was taken back by ${event.withdrawnBy.name ?? event.withdrawnBy.actorId})`);
        this.#over(event.messageId);
        this.#isWorking = this.#isInTurn || this.#isSending || this.#unanswered.size > 0;
        this.#goOn();
        return this.#prompt();
      case "TextChunk":
        return screen.text(event.delta);
      case "TextChunkEnd":
        return screen.line(event.aborted ? " … (broken off)" : "");
      case "ThinkChunkStart":
        return screen.started("thinking", "thinking");
      case "ThinkChunkEnd":
        return screen.stopped("thinking");
      case "ToolStart":
        return screen.started(event.call.callId, `${event.call.name} ${event.call.inputPreview ?? ""}`);
      case "ToolWaiting":
        screen.stopped(event.call.callId);
        if (event.toolCall !== null) this.#askUser(event.toolCall);
        return;
      case "ToolEnd": {
        const { callId, name, inputPreview, state, durationMs, cachedFrom, error } = event.call;
        screen.stopped(callId);
        this.#asked.delete(callId);
        const time = durationMs === null ? "" : ` in ${durationMs.toFixed(0)} ms`;
        const cached = cachedFrom === null ? "" : " (cached)";
        return screen.line(
          `[${name}] ${inputPreview ?? ""} ${state}${time}${cached}${error === null ? "" : `: ${error.message ?? ""}`}`,
        );
      }
      case "PermissionRequired":
      case "PermissionDecided":
      case "PermissionClosed":
        return this.#takeApproval(event, this.#conversation.agent.id, null);
      case "ReminderSent":
        return screen.line(`(reminder: ${event.content ?? "erased"})`);
      case "FileChanged":
        return screen.line(`(${changedFilesText(event)})`);
      case "ShellStarted":
        return screen.line(`(${shownCommand(event.command)} runs in the background)`);
      case "ShellEnded":
        return screen.line(`(${shownCommand(event.command)} ${endedShellText(event)})`);
      case "ErrorRaised":
        // CONTEXT_COMPRESSION has said it.
        if (event.detail === "compaction_failed") return;
        return screen.line(`${event.severity}: ${event.message}`);
      case "StepComplete":
        this.#context = { tokens: event.contextTokens, window: event.contextWindow };
        this.#cache = { share: event.cachedShare, miss: event.cacheMiss?.reason ?? null };
        return;
      case "ContextCompression":
        if (event.compressionPhase === "START") return;
        if (event.failureReason !== null) return screen.line(`(the context was not compacted: ${event.failureReason})`);
        this.#context = { ...this.#context, tokens: event.tokensAfter };
        screen.line(`(${compactionText(event)})`);
        return this.#prompt();
      case "StateChanged":
        // A turn may begin without a new message. What its end means is said by DONE.
        this.#isInTurn = event.state !== "READY";
        if (this.#isInTurn) this.#isWorking = true;
        return;
      case "Done":
        this.#isInTurn = false;
        this.#isWorking = false;
        this.#closeQuestions(this.#conversation.agent.id);
        this.#asked.clear();
        for (const id of event.messageIds) this.#over(id);
        if (event.value !== null) screen.line(`value: ${JSON.stringify(event.value, null, 2)}`);
        if (event.reason !== "COMPLETED") screen.line(`(the turn ended: ${event.reason})`);
        for (const { path, message } of event.problems) screen.line(`  ${path}: ${message}`);
        if (this.#meters() !== "") screen.line(`(${this.#meters()})`);
        this.#goOn();
        return this.#prompt();
      default:
        return;
    }
  }

  #meters(): string {
    return [contextText(this.#context), cacheText(this.#cache)].filter(Boolean).join(", ");
  }

  #takeApproval(event: ApprovalEvent, agentId: string, path: string | null): void {
    switch (event.__typename) {
      case "PermissionRequired": {
        const { request, approval } = event;
        const tool = nameOf(request);
        this.#tools.set(request.approvalId, tool);
        if (approval?.state === "PENDING")
          this.#ask(
            {
              ...request,
              agentId,
              path,
              tool,
              inputText: request.kind === "BUDGET" ? "" : askedText(approval),
              form: formOf(approval.form),
            },
            approval.viewerCannotDecideReasons,
          );
        return;
      }
      case "PermissionDecided": {
        const who = event.decidedBy.name ?? event.decidedBy.actorId;
        const tool = this.#tools.get(event.approvalId) ?? "the call";
        this.#screen.line(`→ ${tool} ${decisionText(event.decision)} by ${who}${event.note === null ? "" : `: ${event.note}`}`);
        if (event.missingDecisions === 0) return this.#answered(event.approvalId);
        this.#screen.line(`(${event.missingDecisions} more must allow it)`);
        this.#deciding.delete(event.approvalId);
        return this.#goOn();
      }
      case "PermissionClosed":
        this.#screen.line(`→ ${this.#tools.get(event.approvalId) ?? "the call"} ${event.approvalState.toLowerCase()}`);
        return this.#answered(event.approvalId);
    }
  }

  /** The turn of an agent has ended: a program in the background may still ask for a host. If not, an event says so. */
  #closeQuestions(agentId: string): void {
    for (const { approvalId, kind, agentId: asking } of this.#questions.values())
      if (asking === agentId && kind !== "NETWORK_HOST") this.#questions.delete(approvalId);
    if (this.#shown !== null && !this.#questions.has(this.#shown)) this.#shown = null;
    this.#showQuestion();
  }

  /** A message was answered, or taken back. */
  #over(messageId: string): void {
    if (!this.#unanswered.delete(messageId) && this.#isSending) this.#overMeanwhile.add(messageId);
  }

  /** Asks who may decide; tells who may not, for these reasons, that somebody else must. */
  #ask(question: Question, cannotDecide: readonly string[]): void {
    this.#tools.set(question.approvalId, question.tool);
    if (cannotDecide.length > 0) this.#screen.line(elsewhereText(question.tool, question.reason, cannotDecide));
    else this.#questions.set(question.approvalId, question);
    this.#showQuestion();
    this.#goOn();
  }

  /** Shows a question of the model to the person, once. */
  #askUser(call: WaitingCall): void {
    const asked = askedUser(call);
    if (asked === null || this.#asked.has(asked.callId)) return;
    this.#asked.set(asked.callId, asked);
    this.#screen.line(askedUserText(asked));
    this.#goOn();
  }

  /** One at a time, so that an answer is for what was read. */
  #showQuestion(): void {
    const [question] = this.#questions.values();
    if (question === undefined || this.#shown === question.approvalId) return;
    this.#shown = question.approvalId;
    const who = question.path === null ? "" : `${question.path} asks: `;
    const asked = `${who}${questionText(question.kind, question.tool)}`;
    this.#screen.line(
      `${asked} (${question.reason ?? "why is no longer known"})\n${question.inputText}${formText(question)}\n${question.tool}: [${waysOf(question)}]`,
    );
  }

  #answered(approvalId: string): void {
    this.#questions.delete(approvalId);
    this.#deciding.delete(approvalId);
    if (this.#shown === approvalId) this.#shown = null;
    this.#showQuestion();
    this.#goOn();
  }

  /** A key alone answers what is asked. */
  #pressed(key: string): void {
    const [question] = this.#questions.values();
    if (!this.#isTerminal || question === undefined || (key !== "y" && key !== "n")) return;
    setTimeout(() => {
      if (this.#terminal.line !== key || this.#shown !== question.approvalId) return;
      this.#terminal.write(null, { ctrl: true, name: "u" });
      this.#hasKeyAnswered = true;
      this.#do(() => this.#decide(question, saidIn(question, key) ?? false));
    }, KEY_MS);
  }

  #typed(text: string): void {
    const isRest = this.#hasKeyAnswered && /^(es|o)?$/i.test(text);
    this.#hasKeyAnswered = false;
    if (isRest) return;
    if (!this.#isTerminal) {
      this.#lines.push(text);
      return this.#goOn();
    }
    const [question] = this.#questions.values();
    const answer = question === undefined ? null : saidIn(question, text);
    if (question !== undefined && answer !== null) this.#do(() => this.#decide(question, answer));
    else if (text === STOP) this.#do(() => this.#stop());
    else if (text === "") this.#prompt();
    else if (isUnknownCommand(text)) this.#screen.line(unknownCommandText(text));
    else if (question !== undefined && question.form !== null)
      this.#screen.line(`Not done: ${question.tool} waits for ${waysOf(question)}`);
    else if (this.#nextAsked !== undefined) this.#do(() => this.#answerUser(text));
    else this.#do(() => this.#send(text));
  }

  /** The next line of a pipe, once the agent is idle or asks; the end, once all is answered. */
  #goOn(): void {
    if (this.#isTerminal || this.#isSending) return;
    const [question] = this.#questions.values();
    const next = this.#lines[0];
    if (next === STOP && (question !== undefined || !this.#isWorking)) {
      this.#lines.shift();
      this.#do(() => this.#stop());
    } else if (question !== undefined && next !== undefined) {
      this.#lines.shift();
      // The line may come before the answer to an earlier question is known: no question is decided unseen.
      if (this.#shown !== question.approvalId) {
        this.#shown = null;
        this.#showQuestion();
      }
      const answer = saidIn(question, next);
      if (answer === null)
        this.#ended.reject(new TerminalError(`${question.tool} waits for ${waysOf(question)}, and the next line is: ${next}`));
      else this.#do(() => this.#decide(question, answer));
    } else if (this.#nextAsked !== undefined && next !== undefined) {
      this.#lines.shift();
      if (next === "") this.#goOn();
      else this.#do(() => this.#answerUser(next));
    } else if (question === undefined && next !== undefined && !this.#isWorking && this.#unanswered.size === 0) {
      this.#lines.shift();
      if (isUnknownCommand(next)) this.#ended.reject(new TerminalError(unknownCommandText(next)));
      else if (next === "") this.#goOn();
      else this.#do(() => this.#send(next));
    } else if (this.#hasInputEnded && next === undefined) {
      if (question !== undefined || this.#nextAsked !== undefined)
        this.#ended.reject(
          new TerminalError(
            `${question?.tool ?? "ask_user"} waits for an answer, and there is no more input: it can still be ${question === undefined ? "answered" : "decided"} elsewhere`,
          ),
        );
      else if (this.#isCaughtUp && !this.#isWorking && this.#unanswered.size + this.#deciding.size === 0) this.#ended.resolve();
    }
  }

  async #send(text: string): Promise<void> {
    const compact = /^\/compact(?:\s+(.*))?$/s.exec(text);
    if (compact !== null) {
      await this.#conversation.compact(compact[1] ?? null);
      this.#prompt();
      return this.#goOn();
    }
    this.#own.push(text);
    this.#isWorking = true;
    this.#isSending = true;
    try {
      const id = await this.#conversation.send(text);
      if (!this.#overMeanwhile.has(id)) this.#unanswered.add(id);
    } catch (error) {
      this.#own.splice(this.#own.indexOf(text), 1);
      this.#isWorking = this.#isInTurn || this.#unanswered.size > 0;
      throw error;
    } finally {
      this.#isSending = false;
      this.#overMeanwhile.clear();
    }
    this.#goOn();
  }

  async #decide(question: Question, said: Said): Promise<void> {
    this.#questions.delete(question.approvalId);
    this.#deciding.add(question.approvalId);
    try {
      await this.#conversation.decide(question, said);
    } catch (error) {
      this.#deciding.delete(question.approvalId);
      this.#askAgain(question, error);
      throw error;
    }
  }

  /** After a refusal of values only the wrong fields are shown, if no other question stands there meanwhile. */
  #askAgain(question: Question, error: unknown): void {
    const wrong = error instanceof RefusedError ? wrongFieldsText(question, error.userErrors) : "";
    const isAlone = this.#shown === question.approvalId && this.#questions.size === 0;
    if (wrong === "" || !isAlone) this.#shown = null;
    else this.#screen.line(`${wrong}\n${question.tool}: [${waysOf(question)}]`);
    this.#ask(question, []);
  }

  get #nextAsked(): AskedUser | undefined {
    return this.#asked.values().next().value;
  }

  /** Answers the oldest question of the model to the person. */
  async #answerUser(text: string): Promise<void> {
    const asked = this.#nextAsked;
    if (asked === undefined) return;
    this.#asked.delete(asked.callId);
    try {
      await this.#conversation.answer(asked.callId, answerIn(asked, text));
    } catch (error) {
      this.#asked.set(asked.callId, asked);
      throw error;
    }
    this.#goOn();
  }

  /** Interrupts the agent and all below it. */
  async #stop(): Promise<void> {
    this.#screen.line("(interrupting all agents …)");
    await this.#conversation.interrupt(true);
    this.#goOn();
  }

  #interrupted(): void {
    if (!this.#isWorking || this.#isLost) return this.#ended.resolve();
    this.#screen.line("(interrupting …)");
    this.#do(() => this.#conversation.interrupt());
  }

  #show(status: ResumeStatus): void {
    if (status.kind === "lost" && !this.#isLost) this.#screen.line("(the connection was lost; trying again …)");
    if ((status.kind === "caught up" || status.kind === "catching up") && this.#isLost) this.#screen.line("(connected again)");
    if (status.kind === "outage") this.#screen.line(`(the server's database is away since ${status.outage.since})`);
    this.#isLost = status.kind === "lost" || (this.#isLost && status.kind === "connecting");
  }

  #prompt(): void {
    if (!this.#isTerminal || this.#isWorking) return;
    this.#terminal.prompt(true);
    this.#screen.prompted();
  }

  /** What cannot be done is said, and the chat goes on. */
  #do(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.#screen.line(`Not done: ${describe(error)}`);
      if (!this.#isTerminal) this.#ended.reject(error);
      this.#prompt();
    });
  }
}

/** True for a word after a slash that is no command; a path such as /etc/hosts is a message. */
function isUnknownCommand(text: string): boolean {
  return /^\/[a-z-]+$/i.test(text) && text !== STOP && text !== COMPACT;
}

function unknownCommandText(text: string): string {
  return `Not done: there is no command ${text}. There is ${STOP}, which interrupts all agents, and ${COMPACT}, which summarises the older conversation.`;
}

/** The longest command line that is shown, in characters. */
const SHOWN = 100;

/** A command line in one line. */
function shownCommand(command: string | null): string {
  const [line = ""] = (command ?? "(erased)").split("\n");
  return line.length > SHOWN ? `${line.slice(0, SHOWN).toWellFormed()}…` : line;
}

/** Whether the text allows or denies; null if it is no answer. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      agent: { type: "string" },
      since: { type: "string" },
      template: { type: "string" },
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
    const where = values.url === undefined ? "" : ` --url ${values.url}`;
    const token = values.token === undefined ? "" : " --token TOKEN";
    screen.line(`To go on: npm run chat --${where}${token} --agent ${conversation.agent.id}`);
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
