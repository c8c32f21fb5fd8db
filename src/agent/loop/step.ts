import { abortedUnless } from "../../lib/aborted.ts";
import type { Interrupt, WakeUp } from "../../lib/signals.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { mayComeLater, offered, toolboxOf } from "../calls/stages/validation.ts";
import { dueListing } from "../calls/memory/memory-listing.ts";
import { dueReminder } from "../calls/todos.ts";
import { answerBefore } from "../conversation/cache-use.ts";
import type { FixedParts } from "../conversation/context-size.ts";
import { callModel, waitToRetry, type ModelOutcome } from "../conversation/model-call.ts";
import { beforeModel, type HookStep } from "../conversation/model-hooks.ts";
import type { Observers } from "../conversation/observers.ts";
import type { Transcript, Window } from "../conversation/transcript.ts";
import { totalTokens, type Model, type ModelMessage, NOTHING_SPENT } from "../models/model.ts";
import { agentPermissions } from "../policy/agent-policy.ts";
import type { Permissions } from "../policy/permission.ts";
import { MEMORY_TOOL } from "../tools/memory/memory.ts";
import { ownCodeOf, runOwnCode } from "../tools/own-code.ts";
import { TODO_WRITE } from "../tools/todo.ts";
import { isUncounted, StepBudgets, type Outcome } from "./budgets/step-budgets.ts";
import { answered, warning } from "./commits/answered.ts";
import { eventsOnly, joinCommits, type Commit } from "./commits/commit.ts";
import type { PresentTools } from "./commits/manual.ts";
import { stepAborted, stepStarted } from "./commits/steps.ts";
import { turnEnded, type TurnEnd } from "./commits/turns.ts";
import { Compactor, type Due } from "./compaction/compactor.ts";
import type { Subject } from "./compaction/context-fill.ts";
import { SentContext } from "./compaction/sent-context.ts";
import type { AgentFiles } from "./files/agent-files.ts";
import type { DeferredCommit, Owner } from "./owner.ts";
import type { AgentServices, Template } from "./scope.ts";
import { TurnShape } from "./turn-shape.ts";
import { TurnTrouble } from "./turn-trouble.ts";
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
  readonly #compactor: Compactor;
  readonly #trouble: TurnTrouble;
  readonly #sent = new SentContext();
  #isStopping = false;

  constructor(services: AgentServices, scope: StepScope) {
    this.#services = services;
    this.#scope = scope;
    this.#shape = new TurnShape(services);
    this.#budgets = new StepBudgets(services, scope.owner);
    this.#compactor = new Compactor(services, scope, this.#budgets);
    this.#trouble = new TurnTrouble(services);
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
    const model = this.#trouble.modelOf(before, template, first);
    const files = await this.#scope.files.look(before);
    const due = await this.#compactor.atStep(this.#subject(before, template, model));
    if (due?.isHeld === true) return this.#hold(due);
    const made = due?.commit ?? eventsOnly();
    const present = this.#present(template);
    const admission = await this.#budgets.admit({ view: before, template, model, present, compacted: made.change });
    if (admission === "not now") return null;
    // Without the tool that changes the list a reminder asks for the impossible.
    const hasList = present.tools.some(({ name }) => name === TODO_WRITE);
    const todos = hasList ? await dueReminder(this.#services.sql, before, template.todo) : null;
    const memory = await this.#memoryListing(made.after(before), template, present);
    // A change that the watch has found may have been stored meanwhile.
    const { notices } = await owner.view();
    // Another commit may have carried a deferred one and failed: a message that joined was withdrawn.
    if (!owner.holds(before)) return null;
    const facts = { model: model.name, files, present, todos, memory, budget: admission };
    const started = joinCommits(made, stepStarted(owner.rebase(made.after({ ...before, notices })), facts, this.#now()));
    const view = started.after(before);
    // A call costs money: with a budget it waits for the commit that holds its cost.
    const window = admission === null ? this.#earlyWindow(started, view, template) : null;
    const committed = owner.commit(started);
    if (due !== null) void committed.then((is) => is && due.afterwards()).catch(() => {});
    if (window === null)
      return (await committed) ? { answer: () => this.#answer({ view, template, model, present }, null) } : null;
    const answering = this.#answer({ view, template, model, present }, { window, isCommitted: isTrue(committed) });
    // The failure is handled below, unless the commit failed.
    answering.catch(() => {});
    if (await committed) return { answer: () => answering };
    await owner.guard(answering);
    return null;
  }

  /** The list of the agent's memory, if it is due: at the first step of a turn, or after messages were left out. */
  async #memoryListing(agent: AgentView, template: Template, { tools }: PresentTools): Promise<string | null> {
    const since = agent.compaction?.head?.step ?? 0;
    if ((agent.stepsInTurn > 0 && since <= agent.stepCount) || !tools.some(({ name }) => name === MEMORY_TOOL)) return null;
    const permissions = (): Permissions => agentPermissions(template, agent.permission, this.#services);
    return dueListing(this.#services.sql, { agent, template, permissions, since });
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
    return { view, template, model, request: () => this.#request(view, template, this.#present(template)) };
  }

  #present(template: Template): PresentTools {
    const tools = offered(toolboxOf(this.#services.tools, template));
    return { tools, mayComeLater: mayComeLater(template, this.#services.tools) };
  }

  /** The parts of a request that its messages and settings do not change. */
  async #request(view: AgentView, template: Template, present: PresentTools): Promise<FixedParts> {
    const { text, tools } = await this.#services.manuals.of(view, present);
    const system = text === "" ? template.systemPrompt : `${template.systemPrompt}\n\n${text}`;
    return { system, tools: tools ?? present.tools, shape: await this.#shape.of(view, template) };
  }

  async #answer(step: Step, early: EarlyCall | null): Promise<void> {
    const { owner, observers } = this.#scope;
    const { view, template, model } = step;
    const hookStep: HookStep = { ...hookedAgent(view), step: view.stepCount, model: model.name };
    this.#sent.begins();
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
      const parts = await this.#request(view, template, present);
      const { exposeThinking, modelSettings: settings } = template;
      const isFirstOfTurn = view.shape.corrections === 0 && (view.stepsInTurn === 1 || !hasResults(messages.value));
      const previousAnswer = answerBefore(view.measured, model);
      const request = { ...parts, messages: messages.value, exposeThinking, settings, isFirstOfTurn, previousAnswer };
      const options = { ...template, takesEmpty: this.#trouble.takesEmpty(view.turn) };
      const answering = callModel(model, request, { number: view.stepCount, isCommitted }, owner, options, interrupt);
      const sent = { messages: read, weight: window.weight, contextMessages: template.contextMessages };
      this.#sent.sends(request, { ...sent, length: view.transcriptLength });
      return await answering;
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
    this.#trouble.answered();
    this.#budgets.answered(view, spent);
    this.#compactor.answered();
    const context = this.#sent.with(answer, model, template);
    const facts = { answer, texts, spent, times, context, sent: this.#sent.record, model, slowStepMs, trace, shaped };
    const commit = (): DeferredCommit => ({
      ...answered(owner.rebase(view), facts, this.#now()),
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
   * Repeats a call as a new step if the context window was full, or if it broke off after its first text. Then the fallback
   * model answers; then the turn ends.
   */
  async #endFailed(outcome: ModelOutcome & { kind: "failed" }, view: AgentView, template: Template, model: Model): Promise<void> {
    const { error, texts, isHeard } = outcome;
    const { owner, interrupt } = this.#scope;
    const next = this.#trouble.next(view, template, error.kind);
    // A model that is named for this failure reads more.
    const isForLength = template.fallbacks.some(({ model: name, on }) => name === next && on.includes("too_long"));
    if (error.kind === "too_long" && !isForLength && (await this.#compactor.full(this.#subject(view, template, model)))) {
      const message = `${error.message}; the call is made again with less of the conversation`;
      await owner.commit(this.#aborted(view, model, outcome, [...texts, warning(error.kind, message)]));
      return;
    }
    const brokenSteps = this.#trouble.failed(view.turn, error.kind);
    if (error.isRetryable && isHeard && brokenSteps <= template.modelRetries) {
      if (await owner.commit(this.#aborted(view, model, outcome, texts)))
        await waitToRetry(error, brokenSteps - 1, owner, template, interrupt.signal);
      return;
    }
    const fallback = next === null ? undefined : this.#services.models.get(next);
    if (next !== null && fallback !== undefined) {
      this.#trouble.fallBack(view.turn, next);
      const message = `${error.message}; the rest of the turn is answered by ${next} (${fallback.name})`;
      await owner.commit(this.#aborted(view, model, outcome, [...texts, warning(error.kind, message)]));
      return;
    }
    const isOfShape = error.kind === "refused" && (await this.#shape.of(view, template)) !== null;
    const end: TurnEnd = isOfShape ? { reason: "SHAPE", note: null, detail: "refusal" } : FAILED;
    const message = error.kind === "too_long" ? `${error.message}. ${this.#sent.sizes(view.measured)}` : error.message;
    await this.#endTurn(view, model, outcome, [...texts, failure("MODEL", message, error.kind)], end);
  }

  async #endTurn(
    view: AgentView,
    model: Model,
    outcome: Outcome,
    events: readonly AgentEventBody[],
    end: TurnEnd = FAILED,
  ): Promise<void> {
    const aborted = this.#aborted(view, model, outcome, events);
    const { owner } = this.#scope;
    const ended = turnEnded(owner.rebase(aborted.after(view)), end, this.#now());
    await owner.commit(joinCommits(aborted, ended));
  }

  #aborted(view: AgentView, { price }: Model, outcome: Outcome, events: readonly AgentEventBody[], isPlanned = false): Commit {
    const { spent } = outcome;
    const sent = this.#sent.record;
    const isLost = sent !== null && isUncounted(outcome);
    const errorType = outcome.error?.kind ?? null;
    const facts = { events, spent, price, isPlanned, isLost, sent, errorType };
    return stepAborted(this.#scope.owner.rebase(view), facts, this.#now());
  }

  #now(): Date {
    return this.#services.clock.now();
  }
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
