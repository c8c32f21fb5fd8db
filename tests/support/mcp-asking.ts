import type { ServerResponse } from "node:http";
import { AskedInputsDocument, type DecideApprovalInput } from "../generated/documents.ts";
import type { TestAppOptions } from "./app.ts";
import type { TestClient } from "./client.ts";
import { allowed, appWith } from "./mcp-app.ts";
import { httpServer } from "./mcp-http.ts";

/** A form with a field of each kind. */
export const FORM = {
  type: "object",
  properties: {
    city: { type: "string", title: "City", description: "Where to", minLength: 2, maxLength: 20 },
    mail: { type: "string", format: "email" },
    nights: { type: "integer", minimum: 1, maximum: 30, default: 2 },
    price: { type: "number", maximum: 99.5 },
    breakfast: { type: "boolean", default: true },
    room: { type: "string", enum: ["s", "d"], enumNames: ["Single", "Double"], default: "s" },
    view: { type: "string", oneOf: [{ const: "sea", title: "Sea" }, { const: "yard" }] },
    extras: {
      type: "array",
      items: {
        anyOf: [
          { const: "tv", title: "TV" },
          { const: "bar", title: "Bar" },
        ],
      },
      maxItems: 2,
    },
  },
  required: ["city"],
} as const;

export const asks = (requestedSchema: unknown = FORM, message = "Which hotel?") => ({
  method: "elicitation/create",
  params: { message, requestedSchema },
});

const COMPLETE = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

/**
 * A server of the newer generation. Its tool `work` answers each round as `round` says: with the inputs that it needs, or
 * null for the result, which is all that it was answered, as JSON. A function writes the answer.
 */
export async function roundsServer(
  round: (sent: Record<string, unknown>, count: number) => object | ((response: ServerResponse) => void) | null,
) {
  const rounds: Record<string, unknown>[] = [];
  const server = await httpServer(({ method, params }) => {
    if (method === "server/discover")
      return { result: { ...COMPLETE, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } } };
    if (method === "tools/list") return { result: { ...COMPLETE, tools: [{ name: "work", inputSchema: { type: "object" } }] } };
    if (method !== "tools/call") return null;
    rounds.push(params);
    const needs = round(params, rounds.length);
    if (typeof needs === "function") return needs as (response: ServerResponse) => void;
    if (needs !== null) return { result: { resultType: "input_required", ...needs } };
    const { inputResponses = null, requestState = null } = params;
    return {
      result: { resultType: "complete", content: [{ type: "text", text: JSON.stringify({ inputResponses, requestState }) }] },
    };
  });
  return { ...server, rounds };
}

/**
 * A server of the older generation at an address. A call of `work` asks with the message `for WHO`, by its argument, on the
 * stream of the call. Its result is the answer, as JSON.
 */
export async function streamingServer() {
  const calls = new Map<unknown, { readonly call: unknown; readonly stream: ServerResponse }>();
  const written = (stream: ServerResponse, message: object): unknown =>
    stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  return httpServer(({ id, method, params, result }) => {
    if (method === "tools/call")
      return (stream) => {
        const { who } = params["arguments"] as { who: string };
        const question = `q-${who}`;
        calls.set(question, { call: id, stream });
        stream.writeHead(200, { "content-type": "text/event-stream" });
        written(stream, { id: question, ...asks(FORM, `for ${who}`) });
      };
    const asked = method === undefined ? calls.get(id) : undefined;
    if (asked === undefined) return null;
    written(asked.stream, { id: asked.call, result: { content: [{ type: "text", text: JSON.stringify({ id, result }) }] } });
    asked.stream.end();
    return (response) => response.writeHead(202).end();
  });
}

const WORK = ["mcp__own__work", {}] as const;

/** An agent whose call asks, with the question in the inbox. */
export async function asked(url: string, options: TestAppOptions = {}) {
  return askedBy({ own: { url } }, WORK, options);
}

export async function askedBy(
  servers: Parameters<typeof appWith>[0],
  call: readonly [string, object],
  options: TestAppOptions = {},
) {
  const started = await appWith(servers, call, { template: { ...allowed("own"), selfApproval: true }, ...options });
  const { client } = started;
  const { id, cursor } = await client.createAgent();
  await client.send(id, "go");
  await client.until(id, "PERMISSION_REQUIRED", cursor);
  return { ...started, id, cursor, question: await openQuestion(client, id) };
}

export async function inputsOf(client: TestClient, id: string) {
  return (await client.get(AskedInputsDocument, { agentIds: [id] })).approvals.nodes;
}

export async function openQuestion(client: TestClient, id: string) {
  const open = (await inputsOf(client, id)).find(({ state }) => state === "PENDING");
  if (open === undefined) throw new Error("no question is open");
  const answer = (given: Partial<DecideApprovalInput>) =>
    client.decide({ approvalId: open.id, decision: "ALLOW", inputHash: open.inputHash, ...given });
  return { ...open, answer };
}
