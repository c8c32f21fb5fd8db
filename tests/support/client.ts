import type { TypedDocumentNode } from "@graphql-typed-document-node/core";
import { print } from "graphql";
import { createClient, type Client, type SubscribePayload } from "graphql-ws";
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import {
  AgentDocument,
  CreateAgentDocument,
  DecideApprovalDocument,
  SendMessageDocument,
  TimelineDocument,
  type CreateAgentInput,
  type DecideApprovalInput,
  type PageFragment,
  type TimelineSubscriptionVariables,
} from "../generated/documents.ts";

/** An answer over HTTP, whatever it is. */
export type Answer<Data> = {
  readonly status: number;
  readonly data: Data | null;
  readonly errors: readonly { readonly message: string; readonly extensions?: Readonly<Record<string, unknown>> }[];
};

export type Page = PageFragment;
export type PageEvent = PageFragment["events"][number];
export type EventOf<Name extends PageEvent["__typename"]> = Extract<PageEvent, { __typename: Name }>;

/** The timeline of one agent, or of others. */
export type TimelineOf = TimelineSubscriptionVariables & { readonly agentId?: string };

/** A client of one server, as one actor. */
export type TestClient = ReturnType<typeof connect>;

/** Connects to the server at `url`. Sockets close when the test ends. */
export function connect(url: string, token?: string) {
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  const sockets: Client[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) await socket.dispose();
  });

  async function post<Data>(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer<Data>> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(authorization ? { authorization } : {}), ...headers },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    const answer = (text.startsWith("{") ? JSON.parse(text) : { errors: [{ message: text }] }) as {
      data?: Data;
      errors?: Answer<Data>["errors"];
    };
    return { status: response.status, data: answer.data ?? null, errors: answer.errors ?? [] };
  }

  /** The answer, with its errors. */
  const ask = <Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Answer<Data>> =>
    post<Data>({ query: print(document), variables });

  /** The data; throws if there are errors. */
  async function get<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
    const { data, errors } = await ask(document, variables);
    if (data === null || errors.length > 0) throw new Error(JSON.stringify(errors));
    return data;
  }

  function open(): Client {
    const socket = createClient({
      url: url.replace(/^http/, "ws"),
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: authorization ? { authorization } : {},
    });
    sockets.push(socket);
    return socket;
  }
  let shared: Client | null = null;

  /** A subscription over a socket of its own. */
  function subscribe<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables) {
    return open().iterate<Data>({ query: print(document), variables: variables as Record<string, unknown> });
  }

  /** Pages of the timeline, over a socket of its own. */
  async function* timeline({ agentId, ...variables }: TimelineOf): AsyncGenerator<Page, void> {
    const agentIds = agentId === undefined ? null : [agentId];
    for await (const { data, errors } of subscribe(TimelineDocument, { agentIds, ...variables })) {
      if (errors) throw new Error(JSON.stringify(errors));
      if (data) yield data.timeline;
    }
  }

  return {
    url,
    post,
    ask,
    get,
    subscribe,
    /** Any operation over one socket that all calls share. */
    iterate: (query: string) => (shared ??= open()).iterate({ query }),
    /** Any payload over a socket of its own. */
    iteratePayload: (payload: SubscribePayload) => open().iterate(payload),
    timeline,
    createAgent: async (input: Partial<CreateAgentInput> = {}) => {
      const { createAgent } = await get(CreateAgentDocument, { input: { templateId: "assistant", ...input } });
      if (!createAgent.agent) throw new Error(JSON.stringify(createAgent.userErrors));
      return { id: createAgent.agent.id, cursor: createAgent.cursor };
    },
    send: async (agentId: string, text: string) => {
      const { sendMessage } = await get(SendMessageDocument, { input: { agentId, text } });
      if (!sendMessage.message) throw new Error(JSON.stringify(sendMessage.userErrors));
      return sendMessage.message.id;
    },
    decide: async (input: DecideApprovalInput) => (await get(DecideApprovalDocument, { input })).decideApproval,
    agent: async (id: string) => {
      const { agent } = await get(AgentDocument, { id });
      if (!agent) throw new Error(`there is no agent ${id}`);
      return agent;
    },
    /** All events of the agent so far. */
    events: async (agentId: string): Promise<PageEvent[]> => {
      const events: PageEvent[] = [];
      for await (const page of timeline({ agentId, since: "0" })) {
        events.push(...page.events);
        if (page.caughtUp) break;
      }
      return events;
    },
    /** All events of the agent after `since`, up to and with the first of this kind. */
    until: async (agentId: string, kind: PageEvent["kind"], since = "0"): Promise<PageEvent[]> => {
      const events: PageEvent[] = [];
      for await (const page of timeline({ agentId, since, until: kind })) events.push(...page.events);
      return events;
    },
    /** Sends a message and gives everything up to the turn's DONE. */
    turn: async (agentId: string, text: string): Promise<PageEvent[]> => {
      const { sendMessage } = await get(SendMessageDocument, { input: { agentId, text } });
      const events: PageEvent[] = [];
      for await (const page of timeline({ agentId, since: sendMessage.cursor, until: "DONE" })) events.push(...page.events);
      return events;
    },
  };
}

/** The events of one type. */
export function ofType<Name extends PageEvent["__typename"]>(events: readonly PageEvent[], name: Name): EventOf<Name>[] {
  return events.filter((event): event is EventOf<Name> => event.__typename === name);
}

/** The text of the deltas. */
export function textOf(events: readonly PageEvent[]): string {
  return ofType(events, "TextChunk")
    .map((event) => event.delta)
    .join("");
}
