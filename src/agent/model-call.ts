import type { EventBody } from "../events/event.ts";
import { pieces } from "../lib/text.ts";
import { AnswerBuilder, type Answer } from "./blocks.ts";
import type { Hold } from "./hold.ts";
import type { Model, ModelEvent, ModelRequest } from "./models/model.ts";

/** Deltas longer than this are split: an event must not grow beyond its limit. */
const DELTA_CHARACTERS = 8_000;
/** A longer block's text is not repeated in its TEXT_CHUNK_END; readers join the deltas. */
const BLOCK_TEXT_CHARACTERS = 16_000;

/** How a model call ended. What was said before it broke off is closed by `closing` events and goes to no model. */
export type ModelOutcome =
  | { readonly kind: "answered"; readonly answer: Answer; readonly durationMs: number }
  | { readonly kind: "interrupted"; readonly closing: readonly EventBody[] }
  | { readonly kind: "failed"; readonly error: unknown; readonly closing: readonly EventBody[] };

/** Makes one model call and streams its text into the log. Ends at once when `signal` aborts. Never rejects. */
export async function callModel(
  model: Model,
  request: ModelRequest,
  step: number,
  hold: Hold,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  const started = performance.now();
  const answer = new AnswerBuilder();
  try {
    for await (const event of untilAborted(model.stream(request, signal), signal)) {
      if (event.type === "end")
        return {
          kind: "answered",
          answer: answer.finish(event.stopReason, event.usage),
          durationMs: performance.now() - started,
        };
      take(event, answer, step, hold);
    }
    throw new Error("the model's stream ended without saying why");
  } catch (error) {
    const closing = answer.openBlocks.map(({ block, text }) => endOfText(step, block, text, true));
    return signal.aborted ? { kind: "interrupted", closing } : { kind: "failed", error, closing };
  }
}

/** The end of a block of text. A long text is left to its deltas. */
export function endOfText(step: number, block: number, text: string, aborted: boolean): EventBody {
  return { kind: "TEXT_CHUNK_END", step, block, text: text.length > BLOCK_TEXT_CHARACTERS ? null : text, aborted };
}

function take(event: Exclude<ModelEvent, { type: "end" }>, answer: AnswerBuilder, step: number, hold: Hold): void {
  if (hold.breakpoint === "PRE_MODEL") {
    const moved = hold.move({ breakpoint: "STREAMING_MODEL" });
    hold.commit({ agent: moved.patch }, moved.events).catch(() => hold.lose());
  }
  switch (event.type) {
    case "text_start":
      answer.startText(event.block);
      return hold.send({ kind: "TEXT_CHUNK_START", step, block: event.block });
    case "text_delta":
      answer.addText(event.block, event.text);
      for (const delta of pieces(event.text, DELTA_CHARACTERS))
        hold.send({ kind: "TEXT_CHUNK", step, block: event.block, delta });
      return;
    case "text_end":
      return hold.send(endOfText(step, event.block, answer.endText(event.block), false));
    case "tool_use":
      return answer.addCall(event.block, event.id, event.name, event.arguments);
  }
}

/** The events of the stream until `signal` aborts, even where the stream does not heed it. */
async function* untilAborted<Event>(stream: AsyncIterable<Event>, signal: AbortSignal): AsyncGenerator<Event> {
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  aborted.catch(() => {});
  const events = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([events.next(), aborted]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a stream that hangs would hold the loop.
    void events.return?.().catch(() => {});
  }
}
