import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** A request of JSON-RPC, as it arrived. */
export type Arrived = {
  readonly method: string;
  readonly id: unknown;
  readonly params: Record<string, unknown>;
  /** The answer to a question of the server; undefined for a request. */
  readonly result?: unknown;
  readonly http: IncomingMessage;
};

/** The answer to a request: a result, or all that is written. */
export type Answer = { readonly result: unknown } | ((response: ServerResponse) => void);

/** An MCP server at an address on this machine. `answer` returns null for the usual answers. */
export async function httpServer(answer: (arrived: Arrived) => Answer | null): Promise<{
  readonly url: string;
  readonly arrived: Arrived[];
  /** Refuses connections until `back`. */
  readonly away: () => Promise<void>;
  readonly back: () => Promise<void>;
}> {
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    void receive(request, response);
  });
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== "POST") {
      response.writeHead(request.method === "DELETE" ? 200 : 405).end();
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { id, method, params, result } = JSON.parse(Buffer.concat(pieces).toString()) as Omit<Arrived, "http">;
    const one = { id, method, params, result, http: request };
    arrived.push(one);
    const given = answer(one) ?? usual(one);
    if (typeof given === "function") given(response);
    else if (id === undefined) response.writeHead(202).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, ...given }));
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const away = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const back = async (): Promise<void> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  };
  return { url: `http://127.0.0.1:${port}/mcp`, arrived, away, back };
}

function usual({ method }: Arrived): Answer | { readonly error: object } {
  switch (method) {
    case "initialize":
      return {
        result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "own", version: "1" } },
      };
    case "tools/list":
      return { result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } };
    case "tools/call":
      return { result: { content: [{ type: "text", text: "done" }] } };
    case "notifications/initialized":
      return { result: {} };
    default:
      return { error: { code: -32601, message: "unknown method" } };
  }
}
