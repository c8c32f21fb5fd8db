import { randomUUID } from "node:crypto";
import { isJsonObject, isNestedDeeper, MOST_LEVELS, type Json, type JsonObject } from "../../../lib/json.ts";

export type RequestId = string | number;

/** The field of a result that has the answer of a server: its name is unknown to servers. */
const ANSWER = `answer-${randomUUID()}`;

/** JSON-RPC: an internal error. */
const INTERNAL_ERROR = -32_603;

/** A server's answer cannot be read: a call may have had its effect. */
class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";
}

/** The id of a request in a message; null for other messages. */
export function requestId(message: unknown): RequestId | null {
  if (!isJsonObject(message) || !("method" in message)) return null;
  const { id } = message;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

/** The response to a request that its server did not answer. */
export function noAnswer(id: RequestId): JsonObject {
  return { jsonrpc: "2.0", id, result: { content: [], [ANSWER]: "its answer ended before its result" } };
}

/** True for the response to a request. Servers write numbers as texts. */
export function isResponseTo(message: JsonObject, id: RequestId): boolean {
  const { id: own } = message;
  return !("method" in message) && (typeof own === "string" || typeof own === "number") && String(own) === String(id);
}

/**
 * Gives each response the form of JSON-RPC. The SDK drops one of another form, and its request would wait for its time limit.
 * Servers write `"error": null` beside a result, an error that is a text, and no version.
 */
export function repairResponse(message: JsonObject): void {
  if ("method" in message || !("id" in message)) return;
  const { error = null, result = null } = message;
  Reflect.deleteProperty(message, "error");
  Reflect.deleteProperty(message, "result");
  const read = isJsonObject(result) ? result : { content: [], [ANSWER]: "its answer is no object" };
  Object.assign(message, { jsonrpc: "2.0", ...(error === null ? { result: read } : { error: errorIn(error) }) });
}

function errorIn(error: Json): JsonObject {
  const said: JsonObject = isJsonObject(error) ? error : { message: error };
  const { code = null, message = null } = said;
  return {
    ...said,
    code: Number.isSafeInteger(code) ? code : INTERNAL_ERROR,
    message: typeof message === "object" ? "it gives no reason" : String(message),
  };
}

/**
 * Moves the answer to a call into a field that the SDK does not read. The SDK refuses a whole answer for one block of another
 * form, and the call may have had its effect. `toolResultOf` reads answers of any form.
 */
export function keepAnswer(message: JsonObject): void {
  const { result } = message;
  if (!isJsonObject(result) || ANSWER in result || !("content" in result || "structuredContent" in result)) return;
  const { resultType } = result;
  if (resultType !== undefined && resultType !== "complete") return;
  Object.assign(message, {
    result: { ...(resultType === "complete" && { resultType }), content: [], [ANSWER]: result },
  });
}

/** The answer as its server wrote it. Throws UnreadableAnswer. */
export function answerIn(result: JsonObject): JsonObject {
  if (!Object.hasOwn(result, ANSWER)) return result;
  const answer = result[ANSWER] ?? null;
  if (!isJsonObject(answer)) throw new UnreadableAnswer(typeof answer === "string" ? answer : "its answer cannot be read");
  if (isNestedDeeper(answer, MOST_LEVELS))
    throw new UnreadableAnswer(`its answer is nested more than ${MOST_LEVELS} levels deep`);
  return answer;
}
