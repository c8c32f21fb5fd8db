import type { Answer } from "../../conversation/answer.ts";
import { overheadOf, tokensPerByte, type MeasuredContext, type Overhead } from "../../conversation/context-size.ts";
import { SentRequests, type Sent } from "../../conversation/sent-request.ts";
import type { Model, ModelMessage, ModelRequest } from "../../models/model.ts";
import type { ContextColumns } from "../commits/steps.ts";
import type { Template } from "../scope.ts";
import { limitOf } from "./context-fill.ts";

/** The window of a request: its messages as rows make them, their bytes, its bound, and the length of the conversation. */
export type SentWindow = {
  readonly messages: readonly ModelMessage[];
  readonly weight: number;
  readonly contextMessages: number | null;
  readonly length: number;
};

/** The request that an agent sent last: its record, and its bytes by its parts. */
export class SentContext {
  readonly #requests = new SentRequests();
  #bytes: Overhead & { readonly messages: number } = { system: 0, tools: 0, messages: 0 };

  #sent: Sent | null = null;

  /** The record of the request of the present step; null if none was made. */
  get record(): Sent | null {
    return this.#sent;
  }

  begins(): void {
    this.#sent = null;
  }

  sends(request: ModelRequest, window: SentWindow): void {
    this.#bytes = { ...overheadOf(request), messages: window.weight };
    this.#sent = this.#requests.record(request, window);
  }

  /** The size of the context with the answer: the request as the provider has counted it, and the answer by the same measure. */
  with({ usage, content }: Answer, model: Model, template: Template): ContextColumns {
    const sent = this.#bytes.system + this.#bytes.tools + this.#bytes.messages;
    const bytes = sent + Buffer.byteLength(JSON.stringify(content));
    const counted = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const tokens = counted === 0 || sent === 0 ? null : Math.round((counted * bytes) / sent);
    return { contextTokens: tokens, contextBytes: bytes, contextWindow: limitOf(template, model, tokens ?? 0) };
  }

  /** The sizes of the parts of a request that cannot be made smaller. */
  sizes(measured: MeasuredContext | null): string {
    const tokens = (bytes: number): string => `about ${Math.ceil(bytes * tokensPerByte(measured))} tokens`;
    const { system, tools, messages } = this.#bytes;
    return `The system prompt has ${tokens(system)}, the tools have ${tokens(tools)}, and the newest input has ${tokens(messages)}`;
  }
}
