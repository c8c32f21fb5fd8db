import { createHash } from "node:crypto";
import type OpenAI from "openai";
import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import type { Compatibility } from "./compatibility.ts";
import type { ContentBlock, ModelMessage, ModelRequest, ThinkingBlock, ThoughtField } from "./model.ts";
import { joinedFields } from "./odd-values.ts";
import { openSchema, toolSchema } from "./tool-schema.ts";

type Part =
  { readonly type: "text"; readonly text: string } | { readonly type: "image_url"; readonly image_url: { readonly url: string } };
type Call = {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
};

type Param =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly Part[] }
  | { readonly role: "assistant"; readonly content: Json; readonly tool_calls?: readonly Call[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

type Body = Pick<OpenAI.ChatCompletionCreateParamsStreaming, "messages" | "tools">;

/** The request's body, in an order that every server accepts. `name` is the model's: fields of other models are left out. */
export function chatBody(request: ModelRequest, name: string, compatibility: Compatibility): Body {
  const tools = request.tools.map(({ name: tool, description, inputSchema }) => {
    const parameters = compatibility.closedSchemas ? toolSchema(inputSchema) : openSchema(toolSchema(inputSchema));
    return { type: "function", function: { name: tool, description, parameters: { ...parameters } } } as const;
  });
  const said = request.messages.flatMap((message) => params(message, name, compatibility));
  const messages: Param[] = [{ role: "system", content: request.system }, ...withThoughts(ordered(said, compatibility))];
  // The SDK does not know provider fields, and sends them unchanged.
  return { messages: messages as Body["messages"], ...(tools.length === 0 ? {} : { tools }) };
}

/** One message a role, but one for each tool result; results come before the person's text. */
function params({ role, content }: ModelMessage, name: string, compatibility: Compatibility): Param[] {
  return role === "assistant"
    ? assistantParams(content, name, compatibility)
    : [...content.flatMap(toolParam), ...userParams(content, compatibility)];
}

/**
 * Avoids two user messages in a row, and a user message right after a tool result if the server rejects that. They
 * arise from empty answers, and from people's text that joins results.
 */
function ordered(messages: readonly Param[], { userAfterTool }: Compatibility): Param[] {
  const given: Param[] = [];
  for (const message of messages) {
    const before = given.at(-1);
    if (message.role === "user" && before?.role === "user")
      given[given.length - 1] = joinedUsers(before.content, message.content);
    else {
      if (message.role === "user" && before?.role === "tool" && !userAfterTool)
        given.push({ role: "assistant", content: "(continued)" });
      given.push(message);
    }
  }
  return given;
}

/** A server with `reasoning_content` requires the field with all calls, also with those of other models. */
function withThoughts(messages: readonly Param[]): Param[] {
  if (!messages.some((message) => "reasoning_content" in message)) return [...messages];
  return messages.map((message) =>
    message.role === "assistant" && message.tool_calls !== undefined ? { reasoning_content: "", ...message } : message,
  );
}

function joinedUsers(one: string | readonly Part[], other: string | readonly Part[]): Param {
  if (typeof one === "string" && typeof other === "string") return { role: "user", content: `${one}\n\n${other}` };
  const parts = [one, other].flatMap((content): readonly Part[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : content,
  );
  return { role: "user", content: parts };
}

function assistantParams(content: readonly ContentBlock[], name: string, compatibility: Compatibility): Param[] {
  const text = content.flatMap((block) => (block.type === "text" && block.text.trim() !== "" ? [block.text] : [])).join("\n\n");
  const calls = signed(
    content.flatMap((block) => (block.type === "tool_use" ? [callParam(block, name)] : [])),
    compatibility,
  );
  if (calls.length === 0) return text === "" ? [] : [{ role: "assistant", content: text }];
  const own = content.flatMap((block) => (block.type === "thinking" && block.by === name ? [block] : []));
  const thoughts = compatibility.thoughtsGoBack ? own : [];
  const said = contentWith(thoughts, text);
  return [
    {
      ...fieldsOf(thoughts),
      role: "assistant",
      content: said === "" && compatibility.emptyContent === "null" ? null : said,
      tool_calls: calls,
    },
  ];
}

/** The calls of an answer. The first has a signature if the server requires one, also for another model's call. */
function signed([first, ...others]: readonly Call[], { callSignature }: Compatibility): readonly Call[] {
  if (first === undefined) return [];
  if (callSignature === null || "extra_content" in first) return [first, ...others];
  const signature: JsonObject = { extra_content: { google: { thought_signature: callSignature } } };
  return [{ ...signature, ...first }, ...others];
}

function fieldsOf(thoughts: readonly ThinkingBlock[]): JsonObject {
  const ofField = (field: ThoughtField): JsonObject => {
    const text = thoughts.flatMap((block) => (block.field === field ? [block.thinking] : [])).join("");
    return text === "" ? {} : { [field]: text };
  };
  const others = thoughts.reduce<JsonObject>((fields, block) => joinedFields(fields, block.fields ?? {}), {});
  return { ...others, ...ofField("reasoning_content"), ...ofField("reasoning") };
}

function contentWith(thoughts: readonly ThinkingBlock[], text: string): Json {
  const ofField = (field: ThoughtField): string =>
    thoughts.flatMap((block) => (block.field === field ? [block.thinking] : [])).join("");
  const part = ofField("content part");
  if (part !== "")
    return [{ type: "thinking", thinking: [{ type: "text", text: part }] }, ...(text === "" ? [] : [{ type: "text", text }])];
  const tagged = ofField("think tag");
  return tagged === "" ? text : `<think>${tagged}</think>\n\n${text}`;
}

function callParam({ id, name: tool, input, provider }: ContentBlock & { readonly type: "tool_use" }, name: string): Call {
  const { function: ofFunction, ...ofCall } = provider?.by === name ? provider.fields : {};
  const inner = isJsonObject(ofFunction) ? ofFunction : {};
  return { ...ofCall, id: sentId(id), type: "function", function: { ...inner, name: tool, arguments: JSON.stringify(input) } };
}

/**
 * A call id that every server accepts: Mistral's requires nine letters and digits, and OpenAI's at most 40 characters.
 * Ids may come from other providers or scripts.
 */
function sentId(id: string): string {
  return createHash("sha256")
    .update(id)
    .digest("base64")
    .replaceAll(/[^a-zA-Z0-9]/g, "")
    .slice(0, 9);
}

/** The protocol has no mark for a failed call: the text says so. Texts are never empty: some servers reject that. */
function toolParam(block: ContentBlock): Param[] {
  if (block.type !== "tool_result") return [];
  const text = block.content.trim() === "" ? "(no output)" : block.content;
  return [{ role: "tool", tool_call_id: sentId(block.tool_use_id), content: block.is_error ? `Error: ${text}` : text }];
}

/** Plain text if there are no images: some servers accept no other form. */
function userParams(content: readonly ContentBlock[], { images }: Compatibility): Param[] {
  const parts = content.flatMap((block): Part[] => {
    if (block.type === "text") return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
    if (block.type !== "image") return [];
    if (!images) return [{ type: "text", text: "[an image, which this model does not read]" }];
    return [{ type: "image_url", image_url: { url: `data:${block.source.media_type};base64,${block.source.data}` } }];
  });
  if (parts.length === 0) return [];
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return [{ role: "user", content: texts.length === parts.length ? texts.join("\n\n") : parts }];
}
