import {
  stateReason,
  type McpTransport as Transport,
  type ServedServer,
  type ServerInfo,
  type ServerState,
} from "../agent/mcp/server-state.ts";
import { mcpServerNamed, mcpServers, retryMcpServer } from "../resolvers/mcp-server.ts";
import { builder, described } from "./builder.ts";
import { payloadType } from "./payload.ts";

const McpServerState = builder.enumType("McpServerState", {
  description: "State of the connection to an MCP server.",
  values: described<ServerState["kind"]>({
    STARTING: "It has not answered yet.",
    CONNECTED: "Its tools can be called.",
    AWAY: "Its tools are unavailable. It is tried again.",
    DISABLED: "The configuration leaves it out.",
  }),
});

const McpTransport = builder.enumType("McpTransport", {
  description: "Transport between Triplane and an MCP server.",
  values: described<Transport>({
    STDIO: "A process of its own.",
    HTTP: "Streamable HTTP.",
    SSE: "The older HTTP with server-sent events.",
  }),
});

const McpGeneration = builder.enumType("McpGeneration", {
  description: "Generation of the Model Context Protocol.",
  values: described<ServerInfo["generation"]>({
    MODERN: "Requests stand for themselves: 2026-07-28 and later.",
    LEGACY: "A handshake begins each connection: up to 2025-11-25.",
  }),
});

const McpServerInfo = builder.objectRef<ServerInfo>("McpServerInfo").implement({
  description: "Description that a connected MCP server gives of itself. Texts are cut at 200 bytes.",
  fields: (t) => ({
    generation: t.expose("generation", { type: McpGeneration, description: "Generation of the protocol that is spoken." }),
    protocolVersion: t.exposeString("protocolVersion", {
      nullable: true,
      description: "Version of the protocol, for example `2025-11-25`. Null if it is unknown.",
    }),
    name: t.exposeString("name", { nullable: true, description: "Name of its program. Null if it gives none." }),
    version: t.exposeString("version", { nullable: true, description: "Version of its program. Null if it gives none." }),
  }),
});

const McpServer = builder.objectRef<ServedServer>("McpServer").implement({
  description: "A configured MCP server, as the answering server of Triplane sees it: each has a connection of its own.",
  fields: (t) => ({
    name: t.exposeString("name", { description: "Name in the configuration, and the prefix of its tools: `mcp__name__tool`." }),
    isCommon: t.exposeBoolean("isCommon", { description: "True if all tenants have it, false if only this one does." }),
    transport: t.expose("transport", {
      type: McpTransport,
      nullable: true,
      description: "Its transport. Null for an address that was not reached, and whose transport is not configured.",
    }),
    state: t.field({ type: McpServerState, description: "State of the connection.", resolve: ({ state }) => state.kind }),
    reason: t.string({
      nullable: true,
      description: "Reason why it is AWAY, or the time without an answer if it is STARTING. Null in other states.",
      resolve: ({ state }, _args, { services }) => stateReason(state, services.clock.now()),
    }),
    since: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time since which it is in this state. Null if it is DISABLED.",
      resolve: ({ state }) => (state.kind === "DISABLED" ? null : state.since),
    }),
    nextTryAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time of the next try to connect. Null unless it is AWAY.",
      resolve: ({ state }) => (state.kind === "AWAY" ? state.nextTryAt : null),
    }),
    info: t.field({
      type: McpServerInfo,
      nullable: true,
      description: "Description that it gives of itself. Null unless it is CONNECTED.",
      resolve: ({ state }) => (state.kind === "CONNECTED" ? state.info : null),
    }),
    toolCount: t.exposeInt("toolCount", {
      description: "Number of its tools, including unavailable ones. `tools` lists them.",
    }),
  }),
});

builder.queryField("mcpServers", (t) =>
  t.field({
    type: [McpServer],
    description: "MCP servers of the configuration: those of the viewer's tenant and the common ones, in the order of names.",
    resolve: (_root, _args, context) => mcpServers(context),
  }),
);

const RetryMcpServerInput = builder.inputType("RetryMcpServerInput", {
  description: "Input of `retryMcpServer`.",
  fields: (t) => ({
    name: t.string({ required: true, description: "Name of the MCP server, for example `github`." }),
  }),
});

builder.mutationField("retryMcpServer", (t) =>
  t.field({
    type: payloadType("RetryMcpServerPayload", (fields) => ({
      server: fields.field({
        type: McpServer,
        nullable: true,
        description: "The MCP server in its present state. Null if the mutation failed.",
        resolve: ({ rowId }, _args, context) => mcpServerNamed(context, rowId),
      }),
    })),
    description:
      "Connects to an MCP server that is AWAY without further waiting, on the answering server of Triplane. Other states stay as they are. FORBIDDEN for viewers who are not administrators.",
    args: { input: t.arg({ type: RetryMcpServerInput, required: true, description: "MCP server." }) },
    resolve: (_root, { input }, context) => retryMcpServer(context, input.name),
  }),
);
