import type { Logger } from "../../telemetry/log.ts";
import type { Meters, TokenCounts } from "../../telemetry/meters.ts";
import { costOf, MODEL_ERROR_KINDS, ModelError, type Model, type ModelEvent, type TokenUsage } from "./model.ts";

export const MODEL_OUTCOMES = ["answered", "interrupted", ...MODEL_ERROR_KINDS] as const;
type Outcome = (typeof MODEL_OUTCOMES)[number];

/**
 * Measures each try of a model's calls, under its configured name. Used tokens count also if a try breaks off or its
 * answer is dropped. Errors that are not a provider's answer are logged with their stack.
 */
export function measured(name: string, model: Model, meters: Meters, logger: Pick<Logger, "tell">): Model {
  return {
    name: model.name,
    price: model.price,
    ...(model.window === undefined ? {} : { window: model.window }),
    ...(model.count === undefined ? {} : { count: model.count }),
    async *stream(request, signal, heard) {
      const measure = new Measure(name, model, meters);
      const aborted = (): void => measure.end(signal.reason instanceof ModelError ? signal.reason.kind : "interrupted");
      // A stream that ignores its signal may never end.
      signal.addEventListener("abort", aborted, { once: true });
      try {
        for await (const event of model.stream(request, signal, heard)) {
          measure.take(event);
          yield event;
        }
        measure.end("broken");
      } catch (error) {
        measure.end(error instanceof ModelError ? error.kind : "rejected");
        if (!(error instanceof ModelError) && !signal.aborted)
          logger.tell("own_code_failed", `the model ${name} threw`, { model: name }, error);
        throw error;
      } finally {
        measure.end("interrupted");
        signal.removeEventListener("abort", aborted);
      }
    },
  };
}

class Measure {
  readonly #name: string;
  readonly #model: Model;
  readonly #meters: Meters;
  readonly #started = performance.now();
  #firstWord: number | null = null;
  #hasSaid = false;
  #usage: TokenUsage | null = null;
  #hasEnded = false;

  constructor(name: string, model: Model, meters: Meters) {
    this.#name = name;
    this.#model = model;
    this.#meters = meters;
  }

  take(event: ModelEvent): void {
    if (event.type === "counted") {
      this.#usage = event.usage;
      return;
    }
    this.#firstWord ??= this.#seconds;
    if (event.type === "tool_use" || (event.type === "text_delta" && event.text.trim() !== "")) this.#hasSaid = true;
    if (event.type !== "end") return;
    this.#usage = event.usage;
    if (event.stopReason === "refusal") this.end("refused");
    else this.end(event.stopReason === "end_turn" && !this.#hasSaid ? "empty" : "answered");
  }

  end(outcome: Outcome): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const name = this.#name;
    const { price } = this.#model;
    this.#meters.modelCalled(name, outcome, this.#seconds, this.#firstWord);
    if (this.#usage !== null) this.#meters.tokensCounted(name, countsOf(this.#usage), costOf(this.#usage, price));
  }

  get #seconds(): number {
    return (performance.now() - this.#started) / 1_000;
  }
}

function countsOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: TokenUsage): TokenCounts {
  return { input: inputTokens, output: outputTokens, cache_read: cacheReadTokens, cache_write: cacheWriteTokens };
}
