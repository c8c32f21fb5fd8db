import { isJsonObject, type JsonObject } from "../../../src/lib/json.ts";
import { messagesRefusal } from "./strict-shapes.ts";

const ID = /^[\w-]{1,64}$/;
/** The most marks for the prompt cache in one request. */
const MOST_MARKS = 4;

/** Why the Messages API refuses a request, its length aside; null if it does not. */
export function conversationRefusal(body: JsonObject): string | null {
  const { messages, tools = [], system = [], max_tokens: most } = body;
  if (typeof most !== "number" || most < 1) return "max_tokens: Field required";
  if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required";
  const named = objects(tools).map(({ name }) => textIn(name));
  if (named.some((name) => !ID.test(name))) return "tools: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'";
  if (new Set(named).size !== named.length) return "tools: Tool names must be unique.";
  const marks = [...objects(tools), ...objects(system), ...objects(messages).flatMap(contentOf)].filter(isMarked).length;
  if (marks > MOST_MARKS) return `A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${marks}.`;
  if (objects(system).some(isEmptyText)) return "system: text content blocks must be non-empty";
  return messagesRefusal(body) ?? rolesRefusal(objects(messages), named.length > 0);
}

function rolesRefusal(messages: readonly JsonObject[], hasTools: boolean): string | null {
  const ids = new Set<string>();
  let asked: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const place = `messages.${index}`;
    const wanted = index % 2 === 0 ? "user" : "assistant";
    if (message["role"] !== wanted) return `${place}: roles must alternate, and the first is "user"`;
    const content = contentOf(message);
    if (content.length === 0) return `${place}: all messages must have non-empty content`;
    if (content.some(isEmptyText)) return `${place}: text content blocks must contain non-whitespace text`;
    const answered = content.filter(({ type }) => type === "tool_result").map((block) => textIn(block["tool_use_id"]));
    if (content.slice(0, answered.length).some(({ type }) => type !== "tool_result"))
      return `${place}: tool_result blocks must come first`;
    const open = asked.filter((id) => !answered.includes(id));
    if (open.length > 0)
      return `${place}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join()}`;
    const unknown = answered.filter((id) => !asked.includes(id));
    if (unknown.length > 0) return `${place}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown.join()}`;
    if (new Set(answered).size !== answered.length) return `${place}: each tool_use must have a single result`;
    asked = content.filter(({ type }) => type === "tool_use").map((block) => textIn(block["id"]));
    if (asked.length > 0 && (wanted === "user" || !hasTools)) return `${place}: \`tool_use\` blocks need tools, and an assistant`;
    if (asked.some((id) => !ID.test(id))) return `${place}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    if (asked.some((id) => ids.has(id)) || new Set(asked).size !== asked.length)
      return `${place}: \`tool_use\` ids must be unique`;
    asked.forEach((id) => ids.add(id));
  }
  return messages.length % 2 === 1 ? null : "the conversation must end with a user message";
}

/** The blocks of a message. */
export function contentOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objects(content);
}

/** The objects of a list from outside. */
export function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** A text from outside; empty if it is none. */
export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isMarked(block: JsonObject): boolean {
  return block["cache_control"] !== undefined;
}

function isEmptyText({ type, text }: JsonObject): boolean {
  return type === "text" && textIn(text).trim() === "";
}
