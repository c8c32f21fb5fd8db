import type { Change } from "../db/change.ts";
import type { EventBody } from "../events/event.ts";
import { StorageUnavailable } from "../db/sql.ts";
import { messageOf } from "../lib/text.ts";
import { startEvents } from "./call-record.ts";
import { CallRunner, type CallCommit, type ReadyCall } from "./call-runner.ts";
import { Hold } from "./hold.ts";
import { release, type Lease } from "./lease.ts";
import { look, type CallLook, type Look } from "./look.ts";
import { callModel, waitToRetry, type ModelOutcome } from "./model-call.ts";
import type { Model } from "./models/model.ts";
import { nextAction, type Action, type Activity, type Bounds } from "./next-action.ts";
import type { AgentParts } from "./parts.ts";
import { answerMessage, joinWaiting, newCalls, resultsMessage, stepRow } from "./rows.ts";
import type { Template } from "./template.ts";
import { toolboxOf } from "./toolbox.ts";
import { isInRoots } from "./workspace-roots.ts";
import { Transcript } from "./transcript.ts";
import { Turns } from "./turns.ts";

/** What an agent works with. */
type Configured = { readonly template: Template; readonly model: Model };

/** How the advancing of an agent ended: nothing left to do, the lease is another's, or the node is closing. */
export type Ending = "parked" | "lost" | "stopped";

/**
 * Advances one agent under one lease: looks at its rows, does the next thing, and looks again, until it can park
 *. Model calls and tool calls run beside it, so that messages, decisions and interrupts are seen meanwhile.
 * Nothing throws out of it (invariant 9).
 */
export class Loop {
  readonly hold: Hold;
  readonly #parts: AgentParts;
  readonly #transcript: Transcript;
  readonly #turns: Turns;
  readonly #runningCalls = new Map<string, Promise<void>>();
  readonly #readyCalls = new Map<string, ReadyCall>();
  #modelCall: Promise<void> | null = null;
  #interrupt = new AbortController();
  #isStopping = false;
  /** Steps in a row that broke off after they said something. */
  #brokenSteps = 0;
  #knocks = 0;
  #answerKnock: () => void = () => {};

  /** `startUntil` is the time of `performance.now()` until which the lease allows new work to start. */
  constructor(parts: AgentParts, lease: Lease, startUntil: number) {
    this.#parts = parts;
    this.hold = new Hold(parts, lease, startUntil);
    this.#transcript = new Transcript(parts.sql, lease.agentId);
    this.#turns = new Turns(parts, this.hold, this.#transcript);
    this.hold.lost.addEventListener("abort", () => {
      this.#interrupt.abort();
      this.knock();
    });
  }

  /** Makes the loop look at the rows again. */
  knock(): void {
    this.#knocks += 1;
    this.#answerKnock();
  }

  /** The node closes: nothing new starts, the model call is given up, running tools may end. */
  stop(): void {
    this.#isStopping = true;
    this.knock();
  }

  /** Advances the agent until it parks, or until its lease is lost. Never rejects. */
  async run(): Promise<Ending> {
    try {
      return await this.#advance();
    } catch (error) {
      this.#parts.logger.error(`agent ${this.hold.lease.agentId} could not be advanced`, error);
      if (!(error instanceof StorageUnavailable)) await this.#giveUp(messageOf(error));
      return "lost";
    } finally {
      this.hold.lose();
      await this.#settled();
    }
  }

  /** What fails once for a reason of its own would fail again at every lease: the turn ends with an error instead. */
  async #giveUp(problem: string): Promise<void> {
    try {
      this.#interrupt.abort();
      await this.#settled();
      const now = await look(this.#parts.sql, this.hold.lease.agentId);
      this.hold.begin({ state: now.state, breakpoint: now.breakpoint });
      const message = `the agent could not be advanced: ${problem}`;
      const failure: EventBody = { kind: "ERROR", severity: "ERROR", phase: "SYSTEM", message, detail: null };
      if (now.state !== "READY") await this.#turns.sealAndEnd(now, "ERROR", problem, [failure]);
      this.hold.lose();
      await release(this.#parts.sql, this.hold.lease);
    } catch (error) {
      this.#parts.logger.error(`agent ${this.hold.lease.agentId} goes on when its lease has run out`, error);
    }
  }

  async #advance(): Promise<Ending> {
    for (;;) {
      const seen = this.#knocks;
      // Before the look: what ends while it is under way counts as running, and its knock makes the loop look again.
      const activity = this.#activity();
      if (this.hold.lost.aborted) return "lost";
      if (this.#isStopping) return this.#leave();
      const now = await look(this.#parts.sql, this.hold.lease.agentId);
      if (now.leaseEpoch !== this.hold.lease.epoch) return "lost";
      this.hold.begin({ state: now.state, breakpoint: now.breakpoint });
      const configured = this.#configured(now);
      const isParked =
        "missing" in configured ? await this.#strand(now, configured.missing) : await this.#next(now, activity, seen, configured);
      if (isParked) return "parked";
    }
  }

  /** Does the next thing for the agent. True where that was to park. */
  async #next(now: Look, activity: Activity, seen: number, { template, model }: Configured): Promise<boolean> {
    const action = nextAction(now, activity, this.#bounds(template));
    if (action.kind === "park") return this.#park(now);
    await (action.kind === "wait" ? this.#knocked(seen) : this.#do(action, now, template, model));
    return false;
  }

  /** What the agent works with, or what of it the configuration does not have any more. */
  #configured({ templateId, model: name, workspace }: Look): Configured | { readonly missing: string } {
    const template = this.#parts.templates.get(templateId);
    if (template === undefined) return { missing: `the template ${templateId}` };
    const model = this.#parts.models.get(name);
    if (model === undefined) return { missing: `the model ${name}` };
    return isInRoots(this.#parts.workspaceRoots, workspace)
      ? { template, model }
      : { missing: `a workspace root around ${workspace}` };
  }

  async #do(action: Exclude<Action, { kind: "park" | "wait" }>, now: Look, template: Template, model: Model): Promise<void> {
    switch (action.kind) {
      case "start turn":
        return this.#turns.start(now);
      case "start step":
        return this.#startStep(now, template, model);
      case "judge calls":
        return this.#judge(action.calls, now, template);
      case "execute calls":
        return this.#execute(action.calls, now, template);
      case "resume":
        return this.#turns.resume(action.orphans, now);
      case "end turn":
        return action.reason === "INTERRUPTED" ? this.#endInterrupted(now) : this.#turns.end(now, action.reason, {}, []);
    }
  }

  #activity(): Activity {
    return {
      isModelRunning: this.#modelCall !== null,
      runningCalls: new Set(this.#runningCalls.keys()),
      readyCalls: new Set(this.#readyCalls.keys()),
    };
  }

  #bounds({ maxSteps, toolConcurrency }: Template): Bounds {
    return { maxSteps, toolConcurrency, isExclusive: (name) => this.#parts.tools.get(name)?.readOnly !== true };
  }

  /** Gives the model the results of the last step's calls and what people sent meanwhile, and lets it answer. */
  async #startStep(before: Look, template: Template, model: Model): Promise<void> {
    if (!this.hold.mayStart()) return this.hold.lose();
    const at = this.#parts.clock.now();
    const results = resultsMessage(before, at);
    const joins = joinWaiting(before, before.turn, before.transcriptLength + results.messages.length);
    const transcriptLength = before.transcriptLength + results.messages.length + joins.length;
    const now: Look = {
      ...before,
      stepCount: before.stepCount + 1,
      transcriptLength,
      turnMessageIds: [...before.turnMessageIds, ...joins.map((join) => join.id)],
    };
    const moved = this.hold.move({ state: "WORKING", breakpoint: "PRE_MODEL" });
    const isCommitted = await this.hold.commit(
      {
        agent: { ...moved.patch, stepCount: now.stepCount, transcriptLength, lastSfpIndex: transcriptLength - 1 },
        messages: results.rows,
        joins,
        stepStart: stepRow(now, model.name, at),
      },
      moved.events,
    );
    if (!isCommitted) return;
    this.#readyCalls.clear();
    if (joins.length > 0) this.#transcript.forget();
    else this.#transcript.remember(results.messages);
    this.#modelCall = this.#beside(this.#answer(now, template, model)).finally(() => {
      this.#modelCall = null;
      this.knock();
    });
  }

  /** Makes the model call of a step and commits what came of it. */
  async #answer(now: Look, template: Template, model: Model): Promise<void> {
    const messages = await this.#transcript.modelMessages(now, template.contextMessages);
    const tools = [...toolboxOf(this.#parts.tools, template).enabled.values()];
    const outcome = await callModel(
      model,
      { system: template.systemPrompt, messages, tools },
      now.stepCount,
      this.hold,
      { retries: template.modelRetries, idleMs: template.modelIdleMs },
      this.#interrupt.signal,
    );
    if (this.hold.lost.aborted || (this.#isStopping && outcome.kind !== "answered")) return;
    const stepEnd = { step: now.stepCount, state: "ABORTED", completedAt: this.#parts.clock.now() } as const;
    switch (outcome.kind) {
      case "answered":
        return this.#orElse(
          () => this.#commitAnswer(outcome, now),
          (problem) =>
            this.#turns.end({ ...now, calls: [] }, "ERROR", { stepEnd }, [
              {
                kind: "ERROR",
                severity: "ERROR",
                phase: "SYSTEM",
                message: `the model's answer could not be stored: ${problem}`,
                detail: null,
              },
            ]),
        );
      case "interrupted":
        return void (await this.hold.commit({ stepEnd }, outcome.texts));
      case "failed":
        return this.#endFailed(outcome, now, template);
    }
  }

  /** A call that broke off after it said something is made again as a new step; else the turn ends. */
  async #endFailed({ error, texts }: ModelOutcome & { kind: "failed" }, now: Look, template: Template): Promise<void> {
    const stepEnd = { step: now.stepCount, state: "ABORTED", completedAt: this.#parts.clock.now() } as const;
    this.#brokenSteps += 1;
    if (error.isRetryable && texts.length > 0 && this.#brokenSteps <= template.modelRetries) {
      if (await this.hold.commit({ stepEnd }, texts))
        await waitToRetry(error, this.#brokenSteps - 1, this.hold, this.#interrupt.signal);
      return;
    }
    const failure: EventBody = { kind: "ERROR", severity: "ERROR", phase: "MODEL", message: error.message, detail: error.kind };
    await this.#turns.end({ ...now, calls: [] }, "ERROR", { stepEnd }, [...texts, failure]);
  }

  /** Stores the answer and its calls; one without calls ends the turn. */
  async #commitAnswer({ answer, texts, durationMs }: ModelOutcome & { kind: "answered" }, now: Look): Promise<void> {
    this.#brokenSteps = 0;
    const at = this.#parts.clock.now();
    const step = now.stepCount;
    const { inputTokens, outputTokens } = answer.usage;
    const message = answerMessage(answer, now, at);
    const after: Look = { ...now, calls: [], transcriptLength: now.transcriptLength + message.rows.length };
    const change: Change = {
      stepEnd: { step, state: "COMPLETED", stopReason: answer.stopReason, inputTokens, outputTokens, completedAt: at },
      messages: message.rows,
      toolCalls: newCalls(answer, now, at),
    };
    const events: EventBody[] = [
      ...texts,
      { kind: "STEP_COMPLETE", step, durationMs, stopReason: answer.stopReason },
      { kind: "TOKEN_USAGE", step, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    ];
    if (answer.calls.length === 0 && answer.stopReason !== "pause_turn") {
      await this.#turns.end(after, "COMPLETED", change, events, message.messages);
      return;
    }
    const moved = this.hold.move({ breakpoint: "TOOL_PENDING" });
    const isCommitted = await this.hold.commit(
      { ...change, agent: { ...moved.patch, transcriptLength: after.transcriptLength } },
      [...events, ...moved.events],
    );
    if (isCommitted) this.#transcript.remember(message.messages);
  }

  /** Stops what is under way, seals what is still open, and ends the turn. */
  async #endInterrupted(before: Look): Promise<void> {
    const note = before.interruptNote ?? "a person interrupted the turn";
    this.#interrupt.abort(note);
    await this.#settled();
    this.#interrupt = new AbortController();
    this.#readyCalls.clear();
    if (this.hold.lost.aborted) return;
    const now = await look(this.#parts.sql, this.hold.lease.agentId);
    if (now.state !== "READY") await this.#turns.sealAndEnd(now, "INTERRUPTED", note, []);
  }

  /** Ends the turn of an agent of which a part is not configured any more. True where the agent was parked. */
  async #strand(now: Look, missing: string): Promise<boolean> {
    if (now.state === "READY" && now.waiting.length === 0) return this.#park(now);
    if (now.state === "READY") await this.#turns.start(now);
    else {
      const message = `${missing} of this agent is not configured: add it to the configuration and start again`;
      const error: EventBody = { kind: "ERROR", severity: "ERROR", phase: "LIFECYCLE", message, detail: null };
      await this.#turns.sealAndEnd(now, "ERROR", `${missing} is not configured`, [error]);
    }
    return false;
  }

  /** Takes calls through the gate up to execution; what is refused gets its result, what must be asked is asked. */
  async #judge(calls: readonly CallLook[], now: Look, template: Template): Promise<void> {
    const runner = new CallRunner(this.#parts, template, now, this.hold);
    const judged = await Promise.all(calls.map((call) => runner.judge(call)));
    const at = this.#parts.clock.now();
    const records = judged.flatMap((judgement) => (judgement.kind === "ready" ? [] : [runner.record(judgement, at)]));
    for (const judgement of judged) if (judgement.kind === "ready") this.#readyCalls.set(judgement.call.id, judgement);
    if (records.length === 0) return;
    await this.hold.commit(
      {
        transitions: records.map((record) => record.transition),
        approvals: records.flatMap((record) => record.approval ?? []),
        approvalTransitions: records.flatMap((record) => record.stale ?? []),
      },
      records.flatMap((record) => record.events),
    );
  }

  /** Starts calls: their EXECUTING is committed first (invariant 5). */
  async #execute(calls: readonly CallLook[], now: Look, template: Template): Promise<void> {
    const runner = new CallRunner(this.#parts, template, now, this.hold);
    const at = this.#parts.clock.now();
    const starting = calls.flatMap((call) => {
      const ready = this.#readyCalls.get(call.id);
      return ready === undefined ? [] : [{ ready, step: runner.begin(ready, this.hold.lease.epoch, at) }];
    });
    const moved = this.hold.move({ state: "WORKING", breakpoint: "TOOL_EXECUTING" });
    const isCommitted = await this.hold.commit({ agent: moved.patch, transitions: starting.map(({ step }) => step.transition) }, [
      ...moved.events,
      ...starting.flatMap(({ step }) => startEvents(step.call)),
    ]);
    if (!isCommitted) return;
    if (!this.hold.mayStart()) return this.hold.lose();
    for (const { ready, step } of starting) {
      const running = this.#beside(this.#runCall(runner, ready, step.call)).finally(() => {
        this.#runningCalls.delete(step.call.id);
        this.#readyCalls.delete(step.call.id);
        this.knock();
      });
      this.#runningCalls.set(step.call.id, running);
    }
  }

  async #runCall(runner: CallRunner, ready: ReadyCall, call: CallLook): Promise<void> {
    const outcome = await runner.run(ready, this.#interrupt.signal);
    if (this.hold.lost.aborted) return;
    await this.#orElse(
      () => this.#commitOutcome(runner.finish(outcome, call, this.#parts.clock.now())),
      (problem) =>
        this.#commitOutcome(
          runner.finish(
            {
              ...outcome,
              kind: "refused",
              refusal: { type: "execution_failed", stage: "execution", message: `the result could not be stored: ${problem}` },
            },
            call,
            this.#parts.clock.now(),
          ),
        ),
    );
  }

  async #commitOutcome(end: CallCommit): Promise<void> {
    const moved = this.#runningCalls.size === 1 ? this.hold.move({ breakpoint: "POST_TOOL" }) : { patch: {}, events: [] };
    await this.hold.commit({ agent: moved.patch, transitions: [end.transition] }, [...end.events, ...moved.events]);
  }

  /** What the database refuses to store must not be tried for ever: `fallback` records that it could not be. */
  async #orElse(store: () => Promise<void>, fallback: (problem: string) => Promise<void>): Promise<void> {
    try {
      await store();
    } catch (error) {
      if (error instanceof StorageUnavailable) throw error;
      this.#parts.logger.error(`something of agent ${this.hold.lease.agentId} could not be stored`, error);
      await fallback(messageOf(error));
    }
  }

  /** Runs beside the loop. What fails there gives the agent up: it goes on when the lease has run out. */
  async #beside(activity: Promise<void>): Promise<void> {
    try {
      await activity;
    } catch (error) {
      this.#parts.logger.error(
        `agent ${this.hold.lease.agentId} could not be advanced; it goes on when its lease has run out`,
        error,
      );
      this.hold.lose();
    }
  }

  /** Gives the agent back where nothing arrived since the look (invariant 8). False where something did. */
  async #park(now: Look): Promise<boolean> {
    const moved =
      now.state === "READY" ? { patch: {}, events: [] } : this.hold.move({ state: "PAUSED", breakpoint: "AWAITING_APPROVAL" });
    return this.hold.commit(
      { expectSignal: now.signal, agent: { ...moved.patch, runnableAt: null, leaseOwner: null, leaseUntil: null } },
      moved.events,
    );
  }

  /** Lets running tools end, then gives the agent back, runnable, for another node. */
  async #leave(): Promise<Ending> {
    await Promise.allSettled(this.#runningCalls.values());
    this.hold.lose();
    await this.#settled();
    await release(this.#parts.sql, this.hold.lease);
    return "stopped";
  }

  async #settled(): Promise<void> {
    await Promise.allSettled([...this.#runningCalls.values(), ...(this.#modelCall === null ? [] : [this.#modelCall])]);
  }

  /** Resolves when somebody knocked since `seen`. */
  async #knocked(seen: number): Promise<void> {
    if (this.#knocks !== seen) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#answerKnock = resolve;
    await promise;
  }
}
