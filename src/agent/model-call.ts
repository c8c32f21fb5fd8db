import { setTimeout as delay } from "node:timers/promises";
import type { EventBody } from "../events/event.ts";
import { messageOf, pieces } from "../lib/text.ts";
import { AnswerBuilder, type Answer } from "./blocks.ts";
import type { Hold } from "./hold.ts";
import { ModelError, type Model, type ModelEvent, type ModelRequest } from "./models/model.ts";

/** Deltas longer than this are split: an event must not grow beyond its limit. */
const DELTA_CHARACTERS = 8_000;
/** A longer block's text is not repeated in its TEXT_CHUNK_END; readers join the deltas. */
const BLOCK_TEXT_CHARACTERS = 16_000;

/** The longest wait before a call is made again, in ms, and the first one where the provider asks for none. */
const WAIT_MS = { most: 60_000, first: 1_000 };

/** What bounds a model call: how often it is made again, and how long its stream may be silent. */
export type ModelLimits = { readonly retries: number; readonly idleMs: number };

/**
 * How a model call ended. `texts` closes what was said: as kept where it was answered, as aborted where it broke off,
 * and then it goes to no model.
 */
export type ModelOutcome =
  | { readonly kind: "answered"; readonly answer: Answer; readonly texts: readonly EventBody[]; readonly durationMs: number }
  | { readonly kind: "interrupted"; readonly texts: readonly EventBody[] }
  | { readonly kind: "failed"; readonly error: ModelError; readonly texts: readonly EventBody[] };

/**
 * Makes one model call and streams its text into the log. A call that fails before it said anything is made again,
 * up to `limits.retries` times. Ends at once when `signal` aborts. Never rejects.
 */
export async function callModel(
  model: Model,
  request: ModelRequest,
  step: number,
  hold: Hold,
  limits: ModelLimits,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  const started = performance.now();
  for (let attempt = 0; ; attempt += 1) {
    const answer = new AnswerBuilder();
    let hasSpoken = false;
    const ends = (aborted: boolean): EventBody[] => answer.texts.map(({ block, text }) => endOfText(step, block, text, aborted));
    try {
      for await (const event of untilAborted(model, request, limits.idleMs, signal)) {
        if (event.type === "end") {
          const durationMs = performance.now() - started;
          return { kind: "answered", answer: answer.finish(event.stopReason, event.usage), texts: ends(false), durationMs };
        }
        hasSpoken = true;
        take(event, answer, step, hold);
      }
      throw new ModelError("broken", "the model's stream ended without saying why");
    } catch (thrown) {
      if (signal.aborted) return { kind: "interrupted", texts: ends(true) };
      const error = asModelError(thrown);
      if (hasSpoken || !error.isRetryable || attempt >= limits.retries) return { kind: "failed", error, texts: ends(true) };
      if (!(await waitToRetry(error, attempt, hold, signal))) return { kind: "interrupted", texts: [] };
    }
  }
}

/** Says that a call is made again, and waits: as long as the provider asks, else longer each time. False where `signal` aborted. */
export async function waitToRetry(failure: ModelError, attempt: number, hold: Hold, signal: AbortSignal): Promise<boolean> {
  const growing = WAIT_MS.first * 2 ** attempt * (0.8 + Math.random() * 0.4);
  const waitMs = Math.round(Math.min(WAIT_MS.most, failure.retryAfterMs ?? growing));
  hold.send({
    kind: "ERROR",
    severity: "WARN",
    phase: "MODEL",
    message: `${failure.message}; the call is made again in ${waitMs} ms`,
    detail: failure.kind,
  });
  await delay(waitMs, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}

function asModelError(thrown: unknown): ModelError {
  return thrown instanceof ModelError ? thrown : new ModelError("rejected", messageOf(thrown), { cause: thrown });
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
      // Whether the text is kept is known only when the whole answer is.
      return;
    case "tool_use":
      return answer.addCall(event.block, event.id, event.name, event.arguments);
  }
}

/** The events of the call until `signal` aborts, even where the model does not heed it. Silence for `idleMs` is an error. */
async function* untilAborted(
  model: Model,
  request: ModelRequest,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const silence = new AbortController();
  const ending = AbortSignal.any([signal, silence.signal]);
  const ended = new Promise<never>((_, reject) => {
    const end = (): void =>
      reject(signal.aborted ? signal.reason : new ModelError("silent", `the model said nothing for ${idleMs} ms`));
    if (ending.aborted) end();
    else ending.addEventListener("abort", end, { once: true });
  });
  ended.catch(() => {});
  const events = model.stream(request, ending)[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      timer = setTimeout(() => silence.abort(), idleMs);
      const next = await Promise.race([events.next(), ended]);
      clearTimeout(timer);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
    // Not awaited: a stream that hangs would hold the loop.
    void events.return?.().catch(() => {});
  }
}
