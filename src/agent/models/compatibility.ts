import { Type } from "typebox";
import { complete, withDefault, type Complete, type Written } from "../../lib/setting.ts";

/** The ways in which servers behind the chat completions API differ, and which a chunk of theirs does not tell. */
export const COMPATIBILITY_SETTINGS = {
  /** False if the server refuses a person's message right after a tool's result: an assistant's `(continued)` stands between. Known families decide if omitted. */
  userAfterTool: withDefault(Type.Boolean(), null),
  /** True if a leading `<think>…</think>` in the text is a thought, "open" if the thought begins without a tag. Known families decide if omitted. */
  thinkTags: withDefault(Type.Union([Type.Boolean(), Type.Literal("open")]), null),
  /** False if the server refuses its own thoughts: they do not go back with the calls that followed them. True if omitted. */
  thoughtsGoBack: withDefault(Type.Boolean(), true),
  /** The name of the limit of tokens. OpenAI's newer one for OpenAI's own server if omitted, the older one for others. */
  tokenLimit: withDefault(Type.Enum(["max_tokens", "max_completion_tokens"]), null),
  /** The content of an answer that is only calls: the empty text if omitted, which most servers take, or null. */
  emptyContent: withDefault(Type.Enum(["text", "null"]), "text"),
  /** What stands for the signature of a call that another model made, where the server refuses a call without one. Gemini's own word for Gemini 3 and later if omitted. */
  callSignature: withDefault(Type.Unsafe<string | null>({ type: ["string", "null"], minLength: 1 }), null),
  /** False if the server refuses `additionalProperties` in the schemas of tools. True if omitted. */
  closedSchemas: withDefault(Type.Boolean(), true),
  /** False if the server refuses `stream_options`: then it counts no tokens. True if omitted. */
  streamOptions: withDefault(Type.Boolean(), true),
  /** False if the model reads no images: a text stands in their place. True if omitted. */
  images: withDefault(Type.Boolean(), true),
};

/** The settings as they are written. */
export type WrittenCompatibility = Written<typeof COMPATIBILITY_SETTINGS>;

/** The settings, with the defaults of the model's family where they say nothing. */
export type Compatibility = Complete<typeof COMPATIBILITY_SETTINGS> & {
  readonly userAfterTool: boolean;
  readonly thinkTags: boolean | "open";
};

/** Families whose chat templates refuse `user` right after `tool`. */
const NO_USER_AFTER_TOOL = /mistral|mixtral|magistral|devstral|codestral|ministral|pixtral|voxtral/i;
/** Models of Gemini that refuse calls without a signature, and what their provider names to stand for one. */
const SIGNS_CALLS = /gemini-(?:[3-9]|\d\d)/i;
const NO_SIGNATURE = "skip_thought_signature_validator";
/** Families whose models write what they think into the text where their server has no parser for it. */
const THINK_TAGS =
  /deepseek-?r1|r1-distill|qwq|qwen-?3|glm-?(?:4\.[1-9]|z1)|minimax-?m|magistral|nemotron|phi-?4.*reasoning|exaone-?deep|smollm3|cogito|hermes-?4|kimi.*thinking|ernie.*thinking|seed-?oss/i;

/** What is known of the family of a model, with what its settings say in its place. */
export function compatibilityOf(model: string, written: WrittenCompatibility): Compatibility {
  const given = complete(COMPATIBILITY_SETTINGS, written);
  return {
    ...given,
    userAfterTool: given.userAfterTool ?? !NO_USER_AFTER_TOOL.test(model),
    callSignature: given.callSignature ?? (SIGNS_CALLS.test(model) ? NO_SIGNATURE : null),
    thinkTags: given.thinkTags ?? THINK_TAGS.test(model),
  };
}
