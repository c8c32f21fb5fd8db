import { Type } from "typebox";
import { complete, withDefault, type Complete, type Written } from "../../lib/setting.ts";

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
  /** False if the model reads no images: a text stands in their place. True if omitted. */
  images: withDefault(Type.Boolean(), true),
};

export type WrittenCompatibility = Written<typeof COMPATIBILITY_SETTINGS>;

export type Compatibility = Complete<typeof COMPATIBILITY_SETTINGS> & {
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
