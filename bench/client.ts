import { once } from "node:events";
import WebSocket from "ws";

/** A WebSocket to a server of this machine. */
export async function open(port: number, protocol?: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, protocol, { perMessageDeflate: false });
  await once(socket, "open");
  return socket;
}

/** A subscriber that reads no more of the protocol than it must. Its first page has come. */
export async function subscribe(port: number, query: string, variables: object): Promise<WebSocket> {
  const socket = await open(port, "graphql-transport-ws");
  await answered(socket, { type: "connection_init" });
  await answered(socket, { id: "1", type: "subscribe", payload: { query, variables } });
  return socket;
}

async function answered(socket: WebSocket, message: object): Promise<void> {
  const answer = once(socket, "message");
  socket.send(JSON.stringify(message));
  await answer;
}

/** Creates an agent of this template on the server; its id. */
export async function createAgent(port: number, templateId: string): Promise<string> {
  const { createAgent: created } = await mutate<{ createAgent: { agent: { id: string } } }>(
    port,
    "mutation ($input: CreateAgentInput!) { createAgent(input: $input) { agent { id } } }",
    { templateId },
  );
  return created.agent.id;
}

/** Sends the agent a message. */
export async function sendMessage(port: number, agentId: string, text = "go"): Promise<void> {
  await mutate(port, "mutation ($input: SendMessageInput!) { sendMessage(input: $input) { cursor } }", { agentId, text });
}

function mutate<Data>(port: number, query: string, input: object): Promise<Data> {
  return ask(port, query, { input });
}

/** The data of an operation; throws if there are errors. */
export async function ask<Data>(port: number, query: string, variables: object): Promise<Data> {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}
