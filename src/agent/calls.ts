import { standingRules } from "./allow-rules.ts";
import { startEvents } from "./call-record.ts";
import { beginCall, finishCall, recordJudgement, refuseCall, type CallCommit } from "./call-commits.ts";
import { CallRunner, type CallOutcome, type ReadyCall } from "./call-runner.ts";
import { someString } from "../lib/json.ts";
import { everAsks } from "./gate/policy.ts";
import { isSecretPath } from "./gate/secret-files.ts";
import type { Entry, Hold } from "./hold.ts";
import { hooksFor } from "./hooks.ts";
import type { HooksBeside } from "./hooks-beside.ts";
import type { CallLook, Look } from "./look.ts";
import { afterCalls, unchanged } from "./look-after.ts";
import type { AgentParts } from "./parts.ts";
import type { Template } from "./template.ts";
import type { Slot } from "./tool-slots.ts";

/** A call that may start, with its place among the running tools. */
type StartingCall = { readonly ready: ReadyCall; readonly slot: Slot };

/** A call whose EXECUTING is committed. */
type StartedCall = StartingCall & { readonly call: CallLook };

/** What goes on beside a loop: how it is stopped, and how it makes the loop look again. */
export type Beside = {
  readonly interrupt: () => AbortSignal;
  readonly knock: () => void;
  /** Leaves what ended to the loop, to be stored with what it does next. False where the loop is busy. */
  readonly offer: (entry: Entry) => boolean;
  readonly hooks: HooksBeside;
};

/** The tool calls of one agent that are under way on this node, or ready to start. */
export class Calls {
  readonly #parts: AgentParts;
  readonly #hold: Hold;
  readonly #interrupt: () => AbortSignal;
  readonly #knock: () => void;
  readonly #offer: (entry: Entry) => boolean;
  readonly #running = new Map<string, Promise<void>>();
  readonly #ready = new Map<string, ReadyCall>();
  readonly #repeatable = new Set<string>();
  /** The number of times that verdicts were forgotten: a judgement that was under way meanwhile is forgotten, too. */
  #forgotten = 0;
  readonly #stopping = new AbortController();
  /** Calls that hooks are looking at, beside the loop. */
  #judging: Promise<void> | null = null;

  constructor(parts: AgentParts, hold: Hold, { interrupt, knock, offer }: Beside) {
    this.#parts = parts;
    this.#hold = hold;
    this.#interrupt = interrupt;
    this.#knock = knock;
    this.#offer = offer;
  }

  /** The calls that run now. */
  get running(): ReadonlySet<string> {
    return new Set(this.#running.keys());
  }

  /** True while hooks are looking at calls. */
  get isJudging(): boolean {
    return this.#judging !== null;
  }

  /** The calls that passed the gate up to execution, under this lease. */
  get ready(): ReadonlySet<string> {
    return new Set(this.#ready.keys());
  }

  /** The calls that an earlier owner left unfinished, and that may run again. */
  get repeatable(): ReadonlySet<string> {
    return this.#repeatable;
  }

  /** Lets calls run again that an earlier owner left unfinished. */
  repeat(callIds: readonly string[]): void {
    for (const id of callIds) this.#repeatable.add(id);
  }

  /** The node closes: what waits for its place does not start any more. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Judges anew what has not started. */
  forgetReady(): void {
    this.#ready.clear();
    this.#forgotten += 1;
  }

  /** Resolves when no call runs, or is judged, any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#running.values(), this.#judging]);
  }

  /**
   * Takes calls through the gate up to execution; what is refused gets its result, what must be asked is asked. Hooks are
   * waited for beside the loop, which sees interrupts meanwhile.
   */
  async judge(calls: readonly CallLook[], now: Look, template: Template): Promise<void> {
    // What is judged is stored before, where that may take its time: hooks, and a database that is away.
    const isHooked = calls.some(({ name }) => this.#isHooked(name, template));
    if ((isHooked || this.#parts.sql.outages.current !== null) && !(await this.#hold.storeKept())) return;
    if (!isHooked) return this.#judge(calls, now, template);
    this.#judging = this.#hold.guard(this.#judge(calls, now, template)).finally(() => {
      this.#judging = null;
      this.#knock();
    });
  }

  async #judge(calls: readonly CallLook[], now: Look, template: Template): Promise<void> {
    const forgotten = this.#forgotten;
    const mayAsk = everAsks(template.permission) || calls.some(namesSecret);
    const standing = mayAsk ? await standingRules(this.#parts.sql, this.#parts.tools, now) : [];
    const runner = new CallRunner(this.#parts, template, now, this.#hold, standing);
    const stop = AbortSignal.any([this.#interrupt(), this.#hold.lost, this.#stopping.signal]);
    const judged = await Promise.all(calls.map((call) => runner.judge(call, stop)));
    // What hooks would have said is not known: the calls are sealed by the interrupt, or judged by the next owner.
    if (stop.aborted) return;
    // A call that ran meanwhile may have changed what was looked at: they are judged again.
    if (forgotten !== this.#forgotten) return;
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
      records.some((record) => record.approval !== null) ? undefined : afterCalls(records.map((record) => record.call)),
    );
  }

  #isHooked(name: string, { hooks }: Template): boolean {
    const tool = this.#parts.tools.get(name);
    return tool !== undefined && hooksFor("preToolUse", tool, hooks).length > 0;
  }

  /** Starts calls, those for which the server has no place as soon as it has one. */
  async execute(calls: readonly CallLook[], now: Look, template: Template): Promise<void> {
    const runner = new CallRunner(this.#parts, template, now, this.#hold, []);
    const starting: StartingCall[] = [];
    for (const { id } of calls) {
      const ready = this.#ready.get(id);
      if (ready === undefined) continue;
      const slot = this.#parts.slots.tryTake();
      if (slot === null) this.#track(ready.call, this.#runLater(runner, ready, template));
      else starting.push({ ready, slot });
    }
    for (const started of await this.#begin(starting)) this.#track(started.call, this.#runCall(runner, started, template));
  }

  /** Commits the EXECUTING of calls (invariant 5), and gives those that may run now. The others give their places back. */
  async #begin(starting: readonly StartingCall[]): Promise<readonly StartedCall[]> {
    if (starting.length === 0) return [];
    let started: readonly StartedCall[] = [];
    try {
      started = await this.#commitBegin(starting);
    } finally {
      if (started.length === 0) starting.forEach(({ slot }) => slot.release());
    }
    return started;
  }

  async #commitBegin(starting: readonly StartingCall[]): Promise<readonly StartedCall[]> {
    const at = this.#parts.clock.now();
    const steps = starting.map(({ ready }) => beginCall(ready, this.#hold.lease.epoch, at));
    const before = this.#hold.breakpoint === "TOOL_EXECUTING" ? [] : this.#hold.move({ breakpoint: "PRE_TOOL" }).events;
    const moved = this.#hold.move({ state: "WORKING", breakpoint: "TOOL_EXECUTING" });
    const isCommitted = await this.#hold.commit(
      { agent: moved.patch, transitions: steps.map(({ transition }) => transition) },
      [
        ...before,
        ...moved.events,
        // A call that runs again has its TOOL_START.
        ...steps.flatMap(({ call, transition }) =>
          transition.from === "PENDING" || transition.from === "APPROVED" ? startEvents(call) : [],
        ),
      ],
      afterCalls(steps.map(({ call }) => call)),
    );
    if (isCommitted && (await this.#hold.mayStart()))
      return starting.map((call, index) => ({ ...call, call: steps[index]?.call ?? call.ready.call }));
    // What a call would have started by may not stand any more: it is judged anew.
    for (const { ready } of starting) this.#ready.delete(ready.call.id);
    return [];
  }

  /** Runs a call when the server has a place for it; one that waits too long is refused. */
  async #runLater(runner: CallRunner, ready: ReadyCall, template: Template): Promise<void> {
    const interrupt = this.#interrupt();
    if (this.#running.size === 0) {
      const moved = this.#hold.move({ breakpoint: "PRE_TOOL" });
      await this.#hold.commit({ agent: moved.patch }, moved.events, unchanged);
    }
    const began = performance.now();
    const stop = AbortSignal.any([interrupt, this.#hold.lost, this.#stopping.signal]);
    const slot = await this.#parts.slots.take(stop);
    if (stop.aborted) return slot?.release();
    if (slot === null) {
      const refusal = { type: "tool_busy", stage: "execution", waitedMs: Math.round(performance.now() - began) } as const;
      const end = refuseCall(ready, refusal, this.#parts.clock.now(), template);
      await this.#hold.commit({ transitions: [end.transition] }, end.events, afterCalls([end.call]));
      return;
    }
    for (const started of await this.#begin([{ ready, slot }])) await this.#runCall(runner, started, template);
  }

  /** What goes on for a call, until it has ended. */
  #track({ id: callId, name }: Pick<CallLook, "id" | "name">, work: Promise<void>): void {
    // What was judged before it ran may lead elsewhere now (invariant 14): links, files, what hooks look at.
    const mayHaveChanged = this.#parts.tools.get(name)?.readOnly !== true;
    const running = this.#hold.guard(work).finally(() => {
      this.#running.delete(callId);
      if (mayHaveChanged) this.forgetReady();
      this.#ready.delete(callId);
      this.#knock();
    });
    this.#running.set(callId, running);
  }

  async #runCall(runner: CallRunner, { ready, slot, call }: StartedCall, template: Template): Promise<void> {
    const outcome = await runner.run(ready, this.#interrupt()).finally(() => slot.release());
    if (this.#hold.lost.aborted) return;
    const end = (ended: CallOutcome): CallCommit => finishCall(ended, call, this.#parts.clock.now(), template);
    const entry: Entry = {
      ...this.#ending(end(outcome)),
      stored: () => {},
      orElse: async (problem) => {
        const message = `the result could not be stored: ${problem}`;
        const refusal = { type: "execution_failed", stage: "execution", message } as const;
        const failed = this.#ending(end({ ...outcome, kind: "refused", refusal }));
        await this.#hold.commit(failed.change, failed.events, failed.after);
      },
    };
    if (!this.#offer(entry)) await this.#hold.store(entry);
  }

  #ending({ transition, call, events }: CallCommit): Pick<Entry, "change" | "events" | "after"> {
    const moved = this.#running.size === 1 ? this.#hold.move({ breakpoint: "POST_TOOL" }) : { patch: {}, events: [] };
    return {
      change: { agent: moved.patch, transitions: [transition] },
      events: [...events, ...moved.events],
      after: afterCalls([call]),
    };
  }
}

/** True if a call names a file with secrets. The name in the call decides. */
function namesSecret({ requestedInput, effectiveInput }: CallLook): boolean {
  return someString(effectiveInput ?? requestedInput, isSecretPath);
}
