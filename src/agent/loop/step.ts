import type { Interrupt, WakeUp } from "../../lib/signals.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { offered, toolboxOf } from "../calls/stages/validation.ts";
import { dueReminder } from "../calls/todos.ts";
import type { Answer } from "../conversation/answer.ts";
import { overheadOf, tokensPerByte, type Overhead } from "../conversation/context-size.ts";
import { callModel, waitToRetry, type ModelOutcome } from "../conversation/model-call.ts";
import { beforeModel, type HookStep } from "../conversation/model-hooks.ts";
import type { Observers } from "../conversation/observers.ts";
import type { Transcript, Window } from "../conversation/transcript.ts";
import { totalTokens, type Model, NOTHING_SPENT, type Spending } from "../models/model.ts";
import { sectionsOf, type Section } from "../tools/manual.ts";
import { ownCodeOf, runOwnCode } from "../tools/own-code.ts";
import { TODO_WRITE } from "../tools/todo.ts";
import { answered, warning } from "./commits/answered.ts";
import { eventsOnly, joinCommits, type Commit } from "./commits/commit.ts";
import { stepAborted, stepStarted, type ContextColumns } from "./commits/steps.ts";
import { turnEnded } from "./commits/turns.ts";
import { Compactor, type Due } from "./compactor.ts";
import type { Subject } from "./context-fill.ts";
import type { AgentFiles } from "./files/agent-files.ts";
import { GivenManual } from "./given-manual.ts";
import type { DeferredCommit, Owner } from "./owner.ts";
import type { AgentServices, Template } from "./scope.ts";
import { hookedAgent, type AgentView } from "./view.ts";

type Unasked = { readonly kind: "unasked"; readonly problem: string };

const NOT_ASKED: ModelOutcome = { kind: "interrupted", texts: [], spent: NOTHING_SPENT };

export type StepScope = {
  readonly owner: Owner;
  readonly transcript: Transcript;
  readonly observers: Observers;
  readonly files: Pick<AgentFiles, "look">;
  readonly interrupt: Interrupt;
  readonly wakeUp: WakeUp;
};

type Trouble = {
  readonly turn: number;
  readonly brokenSteps: number;
  readonly fellBack: boolean;
  /** True if an answer contained only thoughts: the next such answer is accepted. */
  readonly wasEmpty: boolean;
};

type Step = {
  readonly view: AgentView;
  readonly template: Template;
  readonly model: Model;
  readonly sections: readonly Section[];
};

type EarlyCall = { readonly window: Window; readonly isCommitted: Promise<boolean> };

/** A step whose beginning is committed. `answer` makes its model call and commits the result. */
export type StartedStep = { readonly answer: () => Promise<void> };

export class StepRunner {
  readonly #services: AgentServices;
  readonly #scope: StepScope;
  readonly #manual: GivenManual;
  readonly #compactor: Compactor;
  /** The bytes of the request that was sent last, by its parts. */
  #sent: Overhead & { readonly messages: number } = { system: 0, tools: 0, messages: 0 };
  #isStopping = false;
  #trouble: Trouble | null = null;

  constructor(services: AgentServices, scope: StepScope) {
    this.#services = services;
    this.#scope = scope;
    this.#manual = new GivenManual(services.sql);
    this.#compactor = new Compactor(services, scope);
  }

  stop(): void {
    this.#isStopping = true;
  }

  /**
   * Begins a step with the results of the last step's calls and new messages. Null if nothing was begun. The model call
   * is sent while the commit is under way, since it has no effect outside; its answer is read after the commit.
   */
  async start(before: AgentView, template: Template, first: Model): Promise<StartedStep | null> {
    const { owner } = this.#scope;
    if (!(await owner.awaitStartWindow())) return null;
    const model = this.#modelOf(before, template, first);
    const files = await this.#scope.files.look(before);
    const tools = offered(toolboxOf(this.#services.tools, template));
    const sections = sectionsOf(tools);
    const due = await this.#compactor.atStep(this.#subject(before, template, model));
    if (due?.isHeld === true) return this.#hold(due);
    // Without the tool that changes the list a reminder asks for the impossible.
    const hasList = tools.some(({ name }) => name === TODO_WRITE);
    const todos = hasList ? await dueReminder(this.#services.sql, before, template.todo) : null;
    // A change that the watch has found may have been stored meanwhile.
    const { notices } = await owner.view();
    // Another commit may have carried a deferred one and failed: a message that joined was withdrawn.
    if (!owner.holds(before)) return null;
    const facts = { model: model.name, files, sections, todos };
    const made = due?.commit ?? eventsOnly();
    const present = owner.rebase(made.after({ ...before, notices }));
    const started = joinCommits(made, stepStarted(present, facts, this.#now()));
    const view = started.after(before);
    const window = this.#earlyWindow(started, view, template);
    const committed = owner.commit(started);
    if (due !== null) void committed.then((is) => is && due.afterwards()).catch(() => {});
    if (window === null)
      return (await committed) ? { answer: () => this.#answer({ view, template, model, sections }, null) } : null;
    const answering = this.#answer({ view, template, model, sections }, { window, isCommitted: isTrue(committed) });
    // The failure is handled below, unless the commit failed.
    answering.catch(() => {});
    if (await committed) return { answer: () => answering };
    await owner.guard(answering);
    return null;
  }

  /** The input of a model call before the commit; null if hooks would see it, or if it must be read after the commit. */
  #earlyWindow(started: Commit, view: AgentView, { hooks, contextMessages }: Template): Window | null {
    if (hooks.preModel.length > 0 || this.#services.sql.outages.current !== null) return null;
    const messages = this.#scope.owner.messagesWith(started);
    return messages === null ? null : this.#scope.transcript.windowWith(messages, view, contextMessages);
  }

  /** True while the next step waits for a summary. */
  get isHeld(): boolean {
    return this.#compactor.isHeld;
  }

  /** Compacts the context where no step starts. */
  async rest(view: AgentView, template: Template, model: Model): Promise<"done" | "changed" | "running"> {
    const due = await this.#compactor.atRest(this.#subject(view, template, model));
    if (due === null) return this.#compactor.isRunning ? "running" : "done";
    await this.#hold(due);
    return "changed";
  }

  /** The server closes: a summary that is under way ends. */
  stopCompaction(): Promise<void> {
    return this.#compactor.stop();
  }

  async #hold({ commit, afterwards }: Due): Promise<null> {
    if (await this.#scope.owner.commit(commit)) afterwards();
    return null;
  }

  #subject(view: AgentView, template: Template, model: Model): Subject {
    const request = async () => {
      const tools = offered(toolboxOf(this.#services.tools, template));
      return { tools, system: await this.#manual.systemPrompt(template.systemPrompt, view, sectionsOf(tools)) };
    };
    return { view, template, model, request };
  }

  async #answer(step: Step, early: EarlyCall | null): Promise<void> {
    const { owner, observers } = this.#scope;
    const { view, template, model } = step;
    const hookStep: HookStep = { ...hookedAgent(view), step: view.stepCount, model: model.name };
    const outcome = await this.#ask(hookStep, step, early);
    if (early !== null && !(await early.isCommitted)) {
      if (outcome !== NOT_ASKED && outcome.kind !== "unasked")
        this.#services.cancelledModelCalls.record(view.id, view.stepCount, outcome.spent);
      return;
    }
    if (owner.lost.aborted) return;
    // The next owner repeats the call. Only this server knows its cost.
    if (this.#isStopping && outcome.kind !== "answered") {
      if (outcome.kind !== "unasked" && (outcome.texts.length > 0 || totalTokens(outcome.spent.usage) > 0))
        await owner.commit(this.#aborted(view, model, outcome.spent, outcome.texts, true));
      return;
    }
    switch (outcome.kind) {
      case "answered":
        if (!(await this.#storeAnswer(outcome, view, template, model))) return;
        return observers.run(template.hooks.postModel, (hook) => {
          const { content, stopReason, usage } = outcome.answer;
          return hook(hookStep, structuredClone({ content, stopReason, usage }));
        });
      case "interrupted":
        return void (await owner.commit(this.#aborted(view, model, outcome.spent, outcome.texts)));
      case "failed":
        return this.#endFailed(outcome, view, template, model);
      case "unasked":
        return this.#endTurn(view, model, NOTHING_SPENT, [failure("MODEL", outcome.problem, "hook_failed")]);
    }
  }

  async #ask(
    hookStep: HookStep,
    { view, template, model, sections }: Step,
    early: EarlyCall | null,
  ): Promise<ModelOutcome | Unasked> {
    const { owner, transcript } = this.#scope;
    const isCommitted = early?.isCommitted ?? Promise.resolve(true);
    const interrupt = AbortSignal.any([this.#scope.interrupt.signal, abortedUnless(isCommitted)]);
    const signal = AbortSignal.any([interrupt, owner.lost]);
    const window = early?.window ?? (await transcript.window(view, template.contextMessages));
    const leave = await this.#services.requests.enter(owner.lease.tenant, window.bytes, signal);
    if (leave === null) return NOT_ASKED;
    try {
      const read = await window.messages();
      const code = ownCodeOf(this.#services, view, `a preModel hook of step ${view.stepCount}`, "MODEL");
      const messages = await runOwnCode(code, () => beforeModel(template.hooks.preModel, hookStep, read, signal));
      if (!messages.ok) return signal.aborted ? NOT_ASKED : { kind: "unasked", problem: messages.refusal };
      const tools = offered(toolboxOf(this.#services.tools, template));
      const system = await this.#manual.systemPrompt(template.systemPrompt, view, sections);
      const { exposeThinking } = template;
      const request = { system, messages: messages.value, tools, exposeThinking };
      const overhead = overheadOf(request);
      this.#sent = { ...overhead, messages: window.weight };
      const options = { ...template, takesEmpty: this.#troubleOf(view.turn).wasEmpty };
      return await callModel(model, request, { number: view.stepCount, isCommitted }, owner, options, interrupt);
    } finally {
      leave();
    }
  }

  /** Stores the answer and its calls. A waiting loop commits them with its next action. False if they are not stored. */
  async #storeAnswer(
    { answer, texts, spent, durationMs }: ModelOutcome & { kind: "answered" },
    view: AgentView,
    { slowStepMs, hooks, trace }: Template,
    model: Model,
  ): Promise<boolean> {
    const { owner, wakeUp } = this.#scope;
    this.#trouble = this.#trouble === null ? null : { ...this.#trouble, brokenSteps: 0 };
    this.#compactor.answered();
    const context = this.#contextOf(answer, model);
    const commit = (): DeferredCommit => ({
      ...answered(owner.rebase(view), { answer, texts, spent, durationMs, context, model, slowStepMs, trace }, this.#now()),
      // The database refuses the answer: the turn ends without it.
      onRefused: (problem) =>
        this.#endTurn(view, model, spent, [failure("SYSTEM", `the model's answer could not be stored: ${problem}`, null)]),
    });
    // The answer is stored before hooks see it.
    if (hooks.postModel.length > 0 || !wakeUp.isAwaited) return owner.store(commit);
    owner.defer(commit());
    return true;
  }

  /** The size of the context with the answer: the request as the provider has counted it, and the answer by the same measure. */
  #contextOf({ usage, content }: Answer, model: Model): ContextColumns {
    const sent = this.#sent.system + this.#sent.tools + this.#sent.messages;
    const bytes = sent + Buffer.byteLength(JSON.stringify(content));
    const counted = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
    const tokens = counted === 0 || sent === 0 ? null : Math.round((counted * bytes) / sent);
    return { contextTokens: tokens, contextBytes: bytes, contextWindow: model.window?.(tokens ?? 0) ?? null };
  }

  /**
   * Repeats a call as a new step if the context window was full, or if it broke off after its first text. Then the fallback
   * model answers; then the turn ends.
   */
  async #endFailed(
    { error, texts, isHeard, spent }: ModelOutcome & { kind: "failed" },
    view: AgentView,
    template: Template,
    model: Model,
  ): Promise<void> {
    const { owner, interrupt } = this.#scope;
    if (error.kind === "too_long" && (await this.#compactor.full(this.#subject(view, template, model)))) {
      const message = `${error.message}; the call is made again with less of the conversation`;
      await owner.commit(this.#aborted(view, model, spent, [...texts, warning(error.kind, message)]));
      return;
    }
    const trouble = this.#troubleOf(view.turn);
    const brokenSteps = trouble.brokenSteps + 1;
    this.#trouble = { ...trouble, brokenSteps, wasEmpty: trouble.wasEmpty || error.kind === "empty" };
    if (error.isRetryable && isHeard && brokenSteps <= template.modelRetries) {
      if (await owner.commit(this.#aborted(view, model, spent, texts)))
        await waitToRetry(error, brokenSteps - 1, owner, template, interrupt.signal);
      return;
    }
    const fallback = this.#fallback(template);
    if (fallback !== null && fallback !== model && error.kind !== "refused") {
      this.#trouble = { turn: view.turn, brokenSteps: 0, fellBack: true, wasEmpty: false };
      const message = `${error.message}; the rest of the turn is answered by ${template.fallbackModel ?? ""} (${fallback.name})`;
      await owner.commit(this.#aborted(view, model, spent, [...texts, warning(error.kind, message)]));
      return;
    }
    const message = error.kind === "too_long" ? `${error.message}. ${this.#sizes(view)}` : error.message;
    await this.#endTurn(view, model, spent, [...texts, failure("MODEL", message, error.kind)]);
  }

  /** The sizes of the parts of a request that cannot be made smaller. */
  #sizes({ measured }: AgentView): string {
    const tokens = (bytes: number): string => `about ${Math.ceil(bytes * tokensPerByte(measured))} tokens`;
    const { system, tools, messages } = this.#sent;
    return `The system prompt has ${tokens(system)}, the tools have ${tokens(tools)}, and the newest input has ${tokens(messages)}`;
  }

  async #endTurn(view: AgentView, model: Model, spent: Spending, events: readonly AgentEventBody[]): Promise<void> {
    const aborted = this.#aborted(view, model, spent, events);
    const { owner } = this.#scope;
    const ended = turnEnded(owner.rebase(aborted.after(view)), { reason: "ERROR", note: null }, this.#now());
    await owner.commit(joinCommits(aborted, ended));
  }

  #aborted(view: AgentView, { price }: Model, spent: Spending, events: readonly AgentEventBody[], isPlanned = false): Commit {
    return stepAborted(this.#scope.owner.rebase(view), { events, spent, price, isPlanned }, this.#now());
  }

  /**
   * The first model. After the fallback model began to answer, the fallback for the rest of the turn, also under
   * another lease.
   */
  #modelOf({ lastStep, turn }: AgentView, template: Template, first: Model): Model {
    const fallback = this.#fallback(template);
    if (fallback === null || fallback === first) return first;
    // Another owner recognises it by the name of the last model; if both have one name, the first is tried again.
    const wasFallback = lastStep?.turn === turn && lastStep.model === fallback.name && fallback.name !== first.name;
    return this.#troubleOf(turn).fellBack || wasFallback ? fallback : first;
  }

  #troubleOf(turn: number): Trouble {
    return this.#trouble?.turn === turn ? this.#trouble : { turn, brokenSteps: 0, fellBack: false, wasEmpty: false };
  }

  #fallback({ fallbackModel }: Template): Model | null {
    return fallbackModel === null ? null : (this.#services.models.get(fallbackModel) ?? null);
  }

  #now(): Date {
    return this.#services.clock.now();
  }
}

function failure(phase: "MODEL" | "SYSTEM", message: string, detail: string | null): AgentEventBody {
  return { kind: "ERROR", severity: "ERROR", phase, message, detail };
}

/** False if the commit was refused, or if its outcome is unknown. */
function isTrue(committed: Promise<boolean>): Promise<boolean> {
  return committed.catch(() => false);
}

function abortedUnless(isCommitted: Promise<boolean>): AbortSignal {
  const refused = new AbortController();
  void isCommitted.then((is) => is || refused.abort());
  return refused.signal;
}
