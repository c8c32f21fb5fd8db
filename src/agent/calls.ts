import { standingRules } from "./allow-rules.ts";
import { startEvents } from "./call-record.ts";
import { beginCall, finishCall, recordJudgement, type CallCommit } from "./call-commits.ts";
import { CallRunner, type ReadyCall } from "./call-runner.ts";
import type { Hold } from "./hold.ts";
import type { HooksBeside } from "./hooks-beside.ts";
import type { CallLook, Look } from "./look.ts";
import type { AgentParts } from "./parts.ts";
import type { Template } from "./template.ts";

/** What goes on beside a loop: how it is stopped, and how it makes the loop look again. */
export type Beside = {
  readonly interrupt: () => AbortSignal;
  readonly knock: () => void;
  readonly hooks: HooksBeside;
};

/** The tool calls of one agent that are under way on this node, or ready to start. */
export class Calls {
  readonly #parts: AgentParts;
  readonly #hold: Hold;
  readonly #interrupt: () => AbortSignal;
  readonly #knock: () => void;
  readonly #running = new Map<string, Promise<void>>();
  readonly #ready = new Map<string, ReadyCall>();

  constructor(parts: AgentParts, hold: Hold, { interrupt, knock }: Beside) {
    this.#parts = parts;
    this.#hold = hold;
    this.#interrupt = interrupt;
    this.#knock = knock;
  }

  /** The calls that run now. */
  get running(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** The calls that passed the gate up to execution, under this lease. */
  get ready(): ReadonlySet<string> {
    return new Set(this.#ready.keys());
  }

  /** Judges anew what has not started. */
  forgetReady(): void {
    this.#ready.clear();
  }

  /** Resolves when no call runs any more. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }

  /** Takes calls through the gate up to execution; what is refused gets its result, what must be asked is asked. */
  async judge(calls: readonly CallLook[], now: Look, template: Template): Promise<void> {
    const runner = new CallRunner(
      this.#parts,
      template,
      now,
      this.#hold,
      await standingRules(this.#parts.sql, this.#parts.tools, now),
    );
    const judged = await Promise.all(calls.map((call) => runner.judge(call)));
    const at = this.#parts.clock.now();
    const records = judged.flatMap((judgement) =>
      judgement.kind === "ready" ? [] : [recordJudgement(now, judgement, at, template)],
    );
    for (const judgement of judged) if (judgement.kind === "ready") this.#ready.set(judgement.call.id, judgement);
    if (records.length === 0) return;
    await this.#hold.commit(
      {
        transitions: records.map((record) => record.transition),
        approvals: records.flatMap((record) => record.approval ?? []),
        approvalTransitions: records.flatMap((record) => record.stale ?? []),
      },
      records.flatMap((record) => record.events),
    );
  }

  /** Starts calls: their EXECUTING is committed first (invariant 5). */
  async execute(calls: readonly CallLook[], now: Look, template: Template): Promise<void> {
    const runner = new CallRunner(this.#parts, template, now, this.#hold, []);
    const at = this.#parts.clock.now();
    const starting = calls.flatMap((call) => {
      const ready = this.#ready.get(call.id);
      return ready === undefined ? [] : [{ ready, step: beginCall(ready, this.#hold.lease.epoch, at) }];
    });
    const moved = this.#hold.move({ state: "WORKING", breakpoint: "TOOL_EXECUTING" });
    const isCommitted = await this.#hold.commit(
      { agent: moved.patch, transitions: starting.map(({ step }) => step.transition) },
      [...moved.events, ...starting.flatMap(({ step }) => startEvents(step.call))],
    );
    if (!isCommitted) {
      // What a call would have started by may not stand any more: it is judged anew.
      for (const { ready } of starting) this.#ready.delete(ready.call.id);
      return;
    }
    if (!this.#hold.mayStart()) return this.#hold.lose();
    for (const { ready, step } of starting) {
      const running = this.#hold.guard(this.#runCall(runner, ready, step.call)).finally(() => {
        this.#running.delete(step.call.id);
        this.#ready.delete(step.call.id);
        this.#knock();
      });
      this.#running.set(step.call.id, running);
    }
  }

  async #runCall(runner: CallRunner, ready: ReadyCall, call: CallLook): Promise<void> {
    const outcome = await runner.run(ready, this.#interrupt());
    if (this.#hold.lost.aborted) return;
    await this.#hold.storeOrElse(
      () => this.#commitOutcome(finishCall(outcome, call, this.#parts.clock.now())),
      (problem) =>
        this.#commitOutcome(
          finishCall(
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
    const moved = this.#running.size === 1 ? this.#hold.move({ breakpoint: "POST_TOOL" }) : { patch: {}, events: [] };
    await this.#hold.commit({ agent: moved.patch, transitions: [end.transition] }, [...end.events, ...moved.events]);
  }
}
