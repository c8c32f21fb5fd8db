import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Client, StandardSchemaV1, Transport } from "@modelcontextprotocol/client";
import { aborted } from "../../lib/aborted.ts";
import { isJsonObject, toJson, type JsonObject } from "../../lib/json.ts";
import { withCause } from "../../lib/text.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { ProcessGroup } from "../workspace/process-groups.ts";
import { NeedsInput } from "../tools/question.ts";
import type { SessionQuestions } from "./asking/session-questions.ts";
import { AskedFolder } from "./asked-folder.ts";
import type { CalledBy, CallProgress } from "./call.ts";
import { HttpRefused, refusedByHttp } from "./http-refused.ts";
import { faultOf, httpTransport, isLostConnection } from "./http-transport.ts";
import { answersOf, continued, elicited, furtherInput, NO_ROUNDS, type Rounds, withAnswer } from "./asking/input-rounds.ts";
import { answerIn } from "./messages/kept-answer.ts";
import { withLenientMessages } from "./messages/lenient-messages.ts";
import type { ListedTool } from "./listed-tool.ts";
import type { McpProcesses } from "./tasks/processes.ts";
import { serverInfo, type ServerInfo } from "./server-state.ts";
import type { McpServer, McpWay } from "./server.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { TASKS_EXTENSION } from "./tasks/task.ts";
import type { Verdict } from "./verdicts.ts";

/** A legacy verdict would hold for ever: an upgraded server still answers the older handshake. */
export const VERDICT_MS = DAY_MS;

/** The time in which a server answers whether it speaks the newer generation, in ms. Silent processes speak the older one. */
const PROBE_MS = 5_000;

/** The longest time of a timer, in ms: the call's own limit ends it. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** The time in which a server ends a session, in ms. */
const END_MS = 1_000;

/** The time in which a server of one folder asks for its roots at its start, in ms. */
const ASK_MS = 1_000;

/** The time in which a server takes in its roots, in ms: it does not say when it has. */
const TAKE_MS = 100;

export type SessionParts = {
  readonly start: () => Promise<ProcessGroup>;
  readonly onStderr: (line: string) => void;
  readonly onListChanged: () => void;
  readonly questions: SessionQuestions;
  readonly processes: Pick<McpProcesses, "begin">;
  /** The folder of all calls; null if they have several. */
  readonly folder: string | null;
  /** Ends the handshake. */
  readonly signal: AbortSignal;
  /** The time for the handshake, in ms. */
  readonly connectMs: number;
  readonly now: () => number;
};

/** The server of a call. `plain` removes its secrets from texts for people. */
export type AskingServer = { readonly name: string; readonly plain: (answer: JsonObject) => JsonObject };

/** The answers to a server of the older generation. */
type AskedOf = { readonly folder: AskedFolder; readonly questions: SessionQuestions };

/** A connection to a server, from the handshake until it is closed. */
export class McpSession {
  readonly verdict: Verdict;
  /** Resolves with the reason when the connection is closed. */
  readonly closed: Promise<string>;
  readonly info: ServerInfo;
  /** The id of its process; null for a server at an address. */
  readonly process: string | null;
  readonly #client: Client;
  readonly #folder: AskedFolder;
  readonly #questions: SessionQuestions;
  #end: string | null = null;

  constructor(
    client: Client,
    asked: AskedOf,
    { verdict, info, closed, process }: Pick<McpSession, "verdict" | "info" | "closed" | "process">,
  ) {
    this.#client = client;
    this.#folder = asked.folder;
    this.#questions = asked.questions;
    this.verdict = verdict;
    this.info = info;
    this.closed = closed;
    this.process = process;
    void closed.then((reason) => (this.#end = reason));
  }

  /** The reason why the connection is closed; null while it is open. */
  get end(): string | null {
    return this.#end;
  }

  /** A page of the tools, of any form. */
  async page(cursor: string | null, timeoutMs: number): Promise<JsonObject> {
    const params = cursor === null ? {} : { cursor };
    return this.request("tools/list", params, timeoutMs);
  }

  /** The answer to a question, of any form. */
  async request(method: string, params: JsonObject, timeoutMs: number): Promise<JsonObject> {
    return answerIn(await refusedByHttp(() => this.#client.request({ method, params }, ANY_OBJECT, { timeout: timeoutMs })));
  }

  /** True for a tool that has to be called as a task, of the older generation: servers of the newer one decide themselves. */
  #isTask({ needsTask }: ListedTool): boolean {
    return (
      needsTask &&
      this.verdict.era === "legacy" &&
      this.#client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
    );
  }

  call(
    tool: ListedTool,
    args: JsonObject,
    by: CalledBy,
    onprogress: (progress: CallProgress) => void,
    server: AskingServer,
  ): Promise<JsonObject | NeedsInput> {
    return this.#folder.during(by.root, () => this.#questions.during(by, () => this.#call(tool, args, by, onprogress, server)));
  }

  async #call(
    tool: ListedTool,
    args: JsonObject,
    { root, signal, answered }: Pick<CalledBy, "root" | "signal" | "answered">,
    onprogress: (progress: CallProgress) => void,
    server: AskingServer,
  ): Promise<JsonObject | NeedsInput> {
    const { ownName, definition } = tool;
    const asTask = this.#isTask(tool) ? { task: { ttl: TASK_MS } } : {};
    const toolDefinition = { name: ownName, inputSchema: definition["inputSchema"] } as never;
    const options = { signal, onprogress, timeout: NO_LIMIT_MS, allowInputRequired: true, toolDefinition };
    let rounds: Rounds = answered === null ? NO_ROUNDS : withAnswer(continued(answered.continuation), answered.answer);
    const began = rounds.sent;
    for (;;) {
      const [next] = rounds.questions;
      if (next !== undefined) return new NeedsInput(next.question, rounds);
      const params = { name: ownName, arguments: args, ...asTask, ...answersOf(rounds) };
      const result: unknown = await refusedByHttp(() => this.#client.callTool(params, options)).catch((error: unknown) => {
        // A round before was taken: it must not be sent again.
        throw rounds.sent === began ? error : new Error(`it was not reached for a further round (${withCause(error)})`);
      });
      if (!isJsonObject(result)) throw new Error("its answer is no object");
      if (result["resultType"] !== "input_required") return answerIn(result);
      const { inputRequests = {}, requestState } = result;
      const asked = isJsonObject(inputRequests) ? server.plain(inputRequests) : inputRequests;
      rounds = furtherInput(rounds, asked, requestState, { server: server.name, root });
    }
  }

  /** Closes the connection. A session at an address is ended there first: some servers have only one. */
  async close(): Promise<void> {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { transport } = this.#client;
    if (transport instanceof StreamableHTTPClientTransport)
      await Promise.race([transport.terminateSession().catch(() => {}), delay(END_MS, undefined, { ref: false })]);
    await this.#client.close().catch(() => {});
  }
}

/** The time for which a server is asked to keep a task, in ms. */
const TASK_MS = DAY_MS;

const ANY_OBJECT: StandardSchemaV1<unknown, JsonObject> = {
  "~standard": {
    version: 1,
    vendor: "triplane",
    validate: (value) => (isJsonObject(value) ? { value } : { issues: [{ message: "it is no object" }] }),
  },
};

type Attempt = { readonly kind: "stdio" | "http" | "sse"; readonly era: "auto" | "legacy" };

/**
 * Connects to a server. `known` spares the question for its generation while it is young. A process that ends at that
 * question is started again for the older handshake. Rejects with the reason.
 */
export async function openSession(server: McpServer, known: Verdict | null, parts: SessionParts): Promise<McpSession> {
  let failure: unknown = null;
  for (const attempt of attemptsOf(server.way.kind, known, parts.now())) {
    if (failure !== null && !isWorthAnother(failure)) break;
    try {
      return await tryToOpen(server, attempt, parts);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** True for a young verdict on the older generation. */
export function sparesQuestion(known: Verdict | null, now: number): boolean {
  return known?.era === "legacy" && now - known.at < VERDICT_MS;
}

function attemptsOf(kind: McpServer["way"]["kind"], known: Verdict | null, now: number): readonly Attempt[] {
  const isLegacy = sparesQuestion(known, now);
  switch (kind) {
    case "stdio":
      return isLegacy
        ? [{ kind, era: "legacy" }]
        : [
            { kind, era: "auto" },
            { kind, era: "legacy" },
          ];
    case "sse":
      return [{ kind, era: "legacy" }];
    case "http":
      return [{ kind, era: isLegacy ? "legacy" : "auto" }];
    case "any":
      return [
        { kind: "http", era: isLegacy ? "legacy" : "auto" },
        { kind: "sse", era: "legacy" },
      ];
  }
}

/** The process ended, perhaps since it did not understand the question; or the address knows another way. */
function isWorthAnother(failure: unknown): boolean {
  if (failure instanceof ProcessEnded) return true;
  return failure instanceof HttpRefused && failure.status >= 400 && failure.status < 500 && ![401, 403].includes(failure.status);
}

class ProcessEnded extends Error {
  override readonly name = "ProcessEnded";
}

async function tryToOpen({ way }: McpServer, { kind, era }: Attempt, parts: SessionParts): Promise<McpSession> {
  const { Client, isJSONRPCRequest, ProtocolError, ProtocolErrorCode } = await import("@modelcontextprotocol/client");
  const process = way.kind === "stdio" ? new StdioTransport(parts.start, parts.onStderr) : null;
  const transport = withLenientMessages(await transportOf(way, process, kind), isJSONRPCRequest);
  const client = new Client(
    { name: "triplane", version: "1" },
    {
      capabilities: { roots: { listChanged: true }, elicitation: { form: {} }, extensions: { [TASKS_EXTENSION]: {} } },
      // Results are checked by `schema-check.ts`: the SDK refuses schemas of the older dialect.
      jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
      versionNegotiation: { mode: era, probe: { timeoutMs: Math.min(PROBE_MS, parts.connectMs / 2) } },
      inputRequired: { autoFulfill: false },
    },
  );
  const folder = new AskedFolder(parts.folder);
  client.setRequestHandler("roots/list", () => rootsOf(folder.asked()));
  // The SDK's own handler removes keywords of a form before it is read.
  client.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => {
    if (method !== "elicitation/create") throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
    return elicited(await parts.questions.answer(toJson(params), mcpReq.signal));
  };
  let fault = "the connection was closed";
  const { promise: closed, resolve: tellClosed } = Promise.withResolvers<string>();
  Object.assign(client, {
    onclose: () => tellClosed(process?.end ?? fault),
    onerror: (error: Error) => {
      const broken = faultOf(error);
      // The list is read at once: it shows if the server is away.
      if (broken === null && isLostConnection(error)) parts.onListChanged();
      if (broken === null) return;
      fault = `${broken}, and the connection was closed`;
      endQuietly(client);
    },
  });
  const ending = AbortSignal.any([parts.signal, AbortSignal.timeout(parts.connectMs)]);
  using stopped = aborted(ending, () => new Error(`it did not answer within ${parts.connectMs} ms`));
  try {
    await refusedByHttp(() => Promise.race([client.connect(transport, { timeout: parts.connectMs }), stopped.promise]));
  } catch (error) {
    await transport.close().catch(() => {});
    throw process?.end == null ? error : new ProcessEnded(process.end, { cause: error });
  }
  const found = client.getProtocolEra() === "modern" ? "modern" : "legacy";
  client.setNotificationHandler("notifications/tools/list_changed", () => parts.onListChanged());
  // The newer generation says so only to subscribers. Without an answer the list is read in its rhythm.
  if (found === "modern" && client.getServerCapabilities()?.tools?.listChanged === true)
    client.listen({ toolsListChanged: true }, { timeout: NO_LIMIT_MS }).catch(() => {});
  if (parts.folder !== null) await askedForRoots(client, folder);
  return new McpSession(
    client,
    { folder, questions: parts.questions },
    {
      verdict: { era: found, at: parts.now() },
      info: serverInfo(client, kind),
      closed,
      process: process === null ? null : parts.processes.begin(),
    },
  );
}

/** Resolves when a server has probably taken in the folder of its connection. Some servers do not ask. */
async function askedForRoots(client: Client, folder: AskedFolder): Promise<void> {
  if (await Promise.race([folder.firstQuestion.then(() => false), delay(ASK_MS, true, { ref: false })])) return;
  await client.ping({ timeout: ASK_MS }).catch(() => {});
  await delay(TAKE_MS, undefined, { ref: false });
}

function rootsOf(folder: string | null): { readonly roots: { readonly uri: string }[] } {
  return { roots: folder === null ? [] : [{ uri: pathToFileURL(folder).href }] };
}

function endQuietly(client: Client): void {
  client.close().catch(() => {});
}

async function transportOf(way: McpWay, process: StdioTransport | null, kind: Attempt["kind"]): Promise<Transport> {
  if (process !== null) return process;
  if (way.kind === "stdio") throw new Error("a command has a process");
  return httpTransport(way, kind === "sse" ? "sse" : "http");
}
