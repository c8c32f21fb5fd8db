import type { AgentEventBody } from "../../../events/event.ts";
import type { Fill } from "../../conversation/compaction-plan.ts";
import { overheadOf, tokensPerByte, type FixedParts } from "../../conversation/context-size.ts";
import { storedBlocks } from "../../conversation/images.ts";
import type { Transcript } from "../../conversation/transcript.ts";
import { weightOfAll, windowOf } from "../../conversation/window.ts";
import type { Model } from "../../models/model.ts";
import { warning } from "../commits/answered.ts";
import { eventsOnly, resultsMessage, type Commit } from "../commits/commit.ts";
import type { Owner } from "../owner.ts";
import type { Template } from "../scope.ts";
import type { AgentView } from "../view.ts";

/** An agent, and the parts of its next request. */
export type Subject = {
  readonly view: AgentView;
  readonly template: Template;
  readonly model: Model;
  /** The fixed parts of the next request. */
  readonly request: () => Promise<FixedParts>;
};

/** The time for the provider's count, in ms. */
const COUNT_MS = 5_000;
/** The provider counts if more than this share of the mark is estimated, and the estimate is as near to the mark as that. */
const ESTIMATED = 0.05;
const NEAR = 0.1;

/** The context window as it will be with the results that join. Deferred commits are stored before it is read. */
export async function fillOf(owner: Owner, transcript: Transcript, subject: Subject): Promise<Fill> {
  const { view, template, model, request } = subject;
  await owner.flush();
  const size = template.contextMessages;
  const loaded = await transcript.load(view, size);
  const { system, tools } = overheadOf(await request());
  const overhead = system + tools + outputsOf(view);
  const perByte = tokensPerByte(view.measured);
  const tokens = Math.round((weightOfAll(windowOf(loaded.messages, loaded.compacted, size)) + overhead) * perByte);
  const limit = limitOf(template, model, tokens);
  return { loaded, size, settings: template.context, limit, tokens, tokensPerByte: perByte, overhead };
}

/** The same with the provider's count, if the estimate is near the mark and far from the last count. */
export async function countedFill(fill: Fill, transcript: Transcript, subject: Subject, at: Date): Promise<Fill> {
  const { view, template, model, request } = subject;
  const { limit, tokens, size } = fill;
  if (model.count === undefined || limit === null) return fill;
  const mark = template.context.compressAt * limit;
  const known = view.measured?.tokens ?? 0;
  if (tokens - known < ESTIMATED * mark || Math.abs(tokens - mark) > NEAR * mark) return fill;
  try {
    const sent = await (await transcript.window(view, size)).messages();
    const results = resultsMessage(view, at).map(
      ({ content }) => ({ role: "user", content: storedBlocks(content).filter((block) => block.type !== "image") }) as const,
    );
    const whole = {
      ...(await request()),
      messages: [...sent, ...results],
      exposeThinking: false,
      settings: template.modelSettings,
      isFirstOfTurn: false,
    };
    return { ...fill, tokens: await model.count(whole, AbortSignal.timeout(COUNT_MS)) };
  } catch {
    // The estimate stands.
    return fill;
  }
}

/** The tokens that a context may have; null if unknown. */
export function limitOf({ context }: Template, model: Model, tokens: number): number | null {
  const window = model.window?.(tokens) ?? null;
  if (window === null) return context.maxTokens;
  return context.maxTokens === null ? window : Math.min(window, context.maxTokens);
}

/** The bytes of the outputs that join with the next step. */
export function outputsOf({ calls, lastMessageKind }: AgentView): number {
  return lastMessageKind === "ASSISTANT" ? calls.reduce((sum, { output }) => sum + (output?.length ?? 0), 0) : 0;
}

/** A warning if a compaction does not reach its target: the next one would come too soon. */
export function tooLarge(tokensAfter: number, { limit, settings }: Fill): Commit {
  if (limit === null || tokensAfter <= settings.target * limit) return eventsOnly();
  const shares = `${Math.round((100 * tokensAfter) / limit)} % of the context window, not ${Math.round(100 * settings.target)} %`;
  const event: AgentEventBody = warning("compaction_too_small", `a compaction has reached ${shares}`);
  return eventsOnly(event);
}
