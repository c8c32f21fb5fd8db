import type { Answer } from "../../conversation/answer.ts";
import {
  overheadOf,
  tokensPerByte,
  type FixedParts,
  type MeasuredContext,
  type Overhead,
} from "../../conversation/context-size.ts";
import type { Model } from "../../models/model.ts";
import type { ContextColumns } from "../commits/steps.ts";

/** The bytes of the request that an agent sent last, by its parts. */
export class SentContext {
  #bytes: Overhead & { readonly messages: number } = { system: 0, tools: 0, messages: 0 };

  sends(parts: FixedParts, messages: number): void {
    this.#bytes = { ...overheadOf(parts), messages };
  }

  /** The size of the context with the answer: the request as the provider has counted it, and the answer by the same measure. */
  with({ usage, content }: Answer, model: Model): ContextColumns {
    const sent = this.#bytes.system + this.#bytes.tools + this.#bytes.messages;
    const bytes = sent + Buffer.byteLength(JSON.stringify(content));
    const counted = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const tokens = counted === 0 || sent === 0 ? null : Math.round((counted * bytes) / sent);
    return { contextTokens: tokens, contextBytes: bytes, contextWindow: model.window?.(tokens ?? 0) ?? null };
  }

  /** The sizes of the parts of a request that cannot be made smaller. */
  sizes(measured: MeasuredContext | null): string {
    const tokens = (bytes: number): string => `about ${Math.ceil(bytes * tokensPerByte(measured))} tokens`;
    const { system, tools, messages } = this.#bytes;
    return `The system prompt has ${tokens(system)}, the tools have ${tokens(tools)}, and the newest input has ${tokens(messages)}`;
  }
}
