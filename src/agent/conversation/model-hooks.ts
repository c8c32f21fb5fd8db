import { accepted, refused, type Result } from "../../lib/result.ts";
import { messageOf } from "../../lib/text.ts";
import type { ContentBlock, ModelMessage, StopReason, TokenUsage } from "../models/model.ts";
import { hookAnswer, type Placed } from "../tools/hook.ts";
import { readHookMessages } from "./hook-messages.ts";

/** The agent of a model call, or of a conversation, as hooks are told of it. */
export type HookedAgent = {
  readonly tenant: string;
  readonly agentId: string;
  /** The id of the actor who created the agent. */
  readonly createdBy: string;
  readonly templateId: string;
};

/** A model call as hooks see it. */
export type HookStep = HookedAgent & { readonly step: number; readonly model: string };

/**
 * Looks at the messages that the model will read, and may give others, for this call only: the conversation itself is
 * never rewritten. One that throws, or answers something else than messages, ends the turn with an error.
 */
export type PreModel = (
  step: HookStep,
  messages: readonly ModelMessage[],
) => readonly ModelMessage[] | undefined | Promise<readonly ModelMessage[] | undefined>;

/** The answer of a model. */
export type HookAnswer = {
  readonly content: readonly ContentBlock[];
  readonly stopReason: StopReason;
  readonly usage: TokenUsage;
};

/** Looks at a model's answer after it is stored. One that throws is reported. */
export type PostModel = (step: HookStep, answer: HookAnswer) => void | Promise<void>;

/** Is shown the conversation, as far as the model reads it, each time it has grown. One that throws is reported. */
export type MessagesChanged = (agent: HookedAgent, messages: readonly ModelMessage[]) => void | Promise<void>;

/** The messages that the model will read after the hooks have looked at them, or the problem with a hook. */
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

/** The operator's own code around model calls, in the order in which it runs. */
export type ModelHooks = {
  readonly preModel: readonly Placed<PreModel>[];
  readonly postModel: readonly Placed<PostModel>[];
  readonly messagesChanged: readonly Placed<MessagesChanged>[];
};
