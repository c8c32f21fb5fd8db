import { joinChanges, type Change } from "../db/change.ts";
import type { EventBody } from "../events/event.ts";
import type { Beside } from "./calls.ts";
import type { Entry, Hold } from "./hold.ts";
import { beforeModel, type HookStep } from "./hooks.ts";
import type { HooksBeside } from "./hooks-beside.ts";
import type { Look } from "./look.ts";
import { afterJoins, afterMessage, afterStepEnd, afterStepStart, inOrder, unchanged } from "./look-after.ts";
import { callModel, waitToRetry, type ModelOutcome } from "./model-call.ts";
import { costOf, totalTokens, type Model } from "./models/model.ts";
import { ownCodeOf, runOwnCode } from "./own-code.ts";
import type { AgentParts } from "./parts.ts";
import { answerMessage, joinWaiting, newCalls, resultsMessage, stepRow } from "./rows.ts";
import type { Template } from "./template.ts";
import { toolboxOf } from "./toolbox.ts";
import type { Transcript } from "./transcript.ts";
import type { Turns } from "./turns.ts";

/** The steps of one agent: its model calls, one at a time, and what comes of them. */
export class Steps {
  readonly #parts: AgentParts;
  readonly #hold: Hold;
  readonly #transcript: Transcript;
  readonly #turns: Turns;
  readonly #interrupt: () => AbortSignal;
  readonly #knock: () => void;
  readonly #offer: (entry: Entry) => boolean;
  readonly #hooks: HooksBeside;
  #call: Promise<void> | null = null;
  #isStopping = false;
  /** Of one turn: steps in a row that broke off after they said something, and whether the first model has just failed. */
  #trouble = { turn: -1, brokenSteps: 0, fellBack: false };

  constructor(parts: AgentParts, hold: Hold, transcript: Transcript, turns: Turns, { interrupt, knock, offer, hooks }: Beside) {
    this.#parts = parts;
    this.#hold = hold;
    this.#transcript = transcript;
    this.#turns = turns;
    this.#interrupt = interrupt;
    this.#knock = knock;
    this.#offer = offer;
    this.#hooks = hooks;
  }

  /** Whether a model call is under way. */
  get isRunning(): boolean {
    return this.#call !== null;
  }

  /** The node closes: a call that breaks off is left to the next owner. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when no model call is under way any more. */
  async settled(): Promise<void> {
    await this.#call;
  }

  /** Gives the model the results of the last step's calls and what people sent meanwhile, and lets it answer. */
  async start(before: Look, template: Template, first: Model): Promise<void> {
    if (!(await this.#hold.mayStart())) return;
    if (before.turn !== this.#trouble.turn) this.#trouble = { turn: before.turn, brokenSteps: 0, fellBack: false };
    const model = this.#modelOf(before, template, first);
    const at = this.#parts.clock.now();
    const results = resultsMessage(before, at);
    const joins = joinWaiting(before, before.turn, before.transcriptLength + results.messages.length);
    const after = inOrder(afterMessage(results), afterJoins(joins), afterStepStart(model.name));
    const now = after(before);
    const moved = this.#hold.move({ state: "WORKING", breakpoint: "PRE_MODEL" });
    const isCommitted = await this.#hold.commit(
      {
        agent: {
          ...moved.patch,
          stepCount: now.stepCount,
          transcriptLength: now.transcriptLength,
          lastSfpIndex: now.transcriptLength - 1,
        },
        messages: results.rows,
        joins,
        stepStart: stepRow(now, model.name, at),
      },
      moved.events,
      after,
    );
    if (!isCommitted) return;
    if (joins.length > 0) this.#transcript.forget();
    else this.#transcript.remember(results.messages);
    this.#call = this.#hold.guard(this.#answer(now, template, model)).finally(() => {
      this.#call = null;
      this.#knock();
    });
  }

  /** Makes the model call of a step and commits what came of it. */
  async #answer(now: Look, template: Template, model: Model): Promise<void> {
    const hookStep: HookStep = { agentId: now.id, step: now.stepCount, model: model.name };
    const read = await this.#transcript.modelMessages(now, template.contextMessages);
    const code = ownCodeOf(this.#parts, now, `a preModel hook of step ${now.stepCount}`, "MODEL");
    const messages = await runOwnCode(code, () =>
      beforeModel(template.hooks.preModel, hookStep, read, AbortSignal.any([this.#interrupt(), this.#hold.lost])),
    );
    if (!messages.ok) return this.#endHooked(messages.refusal, now);
    const tools = [...toolboxOf(this.#parts.tools, template).enabled.values()];
    const outcome = await callModel(
      model,
      { system: template.systemPrompt, messages: messages.value, tools, exposeThinking: template.exposeThinking },
      now.stepCount,
      this.#hold,
      template,
      this.#interrupt(),
    );
    if (this.#hold.lost.aborted || (this.#isStopping && outcome.kind !== "answered")) return;
    const stepEnd = { step: now.stepCount, state: "ABORTED", completedAt: this.#parts.clock.now() } as const;
    switch (outcome.kind) {
      case "answered":
        await this.#storeAnswer(outcome, now, template, model);
        return this.#hooks.run(template.hooks.postModel, (hook) => {
          const { content, stopReason, usage } = outcome.answer;
          return hook(hookStep, structuredClone({ content, stopReason, usage }));
        });
      case "interrupted":
        return void (await this.#hold.commit({ stepEnd }, outcome.texts));
      case "failed":
        return this.#endFailed(outcome, now, template, model);
    }
  }

  /** The database refuses the answer: the turn ends without it. */
  async #endRefused(problem: string, now: Look): Promise<void> {
    const stepEnd = { step: now.stepCount, state: "ABORTED", completedAt: this.#parts.clock.now() } as const;
    const message = `the model's answer could not be stored: ${problem}`;
    const failure: EventBody = { kind: "ERROR", severity: "ERROR", phase: "SYSTEM", message, detail: null };
    await this.#turns.end({ ...now, calls: [] }, "ERROR", { stepEnd }, [failure]);
  }

  /** What an answer with calls leaves to be judged. */
  #pending({ transcriptLength }: Look): Omit<Entry, "orElse"> {
    const moved = this.#hold.move({ breakpoint: "TOOL_PENDING" });
    return { change: { agent: { ...moved.patch, transcriptLength } }, events: moved.events, after: unchanged, stored: () => {} };
  }

  /** A hook could not look at what would have been sent: the model is not called. */
  async #endHooked(message: string, now: Look): Promise<void> {
    if (this.#hold.lost.aborted || this.#isStopping) return;
    const stepEnd = { step: now.stepCount, state: "ABORTED", completedAt: this.#parts.clock.now() } as const;
    if (this.#interrupt().aborted) return void (await this.#hold.commit({ stepEnd }, []));
    const failure: EventBody = { kind: "ERROR", severity: "ERROR", phase: "MODEL", message, detail: "hook_failed" };
    await this.#turns.end({ ...now, calls: [] }, "ERROR", { stepEnd }, [failure]);
  }

  /** A call that broke off after it said something is made again as a new step; then the fallback model answers; then the turn ends. */
  async #endFailed(
    { error, texts }: ModelOutcome & { kind: "failed" },
    now: Look,
    template: Template,
    model: Model,
  ): Promise<void> {
    const stepEnd = { step: now.stepCount, state: "ABORTED", completedAt: this.#parts.clock.now() } as const;
    this.#trouble.brokenSteps += 1;
    if (error.isRetryable && texts.length > 0 && this.#trouble.brokenSteps <= template.modelRetries) {
      if (await this.#hold.commit({ stepEnd }, texts))
        await waitToRetry(error, this.#trouble.brokenSteps - 1, this.#hold, template, this.#interrupt());
      return;
    }
    const fallback = this.#fallback(template);
    if (fallback !== null && fallback.name !== model.name && error.kind !== "refused") {
      this.#trouble = { turn: now.turn, brokenSteps: 0, fellBack: true };
      const message = `${error.message}; the rest of the turn is answered by ${fallback.name}`;
      await this.#hold.commit({ stepEnd }, [...texts, warning(error.kind, message)]);
      return;
    }
    const failure: EventBody = { kind: "ERROR", severity: "ERROR", phase: "MODEL", message: error.message, detail: error.kind };
    await this.#turns.end({ ...now, calls: [] }, "ERROR", { stepEnd }, [...texts, failure]);
  }

  /** The first model, or the fallback for the rest of a turn in which it has begun to answer, also under another lease. */
  #modelOf({ lastStep, turn }: Look, template: Template, first: Model): Model {
    const fallback = this.#fallback(template);
    if (fallback === null || fallback.name === first.name) return first;
    return this.#trouble.fellBack || (lastStep?.turn === turn && lastStep.model === fallback.name) ? fallback : first;
  }

  #fallback({ fallbackModel }: Template): Model | null {
    return fallbackModel === null ? null : (this.#parts.models.get(fallbackModel) ?? null);
  }

  /** Stores the answer and its calls; one without calls ends the turn. */
  async #storeAnswer(
    { answer, texts, durationMs }: ModelOutcome & { kind: "answered" },
    now: Look,
    { slowStepMs, hooks }: Template,
    { name, price }: Model,
  ): Promise<void> {
    this.#trouble.brokenSteps = 0;
    const at = this.#parts.clock.now();
    const step = now.stepCount;
    const { stopReason, usage } = answer;
    const costUsd = costOf(usage, price);
    const message = answerMessage(answer, now, at);
    const toolCalls = newCalls(answer, now, at);
    const change: Change = {
      stepEnd: { step, state: "COMPLETED", stopReason, ...usage, costUsd, completedAt: at },
      messages: message.rows,
      toolCalls,
    };
    const after = inOrder(afterMessage(message), afterStepEnd(stopReason, toolCalls));
    const streamed = this.#hold.breakpoint === "PRE_MODEL" ? this.#hold.move({ breakpoint: "STREAMING_MODEL" }).events : [];
    const events: EventBody[] = [
      ...streamed,
      ...texts,
      { kind: "STEP_COMPLETE", step, durationMs, stopReason },
      { kind: "TOKEN_USAGE", step, ...usage, totalTokens: totalTokens(usage), costUsd },
      ...(durationMs > slowStepMs
        ? [warning("slow_step", `step ${step} by ${name} took ${Math.round(durationMs)} ms; the limit is ${slowStepMs}`)]
        : []),
      ...(stopReason === "max_tokens" ? [warning("max_tokens", `step ${step} by ${name} was cut at its limit of tokens`)] : []),
    ];
    const isLast = answer.calls.length === 0 && stopReason !== "pause_turn";
    const end = isLast ? this.#turns.ending(after(now), "COMPLETED") : this.#pending(after(now));
    const entry: Entry = {
      change: joinChanges([change, end.change]),
      events: [...events, ...end.events],
      after: inOrder(after, end.after),
      stored: () => {
        this.#transcript.remember(message.messages);
        end.stored();
      },
      orElse: (problem) => this.#endRefused(problem, now),
    };
    // What hooks are told of is stored before.
    if (hooks.postModel.length > 0 || !this.#offer(entry)) await this.#hold.store(entry);
  }
}

function warning(detail: string, message: string): EventBody {
  return { kind: "ERROR", severity: "WARN", phase: "MODEL", message, detail };
}
