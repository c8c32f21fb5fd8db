import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "../../../lib/json.ts";
import { keepAnswer, noAnswer, repairResponse, requestId } from "./kept-answer.ts";
import { schemaProblem, UNUSABLE } from "../schema-check.ts";
import { keepTask } from "../tasks/task.ts";

/** JSON-RPC: the parameters of a request are invalid. */
const INVALID_PARAMS = -32_602;

/**
 * Replaces tools of an invalid form in the lists of the newer generation: the SDK refuses such a list for one of them. The
 * schema of a replaced tool has the problem (UNUSABLE), with which it is left out. The answers of calls and their tasks are
 * kept, too. A request whose stream ends without a response has a response that says so. Requests of a server that are none by `isRequest` are answered with an error: the SDK drops them, and their server
 * would wait.
 */
export function withLenientMessages(transport: Transport, isRequest: (message: unknown) => boolean): Transport {
  type Receiver = Transport["onmessage"];
  let receiver: Receiver;
  /** The requests without a response, by their ids: servers write numbers as texts. */
  const open = new Set<string>();
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const id = requestId(message);
    if (id === null) return send(message, options);
    const close = (): boolean => open.delete(String(id));
    open.add(String(id));
    options?.requestSignal?.addEventListener("abort", close, { once: true });
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      if (close()) receiver?.(noAnswer(id) as JSONRPCMessage);
    };
    try {
      await send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      close();
      throw error;
    }
  };
  return Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: (): Receiver => receiver,
    set: (given: Receiver) => {
      receiver =
        given === undefined
          ? undefined
          : (message, extra) => {
              if (isJsonObject(message)) {
                repairResponse(message);
                if (!("method" in message) && "id" in message) open.delete(String(message.id));
                repair(message);
                keepAnswer(message);
                keepTask(message);
                if (isUnreadable(message, isRequest)) return refuse(transport, message.id);
              }
              given(message, extra);
            };
    },
  });
}

type Unreadable = { readonly id: string | number };

function isUnreadable(message: object, isRequest: (message: unknown) => boolean): message is Unreadable {
  if (!("method" in message) || !("id" in message)) return false;
  const { id } = message;
  return (typeof id === "string" || Number.isSafeInteger(id)) && !isRequest(message);
}

/** A transport that is closed takes no answer. */
function refuse(transport: Transport, id: Unreadable["id"]): void {
  const error = { code: INVALID_PARAMS, message: "the parameters of the request are no object, or its form is unknown" };
  transport.send({ jsonrpc: "2.0", id, error }).catch(() => {});
}

function repair(message: JsonObject): void {
  const { result } = message;
  if (!isJsonObject(result) || !("resultType" in result) || !Array.isArray(result["tools"])) return;
  const tools = (result["tools"] as readonly unknown[]).map((tool) => repaired(tool));
  Object.assign(result, { tools });
}

/** The tool if its form is the protocol's; optional parts of another form are removed. */
function repaired(tool: unknown): object {
  if (!isJsonObject(tool) || typeof tool["name"] !== "string") return { name: "", inputSchema: { type: "object" } };
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  const problem = schemaProblem(inputSchema);
  return {
    name,
    inputSchema: problem === null ? inputSchema : { type: "object", [UNUSABLE]: problem },
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
    ...(isJsonObject(outputSchema) && { outputSchema }),
    ...(isJsonObject(annotations) && { annotations: hints(annotations) }),
  };
}

function hints(annotations: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(annotations).filter(([name, value]) =>
      name === "title" ? typeof value === "string" : typeof value === "boolean",
    ),
  );
}
