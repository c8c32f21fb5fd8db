import { someString } from "../../lib/json.ts";
import type { Interrupt, WakeUp } from "../../lib/signals.ts";
import type { CallView } from "../calls/call.ts";
import { CallCancelled } from "../calls/stages/execution.ts";
import { hooksFor } from "../calls/hooks.ts";
import { judgeCall, type ReadyCall } from "../calls/judge.ts";
import { runCall } from "../calls/run.ts";
import { ResultCache } from "../calls/results/result-cache.ts";
import { StartingChildren } from "../calls/children.ts";
import { toolboxOf } from "../calls/stages/validation.ts";
import type { CallScope } from "../calls/scope.ts";
import type { Stages } from "../calls/stage-clock.ts";
import { HeldPlace, type ToolPermit } from "../calls/slots.ts";
import { mayAsk } from "../policy/judge.ts";
import { storedRules, type StoredRules } from "../policy/stored-rules.ts";
import { isSecretPath } from "../workspace/secret-files.ts";
import { callsCancelled, type CancelledCall, callsStarted } from "./commits/calls-run.ts";
import { callRefused, callsJudged, serversAwaited, type Away, type Unready } from "./commits/calls-judged.ts";
import { moved } from "./commits/commit.ts";
import { OpenQuestions } from "./open-questions.ts";
import type { Owner } from "./owner.ts";
import { CallOutcomes } from "./call-outcomes.ts";
import type { AgentServices, Template } from "./scope.ts";
import type { AgentView } from "./view.ts";

type StartingCall = { readonly ready: ReadyCall; readonly permit: ToolPermit };

type StartedCall = StartingCall & { readonly call: CallView };

type RunningCall = { readonly name: string; readonly ended: Promise<void>; readonly cancelling: AbortController };

export type ToolCallScope = { readonly owner: Owner; readonly interrupt: Interrupt; readonly wakeUp: WakeUp };

export class ToolCalls {
  readonly #services: AgentServices;
  readonly #scope: ToolCallScope;
  readonly #running = new Map<string, RunningCall>();
  readonly #ready = new Map<string, ReadyCall>();
  /** The stages of calls that are judged again: repeated stages keep all their passages. */
  readonly #passed = new Map<string, Stages>();
  readonly #held = new Set<string>();
  readonly #repeatable = new Set<string>();
  #waiting: readonly string[] = [];
  readonly #children = new StartingChildren();
  readonly #results: ResultCache;
  readonly #outcomes: CallOutcomes;
  /** Null until a call asks. */
  #questions: OpenQuestions | null = null;
  /** How often verdicts were discarded: judgements under way at that time are discarded too. */
  #timesDiscarded = 0;
  readonly #stopping = new AbortController();
  #judging: Promise<void> | null = null;

  constructor(services: AgentServices, scope: ToolCallScope) {
    this.#services = services;
    this.#scope = scope;
    this.#results = new ResultCache(services.results);
    this.#outcomes = new CallOutcomes(services, { ...scope, results: this.#results });
  }

  get running(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** True while a call runs that may itself write files. Writes of its programs do not count. */
  get isWriting(): boolean {
    const tools = [...this.#running.values()].flatMap(({ name }) => this.#services.tools.get(name) ?? []);
    return tools.some(({ readOnly, commands }) => !readOnly && Object.keys(commands).length === 0);
  }

  get ending(): ReadonlySet<string> {
    const running = [...this.#running];
    return new Set(running.flatMap(([id, { cancelling }]) => (cancelling.signal.aborted ? [id] : [])));
  }

  get isJudging(): boolean {
    return this.#judging !== null;
  }

  get ready(): ReadonlySet<string> {
    return new Set(this.#ready.keys());
  }

  get held(): ReadonlySet<string> {
    return this.#held;
  }

  get repeatable(): ReadonlySet<string> {
    return this.#repeatable;
  }

  repeat(callIds: readonly string[]): void {
    for (const id of callIds) this.#repeatable.add(id);
  }

  stop(): void {
    this.#stopping.abort();
  }

  discardResults(): void {
    this.#results.clear();
  }

  discardVerdicts(): void {
    for (const id of this.#ready.keys()) this.#discardVerdict(id);
    this.#timesDiscarded += 1;
  }

  /**
   * Gives running calls the answers of people. Discards verdicts if a call that waited has ended: work elsewhere may have
   * changed their basis (invariant 14).
   */
  noticeWaiting({ calls }: Pick<AgentView, "calls">): void {
    this.#questions?.notice({ calls });
    const waiting = calls.flatMap(({ id, state }) => (state === "WAITING" ? [id] : []));
    if (this.#waiting.some((id) => !waiting.includes(id))) this.discardVerdicts();
    this.#waiting = waiting;
  }

  #discardVerdict(callId: string): void {
    const ready = this.#ready.get(callId);
    if (ready !== undefined) this.#passed.set(callId, ready.stages);
    this.#ready.delete(callId);
  }

  async settled(): Promise<void> {
    await Promise.allSettled([...[...this.#running.values()].map(({ ended }) => ended), this.#judging]);
  }

  // --- judging ---

  /**
   * Takes calls through the gate up to execution: refused calls get their result, others may request an approval. Hooks
   * run in the background, so that the loop sees interrupts meanwhile.
   */
  async judge(calls: readonly CallView[], view: AgentView, template: Template): Promise<void> {
    const { owner, wakeUp } = this.#scope;
    // Before a judgement that may take long (hooks, an outage), earlier commits are stored.
    const isHooked = calls.some(({ name }) => this.#isHooked(name, template));
    if ((isHooked || this.#services.sql.outages.current !== null) && !(await owner.flush())) return;
    if (!isHooked) return this.#judge(calls, view, template);
    this.#judging = owner.guard(this.#judge(calls, view, template)).finally(() => {
      this.#judging = null;
      wakeUp.wake();
    });
  }

  async #judge(calls: readonly CallView[], view: AgentView, template: Template): Promise<void> {
    const timesDiscarded = this.#timesDiscarded;
    const { owner } = this.#scope;
    const isAsked = mayAsk(template.permission) || calls.some((call) => namesSecret(call) || this.#takesLines(call));
    const reading: { rules: Promise<StoredRules> | null } = { rules: null };
    const read = (): Promise<StoredRules> => (reading.rules ??= storedRules(this.#services.sql, this.#services.tools, view));
    const known = isAsked ? await read() : null;
    const stop = this.#stopSignal();
    const judged = await Promise.all(
      calls.map((call) => {
        const stages = this.#passed.get(call.id) ?? call.stages;
        return judgeCall({ ...call, stages }, this.#callScope(view, template), { known, read }, stop);
      }),
    );
    // Unreadable rules are no verdict on a call.
    await reading.rules;
    // The verdict of the hooks is unknown: the interrupt seals the calls, or the next owner judges them.
    if (stop.aborted) return;
    // A call that ran meanwhile may have changed the facts: they are judged again.
    for (const { call, stages } of judged) this.#passed.set(call.id, stages);
    if (timesDiscarded !== this.#timesDiscarded) return;
    const judgements: Unready[] = [];
    const away: Away[] = [];
    for (const judgement of judged) {
      this.#held.delete(judgement.call.id);
      if (judgement.kind === "ready") this.#ready.set(judgement.call.id, judgement);
      else if (judgement.kind === "held") this.#held.add(judgement.call.id);
      else if (judgement.kind === "away") away.push(judgement);
      else judgements.push(judgement);
    }
    for (const { call } of judgements) this.#passed.delete(call.id);
    if (judgements.length > 0) await owner.commit(callsJudged(owner.rebase(view), { judgements, template }, this.#now()));
    if (away.length > 0) await owner.commit(serversAwaited(owner.rebase(view), { away, template }, this.#now()));
  }

  /** True if a tool takes command lines: every mode may ask about those, and stored rules answer some of them. */
  #takesLines({ name }: CallView): boolean {
    const tool = this.#services.tools.get(name);
    return tool !== undefined && Object.keys(tool.commands).length > 0;
  }

  #isHooked(name: string, { hooks }: Template): boolean {
    const tool = this.#services.tools.get(name);
    return tool !== undefined && hooksFor("preToolUse", tool, hooks).length > 0;
  }

  // --- running ---

  /** Starts calls. Those without a place start when the server has one. */
  async execute(calls: readonly CallView[], view: AgentView, template: Template): Promise<void> {
    const starting: StartingCall[] = [];
    for (const { id } of calls) {
      const ready = this.#ready.get(id);
      if (ready === undefined) continue;
      const permit = this.#services.slots.tryTake();
      if (permit === null) this.#track(ready.call, (cancel) => this.#runLater(ready, view, template, cancel));
      else starting.push({ ready, permit });
    }
    for (const started of await this.#begin(starting, view, template))
      this.#track(started.call, (cancel) => this.#run(started, view, template, cancel));
  }

  /** Commits the EXECUTING of calls (invariant 5), and returns those that may run. The others return their permits. */
  async #begin(starting: readonly StartingCall[], view: AgentView, template: Template): Promise<readonly StartedCall[]> {
    if (starting.length === 0) return [];
    let started: readonly StartedCall[] = [];
    try {
      started = await this.#commitStart(starting, view, template);
    } finally {
      if (started.length === 0) starting.forEach(({ permit }) => permit.release());
    }
    return started;
  }

  async #commitStart(starting: readonly StartingCall[], view: AgentView, template: Template): Promise<readonly StartedCall[]> {
    const { owner } = this.#scope;
    // A tool that has gone or changed since: what was allowed is not what would run.
    const { enabled } = toolboxOf(this.#services.tools, template);
    const isPresent = starting.every(({ ready }) => enabled.get(ready.call.name) === ready.confirmed.call.tool);
    const facts = { ready: starting.map(({ ready }) => ready), trace: template.trace };
    const commit = callsStarted(owner.rebase(view), facts, this.#now());
    if (isPresent && (await owner.commit(commit)) && (await owner.awaitStartWindow())) {
      const started = new Map(commit.after(view).calls.map((call) => [call.id, call]));
      for (const { ready } of starting) this.#passed.delete(ready.call.id);
      return starting.map((call) => ({ ...call, call: started.get(call.ready.call.id) ?? call.ready.call }));
    }
    // The basis of the verdict may have changed: it is judged again.
    for (const { ready } of starting) this.#discardVerdict(ready.call.id);
    return [];
  }

  async #runLater(ready: ReadyCall, view: AgentView, template: Template, cancel: AbortSignal): Promise<void> {
    const { owner } = this.#scope;
    const stop = AbortSignal.any([this.#stopSignal(), cancel]);
    if (this.#running.size === 0) await owner.commit(moved(owner.rebase(view), { breakpoint: "PRE_TOOL" }));
    const began = performance.now();
    const permit = await this.#services.slots.take(stop);
    if (stop.aborted) return permit?.release();
    if (permit === null) {
      const refusal = { type: "tool_busy", stage: "execution", waitedMs: Math.round(performance.now() - began) } as const;
      await owner.commit(callRefused(owner.rebase(view), { judged: ready, refusal, template }, this.#now()));
      return;
    }
    for (const started of await this.#begin([{ ready, permit }], view, template))
      await this.#run(started, view, template, cancel);
  }

  #track({ id: callId, name }: Pick<CallView, "id" | "name">, work: (cancel: AbortSignal) => Promise<void>): void {
    const { owner, wakeUp } = this.#scope;
    // Verdicts from before its run may be outdated (invariant 14): links, files, hooks.
    const mayHaveChanged = this.#services.tools.get(name)?.readOnly !== true;
    const cancelling = new AbortController();
    const ended = owner.guard(work(cancelling.signal)).finally(() => {
      this.#running.delete(callId);
      this.#children.ended(callId);
      if (mayHaveChanged) this.discardVerdicts();
      this.#ready.delete(callId);
      wakeUp.wake();
    });
    this.#running.set(callId, { name, ended, cancelling });
  }

  /** Runs a call and stores its end. A waiting loop commits it with its next action. */
  async #run({ ready, permit, call }: StartedCall, view: AgentView, template: Template, cancel: AbortSignal): Promise<void> {
    const { owner, interrupt } = this.#scope;
    const place = new HeldPlace(this.#services.slots, permit);
    const scope = this.#callScope(view, template, place);
    const outcome = await runCall(ready, scope, AbortSignal.any([interrupt.signal, cancel])).finally(() => place.release());
    if (owner.lost.aborted) return;
    const ended = { call, view, template, isLast: () => this.#running.size === 1 };
    if (outcome.kind === "later") await this.#outcomes.defer(ended, outcome);
    else if (outcome.kind === "asks") await this.#outcomes.ask(ended, outcome);
    else if (outcome.kind === "kept") await this.#outcomes.keep(ended, outcome);
    else await this.#outcomes.store(ended, outcome);
  }

  // --- cancelling ---

  async cancel(calls: readonly CallView[], { trace }: Template): Promise<void> {
    const waiting: CancelledCall[] = [];
    for (const call of calls) {
      const request = call.cancelRequested;
      if (request === null) continue;
      const running = this.#running.get(call.id);
      if (running === undefined) waiting.push({ call, request });
      else running.cancelling.abort(new CallCancelled(request));
    }
    if (waiting.length > 0) await this.#scope.owner.commit(callsCancelled(waiting, { trace }, this.#now()));
  }

  #callScope(view: AgentView, template: Template, place: HeldPlace | null = null): CallScope {
    return {
      services: this.#services,
      template,
      agent: view,
      owner: this.#scope.owner,
      results: this.#results,
      children: this.#children,
      questions: {
        ask: (callId, question, withdrawn) => {
          const questions = (this.#questions ??= new OpenQuestions(this.#services, this.#scope.owner));
          // A server that closes does not wait for people.
          const over = AbortSignal.any([withdrawn, this.#stopping.signal]);
          const ask = () => questions.ask({ callId, question, template }, over);
          return place === null ? ask() : place.without(ask);
        },
        settled: async (callId) => this.#questions?.settled(callId),
      },
    };
  }

  #stopSignal(): AbortSignal {
    const { owner, interrupt } = this.#scope;
    return AbortSignal.any([interrupt.signal, owner.lost, this.#stopping.signal]);
  }

  #now(): Date {
    return this.#services.clock.now();
  }
}

function namesSecret({ requestedInput, effectiveInput }: CallView): boolean {
  return someString(effectiveInput ?? requestedInput, isSecretPath);
}
