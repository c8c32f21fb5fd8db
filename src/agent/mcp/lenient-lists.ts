import type { Transport } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "../../lib/json.ts";
import { schemaProblem, UNUSABLE } from "./schema-check.ts";
import { keepTask } from "./tasks.ts";

/**
 * Replaces tools of an invalid form in the lists of the newer generation: the SDK refuses such a list for one of them. The
 * schema of a replaced tool has the problem (UNUSABLE), with which it is left out. Tasks in results are kept, too.
 */
export function withLenientLists(transport: Transport): Transport {
  type Receiver = Transport["onmessage"];
  let receiver: Receiver;
  return Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: (): Receiver => receiver,
    set: (given: Receiver) => {
      receiver =
        given === undefined
          ? undefined
          : (message, extra) => {
              if (isJsonObject(message)) {
                repair(message);
                keepTask(message);
              }
              given(message, extra);
            };
    },
  });
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
