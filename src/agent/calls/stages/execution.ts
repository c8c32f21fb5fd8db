import type { CancelRequest } from "../../../db/commit/change.ts";
import { ENDED, aborted } from "../../../lib/aborted.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { currentOwnCode } from "../../tools/own-code.ts";
import { ChildStarted } from "../../tools/child.ts";
import { Later } from "../../tools/later.ts";
import { AnswerKept, NeedsInput } from "../../tools/question.ts";
import { TimedOut } from "../../tools/timed-out.ts";
import type { ToolResult } from "../../tools/tool-result.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { failureOf, AroundFailed, hookCall, type Around, type HookAgent, type Wrapper } from "../hooks.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Confirmed } from "./confirmation.ts";
import type { Validated } from "./validation.ts";

/** A call that ran, with the tool's answer in any form: tools are other people's code. */
export type Executed = {
  readonly call: Validated;
  readonly answer: ToolResult | Later | ChildStarted | NeedsInput | AnswerKept | undefined;
};

export type ExecutionScope = {
  readonly around: readonly Wrapper[];
  readonly agent: HookAgent;
  readonly limit: TimeLimit;
  readonly interrupt: AbortSignal;
  /** Called if the tool answers after its call had ended: its result is dropped. */
  readonly onLate: () => void;
  readonly context: (signal: AbortSignal) => ToolContext;
};

/** The time limit of a call, in ms. It does not run while a person is asked. */
export class TimeLimit {
  readonly ms: number;
  readonly #up = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #usedMs = 0;
  #pausedMs = 0;
  #since = performance.now();

  constructor(ms: number) {
    this.ms = ms;
    this.#run();
  }

  get signal(): AbortSignal {
    return this.#up.signal;
  }

  /** The time for which it did not run, in ms. */
  get pausedMs(): number {
    return this.#pausedMs;
  }

  /** Stops the time while `work` runs. Of several concurrent works, only the first one stops it. */
  async pausedFor<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#timer === undefined) return work();
    this.#stop();
    const since = performance.now();
    this.#usedMs += since - this.#since;
    try {
      return await work();
    } finally {
      this.#pausedMs += performance.now() - since;
      if (!this.#up.signal.aborted) this.#run();
    }
  }

  end(): void {
    this.#stop();
    // Releases the signals of others that are joined with it, and live as long as the lease.
    this.#up.abort(ENDED);
  }

  #run(): void {
    this.#since = performance.now();
    const up = (): void => this.#up.abort(new Error(`the tool's time of ${this.ms} ms is up`));
    this.#timer = setTimeout(up, Math.max(0, this.ms - this.#usedMs));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Stage 5: runs the tool. A timeout or an interrupt ends it immediately, even if the tool never returns; a late result
 * is dropped. Never rejects: an error of the tool is a refusal (invariant 9).
 */
export async function execute(
  { call }: Confirmed,
  { limit, interrupt, onLate, around, agent, context }: ExecutionScope,
): Promise<Result<Executed, Refusal>> {
  const signal = AbortSignal.any([limit.signal, interrupt]);
  const stopReason = (): Refusal | null => (signal.aborted ? reasonOf(interrupt, limit.ms, call.tool) : null);
  using stopped = aborted(signal);
  let hasEnded = false;
  try {
    signal.throwIfAborted();
    const noteLate = (result: Result<Executed, Refusal>): Result<Executed, Refusal> => {
      // A tool that obeys its signal throws: no result is dropped.
      if (hasEnded && result.ok) onLate();
      return result;
    };
    const running = run(call, context(signal), { around, agent }, stopReason);
    return await Promise.race([stopped.promise, running.then(noteLate)]);
  } catch (error) {
    if (!signal.aborted) throw error;
    return refused(reasonOf(interrupt, limit.ms, call.tool));
  } finally {
    hasEnded = true;
    limit.end();
  }
}

/** The placeholder that wrappers see for a later result. Their own answer is not used. */
const LATER_RESULT: ToolResult = { output: "The result comes later.", details: null };

async function run(
  call: Validated,
  context: ToolContext,
  { around, agent }: Pick<ExecutionScope, "around" | "agent">,
  stopReason: () => Refusal | null,
): Promise<Result<Executed, Refusal>> {
  let deferred: Later | ChildStarted | NeedsInput | AnswerKept | null = null;
  const wrapped = around.reduceRight<() => Promise<ToolResult>>(
    (next, wrapper) => roundOnce(wrapper, next, () => ({ ...hookCall(call, agent), signal: context.signal })),
    async () => {
      const answer = await call.bound.run(context);
      const isAsked = answer instanceof NeedsInput || answer instanceof AnswerKept;
      if (!(isAsked || answer instanceof Later || answer instanceof ChildStarted)) return answer;
      deferred = answer;
      return LATER_RESULT;
    },
  );
  try {
    const answer = await wrapped();
    return accepted({ call, answer: deferred ?? answer });
  } catch (error) {
    if (error instanceof TimedOut) return refused(stopReason() ?? timedOut(error.afterMs, call.tool));
    if (stopReason() === null) logForAuthor(call.tool, error);
    return refused(stopReason() ?? { type: "execution_failed", stage: "execution", ...failureOf(error, context.workspace.root) });
  }
}

/** Logs errors of custom tools and hooks. Errors of built-in tools, and those of MCP servers, are meant for the model. */
function logForAuthor({ source }: Pick<Tool, "source">, error: unknown): void {
  if (error instanceof AroundFailed) currentOwnCode()?.threw(error.cause);
  else if (source !== "BUILTIN" && source !== "MCP") currentOwnCode()?.threw(error);
}

/** A wrapper around an execution. An error of the hook itself names the hook; an error of the execution is passed on. */
function roundOnce(
  { place, run }: Wrapper,
  next: () => Promise<ToolResult>,
  makeCall: () => Parameters<Around>[0],
): () => Promise<ToolResult> {
  return async () => {
    const hooked = makeCall();
    const thrown = new Set<unknown>();
    const noted = async (): Promise<ToolResult> => {
      try {
        return await next();
      } catch (error) {
        thrown.add(error);
        throw error;
      }
    };
    try {
      return await run(hooked, runOnce(noted, hooked.signal));
    } catch (error) {
      throw place === null || thrown.has(error) ? error : new AroundFailed(place, error);
    }
  };
}

/**
 * Rejects a second execution, and one after the call has ended: a tool runs once for a call, while it is EXECUTING
 * (invariant 5). Its rejection is handled even if the wrapper does not wait for it.
 */
function runOnce(next: () => Promise<ToolResult>, ended: AbortSignal): () => Promise<ToolResult> {
  let isUsed = false;
  const begin = async (): Promise<ToolResult> => {
    if (isUsed) throw new Error("a wrapper called next() twice, and a tool runs once for a call");
    if (ended.aborted) throw new Error("a wrapper called next() after the call had ended");
    isUsed = true;
    return next();
  };
  return () => {
    const running = begin();
    running.catch(() => {});
    return running;
  };
}

function timedOut(afterMs: number, { readOnly }: Pick<Tool, "readOnly">): Refusal {
  return { type: "timeout", stage: "execution", afterMs, waitedSince: null, readOnly };
}

function reasonOf(interrupt: AbortSignal, timeoutMs: number, tool: Pick<Tool, "readOnly">): Refusal {
  if (!interrupt.aborted) return timedOut(timeoutMs, tool);
  if (interrupt.reason instanceof CallCancelled) return cancelledRefusal(interrupt.reason.request, "execution");
  const note = typeof interrupt.reason === "string" ? interrupt.reason : null;
  return { type: "aborted", stage: "execution", note, readOnly: tool.readOnly };
}

export class CallCancelled extends Error {
  override readonly name = "AbortError";
  readonly request: CancelRequest;

  constructor(request: CancelRequest) {
    super("a person cancelled the call");
    this.request = request;
  }
}

export function cancelledRefusal({ by, note }: CancelRequest, stage: "confirmation" | "execution"): Refusal {
  return { type: "cancelled", stage, by, note };
}
