import { setTimeout as delay } from "node:timers/promises";
import type { AgentEventBody } from "../../events/event.ts";
import { aborted, ENDED } from "../../lib/aborted.ts";
import { msSince, growingWait } from "../../lib/time.ts";
import { messageOf, pieces } from "../../lib/text.ts";
import { AnswerBuilder, isEmpty, type Answer, type SaidBlock } from "./answer.ts";
import type { ConversationOwner, ConversationTemplate } from "./scope.ts";
import {
  ModelError,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type TokenUsage,
  NOTHING_SPENT,
  spentOnBroken,
  spentTogether,
  type Spending,
} from "../models/model.ts";

/** Deltas longer than this are split: an event must not grow beyond its limit. */
const DELTA_CHARACTERS = 8_000;
/** A longer block's text is not repeated in its TEXT_CHUNK_END; readers join the deltas. */
const BLOCK_TEXT_CHARACTERS = 16_000;

/** The longest wait before a retry, in ms, also if the provider asks for more. */
const LONGEST_WAIT_MS = 60_000;
const LONGEST_ASKED_MS = 15 * 60_000;

export type StepOfCall = { readonly number: number; readonly isCommitted: Promise<boolean> };

export type ModelCallOptions = Pick<
  ConversationTemplate,
  "modelRetries" | "modelRetryMs" | "modelIdleMs" | "exposeThinking" | "retainThinking"
>;

/**
 * The end of a model call. `texts` closes its text in the log: as kept if it was answered, otherwise as aborted, and
 * then no model reads it. `spent` includes earlier attempts.
 */
export type ModelOutcome =
  | (Ended & { readonly kind: "answered"; readonly answer: Answer; readonly times: AnswerTimes })
  | (Ended & { readonly kind: "interrupted" })
  | (Ended & {
      readonly kind: "failed";
      readonly error: ModelError;
      /** True if some of its text is in the log. */
      readonly isHeard: boolean;
    });

/** The ms of the last attempt: until its end, and until its first piece of output; null if there was none. */
export type AnswerTimes = { readonly durationMs: number; readonly firstTokenMs: number | null };

type Ended = { readonly texts: readonly AgentEventBody[]; readonly spent: Spending };

/**
 * Makes one model call and streams its text into the log. A call that fails before its first event is retried up to
 * `modelRetries` times. Ends immediately when `signal` aborts, and at the first event if the step was refused. Never
 * rejects.
 */
export async function callModel(
  model: Model,
  request: ModelRequest,
  { number: step, isCommitted }: StepOfCall,
  owner: ConversationOwner,
  options: ModelCallOptions & {
    readonly takesEmpty: boolean;
  },
  signal: AbortSignal,
): Promise<ModelOutcome> {
  let spent = NOTHING_SPENT;
  let { takesEmpty } = options;
  for (let attempt = 0; ; attempt += 1) {
    const started = performance.now();
    let waitedMs = 0;
    let firstTokenMs: number | null = null;
    const output = new AnswerStream(model, step, owner, options);
    try {
      for await (const event of untilAborted(model, request, options.modelIdleMs, signal)) {
        // Usage events are not the model's output. The wait of the first output for the commit is not the model's time.
        const said = performance.now();
        if (isOutput(event)) firstTokenMs ??= msSince(started + waitedMs);
        if (event.type !== "counted" && !(await isCommitted))
          return { kind: "interrupted", texts: [], spent: spentTogether(spent, output.spentOnBroken) };
        waitedMs += performance.now() - said;
        if (event.type !== "end") {
          output.take(event);
          await owner.room(signal);
          continue;
        }
        const answer = output.finish(event);
        const problem = problemOf(answer, takesEmpty || attempt >= options.modelRetries);
        if (problem !== null) throw problem;
        spent = spentTogether(spent, { usage: event.usage, isEstimated: false });
        if (event.stopReason === "refusal")
          return {
            kind: "failed",
            error: new ModelError("refused", "the model refused to answer"),
            texts: output.ends(true),
            isHeard: output.isHeard,
            spent,
          };
        const durationMs = msSince(started + waitedMs);
        return {
          kind: "answered",
          answer,
          texts: [...output.notes, ...output.ends(false)],
          spent,
          times: { durationMs, firstTokenMs },
        };
      }
      throw new ModelError("broken", "the model's stream ended without saying why");
    } catch (thrown) {
      spent = spentTogether(spent, output.spentOnBroken);
      if (!(await isCommitted)) return { kind: "interrupted", texts: [], spent };
      if (signal.aborted) return { kind: "interrupted", texts: output.ends(true), spent };
      const thrownAs = asModelError(thrown);
      const { isHeard } = output;
      takesEmpty ||= thrownAs.kind === "empty";
      const isTooFar = thrownAs.retryAfterMs !== null && thrownAs.retryAfterMs > LONGEST_ASKED_MS;
      const error = isTooFar ? withWait(thrownAs, thrownAs.retryAfterMs) : thrownAs;
      if (isHeard || !error.isRetryable || attempt >= options.modelRetries || isTooFar)
        return { kind: "failed", error, texts: output.ends(true), isHeard, spent };
      if (!(await waitToRetry(error, attempt, owner, options, signal))) return { kind: "interrupted", texts: [], spent };
    }
  }
}

/** Why a complete answer is invalid: it announces tool calls and has none, or is empty. */
function problemOf(answer: Answer, takesEmpty: boolean): ModelError | null {
  if (answer.stopReason === "tool_use" && answer.calls.length === 0)
    return new ModelError("broken", "the model said that it calls tools, and named none");
  return isEmpty(answer) && !takesEmpty ? new ModelError("empty", "the model answered with nothing") : null;
}

/** Reports a retry, and waits: as long as the provider asks, otherwise longer each time. False if `signal` aborted. */
export async function waitToRetry(
  failure: ModelError,
  attempt: number,
  owner: ConversationOwner,
  { modelRetryMs }: Pick<ConversationTemplate, "modelRetryMs">,
  signal: AbortSignal,
): Promise<boolean> {
  const growing = growingWait(attempt + 1, modelRetryMs, Infinity);
  const asked = failure.retryAfterMs;
  const waitMs = Math.round(asked === null ? Math.min(LONGEST_WAIT_MS, growing) : Math.min(LONGEST_ASKED_MS, asked));
  owner.send({
    kind: "ERROR",
    // A requested wait is no fault.
    severity: asked === null ? "WARN" : "INFO",
    phase: "MODEL",
    message: `${failure.message}; the call is made again in ${waitMs} ms`,
    detail: failure.kind,
    retryAt: new Date(Date.now() + waitMs).toISOString(),
  });
  await delay(waitMs, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}

function withWait(error: ModelError, waitMs: number): ModelError {
  const minutes = Math.ceil(waitMs / 60_000);
  return new ModelError(error.kind, `${error.message}; it asks to try again in ${minutes} minutes`, { cause: error });
}

function asModelError(thrown: unknown): ModelError {
  return thrown instanceof ModelError ? thrown : new ModelError("rejected", messageOf(thrown), { cause: thrown });
}

export function endOfBlock({ kind, block, text }: SaidBlock, step: number, aborted: boolean): AgentEventBody {
  const short = text.length > BLOCK_TEXT_CHARACTERS ? null : text;
  return { kind: kind === "text" ? "TEXT_CHUNK_END" : "THINK_CHUNK_END", step, block, text: short, aborted };
}

class AnswerStream {
  readonly answer: AnswerBuilder;
  readonly #model: Model;
  readonly #step: number;
  readonly #owner: ConversationOwner;
  readonly #options: ModelCallOptions;
  #counted: TokenUsage | null = null;
  #argumentCharacters = 0;
  readonly #endedThoughts = new Set<number>();

  constructor(model: Model, step: number, owner: ConversationOwner, options: ModelCallOptions) {
    this.answer = new AnswerBuilder(model.name);
    this.#model = model;
    this.#step = step;
    this.#owner = owner;
    this.#options = options;
  }

  get spentOnBroken(): Spending {
    const said = this.answer.said.reduce((sum, { text }) => sum + text.length, 0);
    return spentOnBroken(this.#counted, said + this.#argumentCharacters);
  }

  get notes(): AgentEventBody[] {
    if (!this.answer.isCut) return [];
    const message = `${this.#model.name} says more of its own besides its answer than is kept: what is left out does not go back to it`;
    return [{ kind: "ERROR", severity: "WARN", phase: "MODEL", message, detail: "provider_fields_cut" }];
  }

  finish({ stopReason, usage, cache }: ModelEvent & { readonly type: "end" }): Answer {
    this.#counted = usage;
    const answer = this.answer.finish(stopReason, usage, this.#options.retainThinking);
    return cache === undefined ? answer : { ...answer, cache };
  }

  get isHeard(): boolean {
    return this.#shown.length > 0;
  }

  get #shown(): readonly SaidBlock[] {
    return this.answer.said.filter(({ kind }) => kind === "text" || this.#options.exposeThinking);
  }

  ends(aborted: boolean): AgentEventBody[] {
    const shown = this.#shown.filter(({ block }) => !this.#endedThoughts.has(block));
    // Blank text is no part of the answer.
    return shown.map((said) => endOfBlock(said, this.#step, aborted || (said.kind === "text" && said.text.trim() === "")));
  }

  take(event: Exclude<ModelEvent, { type: "end" }>): void {
    const owner = this.#owner;
    // For an answer of calls alone, its commit reports the breakpoint.
    if (owner.breakpoint === "PRE_MODEL" && isSpeech(event)) owner.sendMove("STREAMING_MODEL");
    switch (event.type) {
      case "text_start":
        this.answer.start("text", event.block);
        return owner.send({ kind: "TEXT_CHUNK_START", step: this.#step, block: event.block });
      case "text_delta":
        this.answer.add("text", event.block, event.text);
        return this.#send("TEXT_CHUNK", event.block, event.text);
      case "thinking_start":
        this.answer.start("thinking", event.block);
        if (this.#options.exposeThinking) owner.send({ kind: "THINK_CHUNK_START", step: this.#step, block: event.block });
        return;
      case "thinking_delta":
        this.answer.add("thinking", event.block, event.text);
        if (this.#options.exposeThinking) this.#send("THINK_CHUNK", event.block, event.text);
        return;
      case "thinking_end": {
        const { type: _type, block, ...proof } = event;
        this.answer.endThought(block, proof);
        return this.#endThought(block);
      }
      case "provider_fields":
        return this.answer.addFields(event.fields);
      case "arguments_delta":
        this.#argumentCharacters += event.characters;
        return;
      case "counted":
        this.#counted = event.usage;
        return;
      case "tool_use":
        return this.answer.addCall(event.block, event.id, event.name, event.arguments, event.fields);
    }
  }

  #endThought(block: number): void {
    const said = this.#shown.find((shown) => shown.block === block);
    if (said === undefined || this.#endedThoughts.has(block)) return;
    this.#endedThoughts.add(block);
    this.#owner.send(endOfBlock(said, this.#step, false));
  }

  #send(kind: "TEXT_CHUNK" | "THINK_CHUNK", block: number, text: string): void {
    for (const delta of pieces(text, DELTA_CHARACTERS)) this.#owner.send({ kind, step: this.#step, block, delta });
  }
}

/** True for the model's own words and calls; a block that only begins is none. */
function isOutput({ type }: ModelEvent): boolean {
  return type === "text_delta" || type === "thinking_delta" || type === "arguments_delta" || type === "tool_use";
}

function isSpeech({ type }: ModelEvent): boolean {
  return type !== "tool_use" && type !== "arguments_delta" && type !== "counted" && type !== "provider_fields";
}

/** The events of the call until `signal` aborts, even if the model ignores it. Silence for `idleMs` is an error. */
export async function* untilAborted(
  model: Model,
  request: ModelRequest,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const silence = new AbortController();
  const ending = AbortSignal.any([signal, silence.signal]);
  using ended = aborted(ending);
  let isHeard = false;
  const timer = setTimeout(() => {
    if (isHeard) silence.abort(new ModelError("silent", `the model said nothing for ${idleMs} ms`));
    else timer.refresh();
  }, idleMs);
  const events = model.stream(request, ending, () => timer.refresh())[Symbol.asyncIterator]();
  try {
    for (;;) {
      timer.refresh();
      isHeard = true;
      const next = await Promise.race([events.next(), ended.promise]);
      if (next.done === true) return;
      // The stream is not read while its output waits for room.
      isHeard = false;
      yield next.value;
    }
  } finally {
    clearTimeout(timer);
    silence.abort(ENDED);
    // Not awaited: a hanging stream would block the loop.
    void events.return?.().catch(() => {});
  }
}
