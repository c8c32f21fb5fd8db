import type { IncomingMessage, ServerResponse } from "node:http";
import { eachProblem, type CommandRefusal, type CommandRefusalCode } from "../agent/actors/actor.ts";
import type { CallTokens } from "../agent/calls/call-tokens.ts";
import { completeToolCall, RESULT_BYTES, type CompleteToolCall } from "../agent/commands/complete-tool-call.ts";
import { accepted, refused, type Result } from "../lib/result.ts";
import { isJsonObject } from "../lib/json.ts";
import { bearerToken } from "./authenticate.ts";
import type { SharedContext } from "./context.ts";

export const TOOL_RESULTS_PATH = "/tool-calls/result";

/** The largest body, in bytes: a result, and the names around it. */
const BODY_BYTES = RESULT_BYTES + 16 * 1024;

/** The services of the route: the context of GraphQL without an actor, and the tokens of calls. */
export type ToolResultServices = Pick<SharedContext, "services" | "wake"> & { readonly callTokens: Pick<CallTokens, "read"> };

type Refused = { readonly status: number; readonly code: string; readonly message: string };

const STATUS: { readonly [Code in CommandRefusalCode]?: number } = {
  NOT_FOUND: 404,
  TOO_LARGE: 413,
  CALL_ENDED: 409,
  NOT_WAITING: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  UNAVAILABLE: 503,
};

/**
 * Answers `POST /tool-calls/result`: the result of the call whose token is the Bearer header. The body is `{ result }` or
 * `{ error }`, with an optional `idempotencyKey`. No URL has the secret, so that logs do not, and a GET changes no call.
 */
export async function answerToolResult(
  request: IncomingMessage,
  response: ServerResponse,
  services: ToolResultServices,
): Promise<void> {
  const answer = await completed(request, services);
  const { status, body } = answer.ok
    ? { status: 200, body: { callId: answer.value } }
    : { status: answer.refusal.status, body: { error: { code: answer.refusal.code, message: answer.refusal.message } } };
  // A body that is too large is not read to its end.
  if (status === 413) response.setHeader("connection", "close");
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}

async function completed(
  request: IncomingMessage,
  { services, wake, callTokens }: ToolResultServices,
): Promise<Result<string, Refused>> {
  const { method, headers } = request;
  if (method !== "POST") return problem(405, "METHOD_NOT_ALLOWED", "send the result with POST");
  const token = bearerToken(headers.authorization ?? null);
  const call = token === null ? null : callTokens.read(token);
  if (call === null)
    return problem(401, "UNAUTHENTICATED", "send the token of the call, `completionToken()`, as `authorization: Bearer …`");
  if (!/^application\/json\b/i.test(headers["content-type"] ?? "") || (headers["content-encoding"] ?? "identity") !== "identity")
    return problem(415, "UNSUPPORTED_MEDIA_TYPE", "send a body of type application/json, not compressed");
  const text = await readBody(request);
  if (text === null) return problem(413, "TOO_LARGE", `a body has at most ${BODY_BYTES} bytes`);
  const given = readRequest(call.callId, text);
  if (!given.ok) return given;
  const done = await completeToolCall(services.of(call.tenant), { kind: "bearer", call }, given.value);
  if (!done.ok) return refusedAs(done.refusal);
  wake({ agentId: done.value.agentId, tenant: call.tenant });
  return accepted(call.callId);
}

function readRequest(callId: string, text: string): Result<CompleteToolCall, Refused> {
  const form = 'send { "result": any JSON } or { "error": "…" }, and an "idempotencyKey" if wanted';
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return problem(400, "BAD_REQUEST", `the body is not JSON: ${form}`);
  }
  if (!isJsonObject(body)) return problem(400, "BAD_REQUEST", `the body is no object: ${form}`);
  const strange = Object.keys(body).find((field) => !["result", "error", "idempotencyKey"].includes(field));
  if (strange !== undefined) return problem(400, "BAD_REQUEST", `the body has a field ${JSON.stringify(strange)}: ${form}`);
  const { idempotencyKey = null } = body;
  if (idempotencyKey !== null && typeof idempotencyKey !== "string")
    return problem(400, "BAD_REQUEST", "idempotencyKey must be a text");
  return accepted({ callId, given: body, idempotencyKey });
}

/** The body as text; null if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  if (Number(request.headers["content-length"] ?? 0) > BODY_BYTES) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function refusedAs(refusal: CommandRefusal): Result<never, Refused> {
  const messages = eachProblem(refusal).map(({ message }) => message);
  return problem(STATUS[refusal.code] ?? 400, refusal.code, messages.join("\n"));
}

function problem(status: number, code: string, message: string): Result<never, Refused> {
  return refused({ status, code, message });
}
