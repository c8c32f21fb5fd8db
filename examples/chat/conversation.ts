import type { ToolQuestion } from "../../clients/src/input-form.ts";
import type { Said } from "./asked-input.ts";
import { randomUUID } from "node:crypto";
import { createClient, type Client } from "graphql-ws";
import WebSocket from "ws";
import { iterate, type ResumeStatus } from "../../clients/src/index.ts";
import { overWebSocket } from "../../clients/src/websocket.ts";
import { CREATE, DECIDE, decisionOf, SEND } from "../demo/operations.ts";
import { begin, mutate, request, TerminalError, type Payload } from "../demo/server.ts";
import type { WaitingCall } from "./asked-user.ts";
import type { TreeEvent } from "./children.ts";
import { AGENT, CHAT, CHILDREN, COMPACT, COMPLETE, INTERRUPT, type ChatAgent, type ChatEvent } from "./operations.ts";

/** How often a query or mutation is tried again while the server is away. */
const RETRIES = 3;

/** How the server is reached. */
export type Server = { readonly url: string; readonly token: string | undefined };

/** A question that the agent asks. */
export type Question = {
  readonly approvalId: string;
  /** The agent that asks. */
  readonly agentId: string;
  /** The tasks that lead to it; null for the agent of the chat. */
  readonly path: string | null;
  /** TOOL_CALL: may it run? OUTCOME_UNKNOWN: it may have run; shall it run again? NETWORK_HOST: may it be reached? TOOL_INPUT: which values? BUDGET: may it be raised? */
  readonly kind: string;
  readonly inputHash: string | null;
  /** The tool of the call that is asked about, or the host. */
  readonly tool: string;
  readonly reason: string | null;
  readonly inputText: string;
  /** The form of a tool's question; null for other kinds. */
  readonly form: ToolQuestion | null;
};

/** The next events; `caughtUp` if they were the last for now. */
type Page<Event> = { readonly events: readonly Event[]; readonly caughtUp: boolean };

/** One agent on one server, as a person talks with it. The connection may be lost in between. */
export class Conversation {
  readonly agent: ChatAgent;
  /** The calls that waited for their results when the conversation was opened. */
  readonly waiting: readonly WaitingCall[];
  readonly #client: Client;
  readonly #server: Server;

  private constructor(agent: ChatAgent, waiting: readonly WaitingCall[], client: Client, server: Server) {
    this.agent = agent;
    this.waiting = waiting;
    this.#client = client;
    this.#server = server;
  }

  /** Opens the conversation with this agent, or with a new one. */
  static async open(
    server: Server,
    chosen: { readonly agentId: string } | { readonly templateId: string | undefined; readonly workspace: string | null },
  ): Promise<Conversation> {
    // A server that is not there at the beginning is an error; later it is waited for.
    const opening = createClient({ ...connection(server), retryAttempts: 0 });
    try {
      const agentId = "agentId" in chosen ? chosen.agentId : await create(opening, chosen);
      type Opened = { readonly agent: ChatAgent | null; readonly toolCalls: { readonly nodes: readonly WaitingCall[] } };
      const { agent, toolCalls } = await request<Opened>(opening, AGENT, { id: agentId });
      if (agent === null) throw new TerminalError(`there is no agent ${agentId}: leave --agent out to begin with a new one`);
      const client = createClient({ ...connection(server), retryAttempts: RETRIES, shouldRetry: () => true });
      return new Conversation(agent, toolCalls.nodes, client, server);
    } finally {
      await opening.dispose();
    }
  }

  /** Everything after `since`, for ever: a connection that is lost is opened again. */
  pages(since: string, onStatus: (status: ResumeStatus) => void): AsyncGenerator<Page<ChatEvent>, void> {
    return this.#follow(CHAT, since, onStatus);
  }

  /** All of the agents below, for ever. */
  treePages(): AsyncGenerator<Page<TreeEvent>, void> {
    return this.#follow(CHILDREN, "0", () => {});
  }

  async *#follow<Event>(
    query: string,
    since: string,
    onStatus: (status: ResumeStatus) => void,
  ): AsyncGenerator<Page<Event>, void> {
    const transport = overWebSocket(connection(this.#server));
    try {
      const request = { query, variables: { agentId: this.agent.id, since } };
      for await (const { data, errors } of iterate<{ timeline: Page<Event> }>(transport, request, { onStatus })) {
        if (errors) throw new TerminalError(errors.map((error) => error.message).join("; "));
        if (data) yield data.timeline;
      }
    } finally {
      transport.dispose();
    }
  }

  /** Answers the message's id. The key makes it one message, even if it goes twice over a connection that breaks. */
  async send(text: string): Promise<string> {
    const input = { agentId: this.agent.id, text, idempotencyKey: randomUUID() };
    const { sendMessage } = await mutate<{ sendMessage: Payload & { message: { id: string } } }>(this.#client, SEND, input);
    return sendMessage.message.id;
  }

  async decide({ approvalId, kind, inputHash }: Question, said: Said): Promise<void> {
    const values = typeof said === "boolean" ? {} : typeof said === "number" ? { raiseTo: { usd: said } } : { values: said };
    await mutate(this.#client, DECIDE, { approvalId, decision: decisionOf(kind, said !== false), inputHash, ...values });
  }

  /** Gives the result of a call. One that has ended meanwhile is no error: the events tell its end. */
  async answer(callId: string, result: string): Promise<void> {
    type Refusals = readonly { readonly code: string; readonly message: string }[];
    type Answered = { readonly completeToolCall: { readonly userErrors: Refusals } };
    const { completeToolCall } = await request<Answered>(this.#client, COMPLETE, { input: { callId, result } });
    const problems = completeToolCall.userErrors.filter(({ code }) => code !== "CALL_ENDED");
    if (problems.length > 0) throw new TerminalError(problems.map(({ message }) => message).join("; "));
  }

  /** Asks for a summary of the older conversation. */
  async compact(instruction: string | null): Promise<void> {
    await mutate(this.#client, COMPACT, { agentId: this.agent.id, instruction, idempotencyKey: randomUUID() });
  }

  /** `tree`: with all agents below, also those in the background. */
  async interrupt(tree = false): Promise<void> {
    await mutate(this.#client, INTERRUPT, { agentId: this.agent.id, tree });
  }

  async close(): Promise<void> {
    await this.#client.dispose();
  }
}

function connection({ url, token }: Server) {
  return {
    url,
    webSocketImpl: WebSocket,
    connectionParams: token === undefined ? {} : { authorization: `Bearer ${token}` },
  };
}

async function create(
  client: Client,
  { templateId: named, workspace }: { templateId: string | undefined; workspace: string | null },
): Promise<string> {
  const { templateId } = await begin(client, named);
  const { createAgent } = await mutate<{ createAgent: Payload & { agent: { id: string } } }>(client, CREATE, {
    templateId,
    workspace,
    idempotencyKey: randomUUID(),
  });
  return createAgent.agent.id;
}
