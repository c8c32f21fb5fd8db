import type { Interrupt, WakeUp } from "../../lib/signals.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { mayComeLater, offered, toolboxOf } from "../calls/stages/validation.ts";
import { dueListing } from "../calls/memory/memory-listing.ts";
import { dueReminder } from "../calls/todos.ts";
import { callModel, waitToRetry, type ModelOutcome } from "../conversation/model-call.ts";
import { beforeModel, type HookStep } from "../conversation/model-hooks.ts";
import type { Observers } from "../conversation/observers.ts";
import type { Transcript, Window } from "../conversation/transcript.ts";
import {
  totalTokens,
  type Model,
  type ModelError,
  type ModelErrorKind,
  type ModelMessage,
  NOTHING_SPENT,
} from "../models/model.ts";
import { agentPermissions } from "../policy/agent-policy.ts";
import type { Permissions } from "../policy/permission.ts";
import { MEMORY_TOOL } from "../tools/memory/memory.ts";
import { ownCodeOf, runOwnCode } from "../tools/own-code.ts";
import { TODO_WRITE } from "../tools/todo.ts";
import type { Tool } from "../tools/tool.ts";
import { StepBudgets } from "./budgets/step-budgets.ts";
import { answered, warning } from "./commits/answered.ts";
import { joinCommits, type Commit } from "./commits/commit.ts";
import type { PresentTools } from "./commits/manual.ts";
import { stepAborted, stepStarted } from "./commits/steps.ts";
import { turnEnded, type TurnEnd } from "./commits/turns.ts";
import { nextFallback, triedBefore } from "./fallbacks.ts";
import type { AgentFiles } from "./files/agent-files.ts";
import type { DeferredCommit, Owner } from "./owner.ts";
import type { AgentServices, Template } from "./scope.ts";
import { TurnShape } from "./turn-shape.ts";
import { hookedAgent, type AgentView } from "./view.ts";

type Unasked = { readonly kind: "unasked"; readonly problem: string };

const FAILED: TurnEnd = { reason: "ERROR", note: null };

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
  /** The fallbacks that were tried, by name in the configuration: the last one answers. */
  readonly tried: readonly string[];
  /** True if an answer contained only thoughts: the next such answer is accepted. */
  readonly wasEmpty: boolean;
};

type Step = {
  readonly view: AgentView;
  readonly template: Template;
  readonly model: Model;
  readonly present: PresentTools;
};

type EarlyCall = { readonly window: Window; readonly isCommitted: Promise<boolean> };

/** A step whose beginning is committed. `answer` makes its model call and commits the result. */
export type StartedStep = { readonly answer: () => Promise<void> };

export class StepRunner {
  readonly #services: AgentServices;
  readonly #scope: StepScope;
  readonly #shape: TurnShape;
  readonly #budgets: StepBudgets;
  #isStopping = false;
  #trouble: Trouble | null = null;

  constructor(services: AgentServices, scope: StepScope) {
    this.#services = services;
    this.#scope = scope;
    this.#shape = new TurnShape(services);
    this.#budgets = new StepBudgets(services, scope.owner);
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
    const toolBytes = (): number => JSON.stringify(offered(toolboxOf(this.#services.tools, template))).length;
    const admission = await this.#budgets.admit(before, template, model, toolBytes);
    if (admission.kind === "again") return null;
    if (admission.kind === "refused") {
      await owner.commit(admission.commit);
      return null;
    }
    this.#scope.transcript.readBy(model.name);
    const files = await this.#scope.files.look(before);
    const tools = offered(toolboxOf(this.#services.tools, template));
    // Without the tool that changes the list a reminder asks for the impossible.
    const hasList = tools.some(({ name }) => name === TODO_WRITE);
    const todos = hasList ? await dueReminder(this.#services.sql, before, template.todo) : null;
    const memory = await this.#memoryListing(before, template, tools);
    // A change that the watch has found may have been stored meanwhile.
    const { notices } = await owner.view();
    // Another commit may have carried a deferred one and failed: a message that joined was withdrawn.
    if (!owner.holds(before)) return null;
    const present = { tools, mayComeLater: mayComeLater(template, this.#services.tools) };
    const budget = admission.kind === "held" ? admission : null;
    const facts = { model: model.name, files, present, todos, memory, budget };
    const started = stepStarted(owner.rebase({ ...before, notices }), facts, this.#now());
    // A call costs money: with a budget it waits for the commit that holds its cost.
    const window = budget === null ? this.#earlyWindow(started, template) : null;
    const committed = owner.commit(started);
    const view = started.after(before);
    if (window === null)
      return (await committed) ? { answer: () => this.#answer({ view, template, model, present }, null) } : null;
    const answering = this.#answer({ view, template, model, present }, { window, isCommitted: isTrue(committed) });
    // The failure is handled below, unless the commit failed.
    answering.catch(() => {});
    if (await committed) return { answer: () => answering };
    await owner.guard(answering);
    return null;
  }

  /** The list of the agent's memory, if it is due: at the first step of a turn. */
  async #memoryListing(agent: AgentView, template: Template, tools: readonly Tool[]): Promise<string | null> {
    if (agent.stepsInTurn > 0 || !tools.some(({ name }) => name === MEMORY_TOOL)) return null;
    const permissions = (): Permissions => agentPermissions(template, agent.permission, this.#services);
    return dueListing(this.#services.sql, { agent, template, permissions });
  }

  /** The input of a model call before the commit; null if hooks would see it, or if it must be read after the commit. */
  #earlyWindow(started: Commit, { hooks, contextMessages }: Template): Window | null {
    if (hooks.preModel.length > 0 || this.#services.sql.outages.current !== null) return null;
    const messages = this.#scope.owner.messagesWith(started);
    return messages === null ? null : this.#scope.transcript.windowWith(messages, contextMessages);
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
        await owner.commit(this.#aborted(view, model, outcome, outcome.texts, true));
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
        return void (await owner.commit(this.#aborted(view, model, outcome, outcome.texts)));
      case "failed":
        return this.#endFailed(outcome, view, template, model);
      case "unasked":
        return this.#endTurn(view, model, NOT_ASKED, [failure("MODEL", outcome.problem, "hook_failed")]);
    }
  }

  async #ask(
    hookStep: HookStep,
    { view, template, model, present }: Step,
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
      const given = await this.#services.manuals.of(view, present);
      const system = given.text === "" ? template.systemPrompt : `${template.systemPrompt}\n\n${given.text}`;
      const tools = given.tools ?? offered(toolboxOf(this.#services.tools, template));
      const { exposeThinking, modelSettings: settings } = template;
      const isFirstOfTurn = view.shape.corrections === 0 && (view.stepsInTurn === 1 || !hasResults(messages.value));
      const shape = await this.#shape.of(view, template);
      const request = { system, messages: messages.value, tools, exposeThinking, settings, isFirstOfTurn, shape };
      const options = { ...template, takesEmpty: this.#troubleOf(view.turn).wasEmpty };
      return await callModel(model, request, { number: view.stepCount, isCommitted }, owner, options, interrupt);
    } finally {
      leave();
    }
  }

  /** Stores the answer and its calls. A waiting loop commits them with its next action. False if they are not stored. */
  async #storeAnswer(
    { answer, texts, spent, times }: ModelOutcome & { kind: "answered" },
    view: AgentView,
    template: Template,
    model: Model,
  ): Promise<boolean> {
    const { owner, wakeUp } = this.#scope;
    const { slowStepMs, hooks, trace } = template;
    const shaped = await this.#shape.check(view, template, answer);
    this.#trouble = this.#trouble === null ? null : { ...this.#trouble, brokenSteps: 0 };
    this.#services.recentOutputs.record(view.tenant, view.templateId, spent.usage.outputTokens);
    const commit = (): DeferredCommit => ({
      ...answered(owner.rebase(view), { answer, texts, spent, times, model, slowStepMs, trace, shaped }, this.#now()),
      // The database refuses the answer: the turn ends without it.
      onRefused: (problem) =>
        this.#endTurn(view, model, { kind: "answered", spent }, [
          failure("SYSTEM", `the model's answer could not be stored: ${problem}`, null),
        ]),
    });
    // The answer is stored before hooks see it.
    if (hooks.postModel.length > 0 || !wakeUp.isAwaited) return owner.store(commit);
    owner.defer(commit());
    return true;
  }

  /**
   * Repeats a call as a new step if its input was too long, or if it broke off after its first text. Then the fallback
   * model answers; then the turn ends.
   */
  async #endFailed(outcome: ModelOutcome & { kind: "failed" }, view: AgentView, template: Template, model: Model): Promise<void> {
    const { error, texts, isHeard } = outcome;
    const { owner, interrupt, transcript } = this.#scope;
    const trouble = this.#troubleOf(view.turn);
    const next = nextFallback(template, error.kind, { own: view.model, tried: trouble.tried, models: this.#services.models });
    // A model that is named for this failure reads more.
    const isForLength = template.fallbacks.some(({ model: name, on }) => name === next && on.includes("too_long"));
    if (error.kind === "too_long" && !isForLength && transcript.shorten()) {
      const message = `${error.message}; the call is made again with less of the conversation`;
      await owner.commit(this.#aborted(view, model, outcome, [...texts, warning(error.kind, message)]));
      return;
    }
    const brokenSteps = trouble.brokenSteps + 1;
    this.#trouble = { ...trouble, brokenSteps, wasEmpty: trouble.wasEmpty || error.kind === "empty" };
    if (error.isRetryable && isHeard && brokenSteps <= template.modelRetries) {
      if (await owner.commit(this.#aborted(view, model, outcome, texts)))
        await waitToRetry(error, brokenSteps - 1, owner, template, interrupt.signal);
      return;
    }
    const fallback = next === null ? undefined : this.#services.models.get(next);
    if (next !== null && fallback !== undefined) {
      this.#trouble = { turn: view.turn, brokenSteps: 0, tried: [...trouble.tried, next], wasEmpty: false };
      const message = `${error.message}; the rest of the turn is answered by ${next} (${fallback.name})`;
      await owner.commit(this.#aborted(view, model, outcome, [...texts, warning(error.kind, message)]));
      return;
    }
    const isOfShape = error.kind === "refused" && (await this.#shape.of(view, template)) !== null;
    const end: TurnEnd = isOfShape ? { reason: "SHAPE", note: null, detail: "refusal" } : FAILED;
    await this.#endTurn(view, model, outcome, [...texts, failure("MODEL", error.message, error.kind)], end);
  }

  async #endTurn(
    view: AgentView,
    model: Model,
    outcome: Spent,
    events: readonly AgentEventBody[],
    end: TurnEnd = FAILED,
  ): Promise<void> {
    const aborted = this.#aborted(view, model, outcome, events);
    const { owner } = this.#scope;
    const ended = turnEnded(owner.rebase(aborted.after(view)), end, this.#now());
    await owner.commit(joinCommits(aborted, ended));
  }

  #aborted(view: AgentView, { price }: Model, outcome: Spent, events: readonly AgentEventBody[], isPlanned = false): Commit {
    const { spent } = outcome;
    const isLost = isUncounted(outcome);
    return stepAborted(this.#scope.owner.rebase(view), { events, spent, price, isPlanned, isLost }, this.#now());
  }

  /**
   * The first model. After a fallback began to answer, the fallback for the rest of the turn, also under another lease.
   */
  #modelOf({ lastStep, turn }: AgentView, template: Template, first: Model): Model {
    const { models } = this.#services;
    if (this.#trouble?.turn !== turn) {
      const lastModel = lastStep?.turn === turn ? lastStep.model : null;
      this.#trouble = { ...this.#troubleOf(turn), tried: triedBefore(template, lastModel, { first, models }) };
    }
    return models.get(this.#trouble.tried.at(-1) ?? "") ?? first;
  }

  #troubleOf(turn: number): Trouble {
    return this.#trouble?.turn === turn ? this.#trouble : { turn, brokenSteps: 0, tried: [], wasEmpty: false };
  }

  #now(): Date {
    return this.#services.clock.now();
  }
}

type Spent = Pick<ModelOutcome, "kind" | "spent"> & { readonly error?: ModelError };

/** Failures of calls that a provider charges, although it reports no usage. */
const CHARGED: ReadonlySet<ModelErrorKind> = new Set(["silent", "broken", "empty"]);

/** True if a call was made whose input nobody has counted: what it cost is estimated. */
function isUncounted(outcome: Spent): boolean {
  const { kind, spent, error } = outcome;
  if (outcome === NOT_ASKED || totalTokens({ ...spent.usage, outputTokens: 0 }) > 0) return false;
  return kind === "interrupted" || (error !== undefined && CHARGED.has(error.kind));
}

/** True if a model answers results of calls now, perhaps with a person's text behind them. */
function hasResults(messages: readonly ModelMessage[]): boolean {
  return messages.at(-1)?.content.some(({ type }) => type === "tool_result") ?? false;
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
