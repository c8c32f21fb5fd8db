import { randomUUID } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../../lib/json.ts";

/** The field of a result that has the answer of a server: its name is unknown to servers. */
const ANSWER = `answer-${randomUUID()}`;

/** JSON-RPC: an internal error. */
const INTERNAL_ERROR = -32_603;

/** A server's answer cannot be read: a call may have had its effect. */
class UnreadableAnswer extends Error {
  override readonly name = "UnreadableAnswer";

  constructor() {
    super("its answer is no object");
  }
}

/**
 * Gives a response of another form than that of JSON-RPC this form: the SDK drops such a response, and its request would wait
 * for its time limit. Servers write `"error": null` beside a result, an error that is a text, and no version.
 */
export function repairResponse(message: JsonObject): void {
  if ("method" in message || !("id" in message)) return;
  const { error = null, result = null } = message;
  Reflect.deleteProperty(message, "error");
  Reflect.deleteProperty(message, "result");
  const read = isJsonObject(result) ? result : { content: [], [ANSWER]: null };
  Object.assign(message, { jsonrpc: "2.0", ...(error === null ? { result: read } : { error: errorIn(error) }) });
}

function errorIn(error: Json): JsonObject {
  const said = isJsonObject(error) ? error : { message: error };
  const { code = null, message = null }: JsonObject = said;
  return {
    ...said,
    code: Number.isSafeInteger(code) ? code : INTERNAL_ERROR,
    message: typeof message === "string" ? message : message === null ? "it gives no reason" : JSON.stringify(message),
  };
}

/**
 * Moves the answer to a call into a field that the SDK does not read: it refuses a whole answer for one block of another form,
 * and the call may have had its effect. `toolResultOf` reads answers of any form.
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
  const answer = result[ANSWER];
  if (!isJsonObject(answer)) throw new UnreadableAnswer();
  return answer;
}
