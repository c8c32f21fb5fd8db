import { isJsonObject, type Json, type JsonObject } from "../../../src/lib/json.ts";

type Body = Readonly<Record<string, unknown>>;

/** The keywords that Anthropic and OpenAI accept in an enforced schema; both refuse the whole request for another one. */
const KEYWORDS = new Set(["type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description"]);

/** Why a provider refuses an enforced schema; null if it does not. OpenAI requires each field. */
export function schemaRefusal(schema: Json | undefined, allRequired: boolean, place = "schema"): string | null {
  if (!isJsonObject(schema)) return `${place}: not a schema`;
  const unknown = Object.keys(schema).find((name) => !KEYWORDS.has(name));
  if (unknown !== undefined) return `${place}: '${unknown}' is not supported`;
  if (schema["type"] === undefined && schema["anyOf"] === undefined && schema["enum"] === undefined)
    return `${place}: a type is required`;
  if (schema["type"] === "object") {
    if (schema["additionalProperties"] !== false) return `${place}: 'additionalProperties' must be false`;
    const properties: JsonObject = isJsonObject(schema["properties"]) ? schema["properties"] : {};
    const required: readonly Json[] = Array.isArray(schema["required"]) ? schema["required"] : [];
    const optional = Object.keys(properties).find((name) => !required.includes(name));
    if (allRequired && optional !== undefined) return `${place}: 'required' must have '${optional}'`;
    return firstOf(Object.entries(properties), ([name, field]) => schemaRefusal(field, allRequired, `${place}.${name}`));
  }
  if (schema["type"] === "array") return schemaRefusal(schema["items"], allRequired, `${place}.items`);
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? firstOf(anyOf as Json[], (each) => schemaRefusal(each, allRequired, `${place}.anyOf`)) : null;
}

function firstOf<Value>(values: readonly Value[], refusal: (value: Value) => string | null): string | null {
  for (const value of values) {
    const refused = refusal(value);
    if (refused !== null) return refused;
  }
  return null;
}

/** Why the Messages API refuses a request's settings; null if it does not. */
export function messagesRefusal(body: Body): string | null {
  const { temperature, thinking, tool_choice: choice, output_config: output, tools } = body;
  const thinks = isJsonObject(thinking) && thinking["type"] !== "disabled";
  if (typeof temperature === "number" && (thinks || temperature > 1))
    return "`temperature` may only be set to 1 when thinking is enabled";
  const forced = isJsonObject(choice) && (choice["type"] === "any" || choice["type"] === "tool");
  if (forced && thinks) return "Thinking may not be enabled when tool_choice forces tool use.";
  if (isJsonObject(choice) && choice["type"] === "tool" && !namesOf(tools).includes(nameOf(choice)))
    return `Tool '${nameOf(choice)}' not found in provided tools`;
  const format = isJsonObject(output) ? output["format"] : undefined;
  return isJsonObject(format) ? schemaRefusal(format["schema"], false) : null;
}

/** Why OpenAI's chat completions API refuses a request's settings; null if it does not. */
export function completionsRefusal(body: Body): string | null {
  const { response_format: format, stop } = body;
  if (Array.isArray(stop) && stop.length > 4) return "'stop' has too many items";
  if (!isJsonObject(format)) return null;
  const asked = format["json_schema"];
  if (!isJsonObject(asked)) return "'json_schema' is missing";
  if (typeof asked["name"] !== "string" || !/^[\w-]{1,64}$/.test(asked["name"])) return "'json_schema.name' is invalid";
  return asked["strict"] === true ? schemaRefusal(asked["schema"], true) : null;
}

function namesOf(tools: unknown): readonly string[] {
  return Array.isArray(tools) ? tools.map((tool: unknown) => (isJsonObject(tool) ? nameOf(tool) : "")) : [];
}

function nameOf({ name }: JsonObject): string {
  return typeof name === "string" ? name : "";
}
