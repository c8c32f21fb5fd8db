import { aborted } from "../../lib/aborted.ts";
import type { JsonObject } from "../../lib/json.ts";
import { headBytes } from "../../lib/text.ts";
import { growingWait, type Clock } from "../../lib/time.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { ProcessGroup } from "../workspace/process-groups.ts";
import type { CallAnswer, CallTool } from "./call.ts";
import { SessionQuestions } from "./asking/session-questions.ts";
import { HttpRefused } from "./http-refused.ts";
import type { ListedTool } from "./listed-tool.ts";
import { FolderSessions, isSessionGone } from "./folder-sessions.ts";
import { faultText, lostCall, NotSent } from "./lost-call.ts";
import { mcpTool, structureCheckOf } from "./mcp-tool.ts";
import { plainText } from "./plain-text.ts";
import type { McpProcesses } from "./tasks/processes.ts";
import { publish, toolsIn, type RegistryOfTenants, type ServedTool } from "./published-tools.ts";
import { transportOf, type McpTransport, type ServedServer, type ServerState } from "./server-state.ts";
import { withoutSecrets, withoutTokens, type McpServer } from "./server.ts";
import { openSession, sparesQuestion, type McpSession } from "./session.ts";
import { taskServer } from "./tasks/task-server.ts";
import { TaskSessions } from "./tasks/task-sessions.ts";
import type { TaskServer } from "./tasks/task.ts";
import { readTools } from "./tool-list.ts";
import type { StoredVerdict, Verdict } from "./verdicts.ts";

/** In ms. `wait` resolves after a time, or when the signal aborts. */
export type McpTimes = {
  /** The time that a start waits for the first answers: an agent that continues then has their tools. */
  readonly startMs: number;
  /** The first and the longest wait before a server is tried again. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** A connection that lasted so long did not fail at its start. */
  readonly steadyMs: number;
  readonly connectMs: number;
  readonly listMs: number;
  /** The time between two readings of the list; the shortest one if the server says that it changed. */
  readonly againMs: number;
  readonly changedMs: number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type ConnectionParts = {
  /** True for a server of all tenants. */
  readonly isCommon: boolean;
  readonly registries: readonly RegistryOfTenants[];
  readonly start: () => Promise<ProcessGroup>;
  readonly verdict: StoredVerdict;
  readonly processes: Pick<McpProcesses, "begin" | "end">;
  readonly times: McpTimes;
  readonly clock: Clock;
  readonly logger: Logger;
};

/**
 * The connection to one server, kept while this server runs: it connects, reads the tools, and begins again after a
 * failure, each time later. Its tools are in the registries of the tenants that have it; while it is away they are
 * unavailable, with the reason. A tool whose definition is the same stays the same object, so that verdicts hold.
 */
export class McpConnection implements ServedServer {
  readonly #server: McpServer;
  readonly #parts: ConnectionParts;
  readonly #closing = new AbortController();
  #session: McpSession | null = null;
  readonly #folders: FolderSessions;
  readonly #taskSessions = new TaskSessions<McpSession>();
  /** The next connection whose tools are read. */
  #next = Promise.withResolvers<McpSession>();
  #verdict: Verdict | null = null;
  #tools: ReadonlyMap<string, ServedTool> = new Map();
  #notes = "";
  #state: ServerState;
  #changed: () => void = () => {};
  #endWait: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #tried: () => void = () => {};
  /** Resolves after the first try to connect. */
  readonly firstTry = new Promise<void>((resolve) => (this.#tried = resolve));

  constructor(server: McpServer, parts: ConnectionParts) {
    this.#server = server;
    this.#parts = parts;
    this.#state = { kind: "STARTING", since: parts.clock.now(), connectMs: parts.times.connectMs };
    this.#folders = new FolderSessions({
      open: (folder) => this.#open(folder),
      hasTasks: (session) => (session.process === null ? this.#taskSessions.has(session) : this.tasks.has(session.process)),
      onEnded: (session) => parts.processes.end(session),
    });
    this.tasks = taskServer({
      server,
      monotonicMs: () => parts.clock.monotonicMs(),
      session: (process, taskId) =>
        process === null ? (this.#taskSessions.of(taskId ?? "") ?? this.#session) : this.#ofProcess(process),
      onEnded: (taskId) => this.#taskSessions.ended(taskId),
      structureCheck: (tool) => structureCheckOf(this.#tools.get(tool)?.listed.outputSchema ?? null),
      plain: (text) => this.#plain(text),
      onAway: () => this.#changed(),
      warn: (message) => parts.logger.warn(message, { mcpServer: server.name }),
    });
  }

  get name(): string {
    return this.#server.name;
  }

  get isCommon(): boolean {
    return this.#parts.isCommon;
  }

  get transport(): McpTransport | null {
    return this.#state.kind === "CONNECTED" ? this.#state.info.transport : transportOf(this.#server);
  }

  get state(): ServerState {
    return this.#state;
  }

  readonly tasks: TaskServer;
  get toolCount(): number {
    return this.#tools.size;
  }

  open(): void {
    const { name } = this.#server;
    this.#unavailable(`the MCP server ${name} has not answered yet`);
    void this.#showKnown();
    this.#running = this.#keep();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#changed();
    await this.#session?.close();
    await this.#folders.close();
    await this.#running;
  }

  async #keep(): Promise<void> {
    const { times, clock } = this.#parts;
    let tries = 0;
    while (!this.#isClosing) {
      const since = clock.monotonicMs();
      const reason = await this.#hold().catch((error: unknown) => this.#reasonOf(error));
      if (this.#isClosing) return;
      tries = clock.monotonicMs() - since >= times.steadyMs ? 1 : tries + 1;
      const waitMs = growingWait(tries, times.firstMs, times.lastMs);
      const waiting = new AbortController();
      this.#endWait = () => waiting.abort();
      await this.#away(reason, waitMs);
      await times.wait(waitMs, AbortSignal.any([this.#closing.signal, waiting.signal]));
    }
  }

  readonly retry = (): void => {
    if (this.#state.kind !== "AWAY") return;
    const now = this.#parts.clock.now();
    if (now < this.#state.nextTryAt) this.#state = { ...this.#state, nextTryAt: now };
    this.#endWait();
  };

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Holds one connection until it ends, and returns the reason. */
  async #hold(): Promise<string> {
    const { times } = this.#parts;
    const session = await this.#opened();
    let end: string | null = null;
    const closed = session.closed.then((reason) => (end = reason));
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => (this.#changed = resolve));
        if (!this.#isClosing) await this.#list(session);
        // Until its tools are listed, `close` does not know the session.
        if (this.#isClosing) return "the connection was closed";
        const waiting = new AbortController();
        // A server that always says that its list changed is not read without a pause.
        const pause = times.wait(times.changedMs, waiting.signal).then(() => changed);
        await Promise.race([closed, pause, times.wait(times.againMs, waiting.signal)]);
        waiting.abort();
        if (end !== null) return end;
      }
    } finally {
      this.#session = null;
      this.#next = Promise.withResolvers();
      await session.close();
      await this.#parts.processes.end(session);
    }
  }

  async #opened(): Promise<McpSession> {
    const { clock, verdict } = this.#parts;
    try {
      this.#verdict ??= await verdict.read();
      const isSpared = sparesQuestion(this.#verdict, clock.now().getTime());
      const session = await this.#open(null);
      if (!isSpared) {
        this.#verdict = session.verdict;
        await verdict.write(session.verdict);
      }
      return session;
    } catch (error) {
      this.#verdict = null;
      await verdict.forget();
      throw error;
    }
  }

  #open(folder: string | null): Promise<McpSession> {
    const { start, times, clock, processes } = this.#parts;
    return openSession(this.#server, this.#verdict, {
      start,
      onStderr: (line) => this.#log(line),
      onListChanged: () => this.#changed(),
      questions: new SessionQuestions(this.#server, this.#parts),
      processes,
      folder,
      signal: this.#closing.signal,
      connectMs: times.connectMs,
      now: () => clock.now().getTime(),
    });
  }

  #ofProcess(process: string): McpSession | null {
    return this.#session?.process === process ? this.#session : this.#folders.of(process);
  }

  async #list(session: McpSession): Promise<void> {
    const { tools: listed, notes } = await readTools(this.#server, session, this.#parts.times.listMs);
    this.#tools = this.#toolsOf(listed);
    const clashes = this.#parts.registries.flatMap(({ registry }) => publish(registry, this.#server.name, toolsIn(this.#tools)));
    this.#tellNotes([...new Set([...notes, ...clashes])]);
    this.#session = session;
    if (this.#state.kind !== "CONNECTED") this.#state = { kind: "CONNECTED", since: this.#parts.clock.now(), info: session.info };
    this.#tried();
    this.#next.resolve(session);
  }

  #toolsOf(listed: readonly ListedTool[]): ReadonlyMap<string, ServedTool> {
    const before = this.#tools;
    return new Map(
      listed.map((each) => {
        const known = before.get(each.name);
        const isSame = known?.listed.digest === each.digest && known.listed.needsTask === each.needsTask;
        return [each.name, isSame ? known : { listed: each, tool: mcpTool(this.#server, each, this.#call) }];
      }),
    );
  }

  async #away(reason: string, waitMs: number): Promise<void> {
    const now = this.#parts.clock.now();
    const since = this.#state.kind === "AWAY" ? this.#state.since : now;
    this.#state = { kind: "AWAY", since, reason, nextTryAt: new Date(now.getTime() + waitMs) };
    await this.#showKnown();
    const said = `the MCP server ${this.#server.name} is not available: ${reason}`;
    this.#unavailable(said);
    this.#parts.logger.tell("mcp_server_away", said, { mcpServer: this.#server.name });
    this.#tried();
  }

  #unavailable(reason: string): void {
    for (const { registry } of this.#parts.registries) registry.setServerUnavailable(this.#server.name, reason);
  }

  /** Shows the tools that each tenant accepted before, until the server has answered once. */
  async #showKnown(): Promise<void> {
    const { name } = this.#server;
    for (const { registry, known } of this.#parts.registries) {
      const listed = this.#tools.size === 0 ? await known().catch(() => []) : [];
      const reason = registry.serverReason(name);
      if (this.#tools.size > 0 || reason === null || listed.length === 0) continue;
      publish(registry, name, toolsIn(this.#toolsOf(listed)));
      registry.setServerUnavailable(name, reason);
    }
  }

  #tellNotes(notes: readonly string[]): void {
    const { logger } = this.#parts;
    const { name } = this.#server;
    const said = this.#plain(`${this.#verdict?.era ?? ""} ${this.#tools.size} ${notes.join("; ")}`);
    if (said === this.#notes) return;
    this.#notes = said;
    logger.tell("mcp_server", `the MCP server ${name} has tools`, { mcpServer: name, count: this.#tools.size });
    for (const note of notes) logger.warn(`the MCP server ${name}: ${this.#plain(note)}`, { mcpServer: name });
  }

  #log(line: string): void {
    const { name } = this.#server;
    this.#parts.logger.tell("mcp_server_said", `the process of the MCP server ${name} wrote a line`, {
      mcpServer: name,
      reason: this.#plain(line).slice(0, LINE_CHARACTERS),
    });
  }

  #reasonOf(error: unknown): string {
    return this.#plain(error instanceof HttpRefused ? error.message : faultText(error));
  }

  #plain(text: string): string {
    return headBytes(plainText(withoutSecrets(this.#server, text)), REASON_BYTES);
  }

  /** A session that the server does not know any more has not taken the call: the next one does. */
  async #byAnyFolder(
    session: McpSession,
    signal: AbortSignal,
    callOf: (session: McpSession) => Promise<CallAnswer>,
  ): Promise<CallAnswer> {
    try {
      return await callOf(session);
    } catch (error) {
      if (!isSessionGone(error)) throw error;
      if (this.#session === session) await session.close();
      using stopped = aborted(signal);
      return callOf(await Promise.race([this.#next.promise, stopped.promise]));
    }
  }

  readonly #call: CallTool = async (tool, args, by, told) => {
    const { signal } = by;
    const server = { name: this.#server.name, plain: (answer: JsonObject) => withoutTokens(this.#server, answer) };
    const session = this.#session;
    let used = session;
    try {
      if (session === null) throw new NotSent(`the MCP server ${this.#server.name} is not available at present`);
      const callOf = async (held: McpSession): Promise<CallAnswer> => {
        used = held;
        return { answer: await held.call(tool, args, by, told, server), process: held.process };
      };
      const hasFolders = this.#server.roots === "told" && session.verdict.era === "legacy";
      const given = await (hasFolders
        ? this.#folders.during(by.root, signal, callOf)
        : this.#byAnyFolder(session, signal, callOf));
      this.tasks.started(given.answer, given.process);
      if (used !== null) this.#taskSessions.started(given.answer, used);
      return given;
    } catch (error) {
      signal.throwIfAborted();
      // The list is read at once: it shows if the server is away.
      this.#changed();
      throw lostCall(this.#server.name, error, used?.end ?? null, (text) => this.#plain(text), by.answered !== null);
    }
  };
}

const REASON_BYTES = 2_000;

/** The longest line of a process in the log, in characters. */
const LINE_CHARACTERS = 1_000;
