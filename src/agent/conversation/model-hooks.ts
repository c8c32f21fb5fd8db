import { Type, type TProperties } from "typebox";
import { formCheck } from "../../lib/form.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { messageOf } from "../../lib/text.ts";
import { type ContentBlock, type ModelMessage, type StopReason, type TokenUsage, IMAGE_TYPES } from "../models/model.ts";
import { hookAnswer, type Placed } from "../tools/tool-hooks.ts";

export type HookedAgent = {
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly templateId: string;
};

export type HookStep = HookedAgent & { readonly step: number; readonly model: string };

/**
 * Receives the messages for the model, and may replace them for this call: the stored conversation is never rewritten.
 * If it throws, or returns an invalid value, the turn ends with an error.
 */
export type PreModel = (
  step: HookStep,
  messages: readonly ModelMessage[],
) => readonly ModelMessage[] | undefined | Promise<readonly ModelMessage[] | undefined>;

export type HookAnswer = {
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: TokenUsage;
};

/** Receives a model's answer after it is stored. Its errors are reported. */
export type PostModel = (step: HookStep, answer: HookAnswer) => void | Promise<void>;

/** Receives the conversation that the model reads, each time it has grown. Its errors are reported. */
export type MessagesChanged = (agent: HookedAgent, messages: readonly ModelMessage[]) => void | Promise<void>;

export async function beforeModel(
  hooks: readonly Placed<PreModel>[],
  step: HookStep,
  messages: readonly ModelMessage[],
  signal: AbortSignal,
): Promise<Result<readonly ModelMessage[], string>> {
  let current = messages;
  for (const { place, run } of hooks) {
    try {
      const given = structuredClone(current);
      const answer: unknown = await hookAnswer(() => run(step, given), signal, place);
      if (answer === undefined || answer === null) continue;
      const read = readHookMessages(answer);
      if (!read.ok) return refused(`the hook ${place} answered something else than messages: ${read.refusal}`);
      current = read.value;
    } catch (error) {
      return refused(`the hook ${place} failed: ${messageOf(error)}`);
    }
  }
  return accepted(current);
}

export type ModelHooks = {
  readonly preModel: readonly Placed<PreModel>[];
  readonly postModel: readonly Placed<PostModel>[];
  readonly messagesChanged: readonly Placed<MessagesChanged>[];
};

const ANY_TEXT = Type.String();

/** A block with its required fields. Hooks are other people's code: further fields are allowed. */
function block(type: ContentBlock["type"], fields: TProperties) {
  return Type.Object({ type: Type.Literal(type), ...fields });
}

const BLOCK = Type.Unsafe({
  type: "object",
  required: ["type"],
  discriminator: { propertyName: "type" },
  oneOf: [
    block("text", { text: ANY_TEXT }),
    block("image", {
      source: Type.Object({ type: Type.Literal("base64"), media_type: Type.Enum([...IMAGE_TYPES]), data: ANY_TEXT }),
    }),
    block("thinking", { thinking: ANY_TEXT }),
    block("tool_use", { id: ANY_TEXT, name: ANY_TEXT, input: Type.Unsafe({}) }),
    block("tool_result", { tool_use_id: ANY_TEXT, content: ANY_TEXT }),
  ],
});

const problemsOf = formCheck(
  Type.Object({ messages: Type.Array(Type.Object({ role: Type.Enum(["user", "assistant"]), content: Type.Array(BLOCK) })) }),
  "the answer",
);

/**
 * Reads the messages of a preModel hook, which is other people's code: as a JSON copy, which the hook cannot change
 * later. The refusal is the first problem. Throws as JSON.stringify does.
 */
export function readHookMessages(answer: unknown): Result<readonly ModelMessage[], string> {
  const copied = JSON.parse(JSON.stringify({ messages: answer })) as { readonly messages: readonly ModelMessage[] };
  const [problem] = problemsOf(copied);
  return problem === undefined ? accepted(copied.messages) : refused(problem);
}
