import type { Client } from "@modelcontextprotocol/client";
import { headBytes } from "../../lib/text.ts";
import { plainText } from "./plain-text.ts";
import type { McpServer } from "./server.ts";
import type { TaskServer } from "./tasks/task.ts";

/** The transport of a connection. */
export type McpTransport = "STDIO" | "HTTP" | "SSE";

/** The description that a connected server gives of itself, in plain and short texts. */
export type ServerInfo = {
  readonly transport: McpTransport;
  readonly generation: "MODERN" | "LEGACY";
  readonly protocolVersion: string | null;
  readonly name: string | null;
  readonly version: string | null;
};

/** The state of a server's connection, with the time since which it has it. */
export type ServerState =
  | { readonly kind: "DISABLED" }
  /** `connectMs` is the time in which it has to answer, in ms. */
  | { readonly kind: "STARTING"; readonly since: Date; readonly connectMs: number }
  | { readonly kind: "CONNECTED"; readonly since: Date; readonly info: ServerInfo }
  | { readonly kind: "AWAY"; readonly since: Date; readonly reason: string; readonly nextTryAt: Date };

/** A configured MCP server as its tenants see it: without addresses, commands and other settings. */
export type ServedServer = {
  readonly name: string;
  readonly isCommon: boolean;
  readonly transport: McpTransport | null;
  readonly state: ServerState;
  /** The number of its tools, available or not. */
  readonly toolCount: number;
  /** Null for one that is left out. */
  readonly tasks: TaskServer | null;
  /** Ends the wait for the next try of a server that is away. Without effect in other states. */
  readonly retry: () => void;
};

/** The reason why a server cannot be called, in words; null if it can, or is left out. */
export function stateReason(state: ServerState, now: Date): string | null {
  switch (state.kind) {
    case "STARTING": {
      const seconds = (ms: number): string => `${Math.floor(Math.max(0, ms) / 1_000)} s`;
      const silentMs = now.getTime() - state.since.getTime();
      return `no answer to the handshake (initialize) for ${seconds(silentMs)}; after ${seconds(state.connectMs)} it is AWAY`;
    }
    case "AWAY":
      return state.reason;
    case "CONNECTED":
    case "DISABLED":
      return null;
  }
}

const INFO_BYTES = 200;

const TRANSPORTS = { stdio: "STDIO", http: "HTTP", sse: "SSE" } as const;

type Described = Pick<Client, "getServerVersion" | "getProtocolEra" | "getNegotiatedProtocolVersion">;

export function serverInfo(client: Described, kind: keyof typeof TRANSPORTS): ServerInfo {
  const { name, version } = client.getServerVersion() ?? {};
  return {
    transport: TRANSPORTS[kind],
    generation: client.getProtocolEra() === "modern" ? "MODERN" : "LEGACY",
    protocolVersion: infoText(client.getNegotiatedProtocolVersion()),
    name: infoText(name),
    version: infoText(version),
  };
}

function infoText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? headBytes(plainText(value), INFO_BYTES) : null;
}

/** The transport that the settings name; null for an address whose transport is found by trying. */
export function transportOf({ way }: Pick<McpServer, "way">): McpTransport | null {
  switch (way.kind) {
    case "stdio":
      return "STDIO";
    case "http":
      return "HTTP";
    case "sse":
      return "SSE";
    case "any":
      return null;
  }
}

export function disabledServer(server: McpServer, isCommon: boolean): ServedServer {
  const unused = { toolCount: 0, tasks: null, retry: () => {} };
  return { name: server.name, isCommon, transport: transportOf(server), state: { kind: "DISABLED" }, ...unused };
}
