import { createHash } from "node:crypto";
import type OpenAI from "openai";
import { Type } from "typebox";
import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { complete, withDefault, type Complete, type Written } from "../../lib/setting.ts";
import type { ContentBlock, ModelMessage, ModelRequest, ThinkingBlock, ThoughtField } from "./model.ts";
import { joinedFields } from "./odd-values.ts";
import { openSchema, toolSchema } from "./tool-schema.ts";

export const COMPATIBILITY_SETTINGS = {
  /**
   * False if the server rejects a user message right after a tool result: an assistant's `(continued)` separates them.
   * Known families decide if omitted.
   */
  userAfterTool: withDefault(Type.Boolean(), null),
  /** True if a leading `<think>…</think>` in the text is a thought, "open" if the thought begins without a tag. Known families decide if omitted. */
  thinkTags: withDefault(Type.Union([Type.Boolean(), Type.Literal("open")]), null),
  /** False if the server rejects its own thoughts: they are not sent back with the calls that followed them. True if omitted. */
  thoughtsGoBack: withDefault(Type.Boolean(), true),
  /** The name of the limit of tokens. OpenAI's newer one for OpenAI's own server if omitted, the older one for others. */
  tokenLimit: withDefault(Type.Enum(["max_tokens", "max_completion_tokens"]), null),
  /** The content of an answer of calls alone: the empty text if omitted, which most servers accept, or null. */
  emptyContent: withDefault(Type.Enum(["text", "null"]), "text"),
  /**
   * The substitute for the signature of another model's call, if the server rejects calls without one. Gemini's own
   * substitute for Gemini 3 and later if omitted.
   */
  callSignature: withDefault(Type.Unsafe<string | null>({ type: ["string", "null"], minLength: 1 }), null),
  /** False if the server refuses `additionalProperties` in the schemas of tools. True if omitted. */
  closedSchemas: withDefault(Type.Boolean(), true),
  /** False if the server refuses `stream_options`: then it counts no tokens. True if omitted. */
  streamOptions: withDefault(Type.Boolean(), true),
  /**
   * The way to ask for an answer in a shape. `json_schema` is for servers that follow `response_format` with tools, `tool`
   * for a tool whose input is the answer. `json_schema` at OpenAI and `tool` for others if omitted.
   */
  shapes: withDefault(Type.Enum(["json_schema", "tool"]), null),
  /** False if the model reads no images: a text stands in their place. True if omitted. */
  images: withDefault(Type.Boolean(), true),
};

export type WrittenCompatibility = Written<typeof COMPATIBILITY_SETTINGS>;

type Compatibility = Complete<typeof COMPATIBILITY_SETTINGS> & {
  readonly userAfterTool: boolean;
  readonly thinkTags: boolean | "open";
};

/** Families whose chat templates reject `user` right after `tool`. */
const NO_USER_AFTER_TOOL = /mistral|mixtral|magistral|devstral|codestral|ministral|pixtral|voxtral/i;
/** Gemini models that reject calls without a signature, and their provider's substitute. */
const SIGNS_CALLS = /gemini-(?:[3-9]|\d\d)/i;
const NO_SIGNATURE = "skip_thought_signature_validator";
/** Families whose thoughts are inline text if their server does not parse them. */
const THINK_TAGS =
  /deepseek-?r1|r1-distill|qwq|qwen-?3|glm-?(?:4\.[1-9]|z1)|minimax-?m|magistral|nemotron|phi-?4.*reasoning|exaone-?deep|smollm3|cogito|hermes-?4|kimi.*thinking|ernie.*thinking|seed-?oss/i;

export function compatibilityOf(model: string, written: WrittenCompatibility): Compatibility {
  const given = complete(COMPATIBILITY_SETTINGS, written);
  return {
    ...given,
    userAfterTool: given.userAfterTool ?? !NO_USER_AFTER_TOOL.test(model),
    callSignature: given.callSignature ?? (SIGNS_CALLS.test(model) ? NO_SIGNATURE : null),
    thinkTags: given.thinkTags ?? THINK_TAGS.test(model),
  };
}

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
