import { ENDED } from "../../lib/aborted.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { messageOf } from "../../lib/text.ts";
import { msSince } from "../../lib/time.ts";
import { agentPermissions, guardedWorkspace } from "../policy/agent-policy.ts";
import { ChildStarted, receiptOf } from "../tools/child.ts";
import { digested } from "../tools/images.ts";
import { AnswerKept, NeedsInput } from "../tools/question.ts";
import { Later } from "../tools/later.ts";
import { ownCodeOf, runOwnCode } from "../tools/own-code.ts";
import type { Tool } from "../tools/tool.ts";
import { hookAnswer, type ToolOutcome } from "../tools/tool-hooks.ts";
import { readToolResult, type ToolResult } from "../tools/tool-result.ts";
import { knownFileRows, KnownFiles } from "../workspace/known-files.ts";
import { Waits } from "../workspace/sandbox/sandbox.ts";
import { isInputAnswered, type CallingAgent } from "./call.ts";
import { keepsAnswer } from "./kept-answer.ts";
import { readPostToolUseAnswer, hookCall, hooksFor, type Wrapper } from "./hooks.ts";
import { CallHosts, HostGate, NO_HOSTS } from "./hosts/call-hosts.ts";
import type { ReadyCall } from "./judge.ts";
import { CachedRun } from "./results/cached-run.ts";
import type { CallOutcome, CallRecord, CallWarning, EndedOutcome } from "./outcome.ts";
import { refusedResult } from "./refusals/refusal-details.ts";
import { toolCallError, type Refusal } from "./refusals/refusal.ts";
import type { ToolOutputs } from "./outputs.ts";
import { answeredInput } from "./asked-input.ts";
import type { FreshResult, ResultCache } from "./results/result-cache.ts";
import { CallOutput } from "./programs/call-output.ts";
import { type CallScope, type CallTemplate, toolContext } from "./scope.ts";
import { StageClock } from "./stage-clock.ts";
import { execute, TimeLimit, type Executed } from "./stages/execution.ts";
import { format } from "./stages/formatting.ts";
import type { Validated } from "./stages/validation.ts";
import { stageTrace } from "./events.ts";

/** Runs a call whose EXECUTING is committed: the tool, its post hooks, the formatting. Never rejects. */
export async function runCall(ready: ReadyCall, scope: CallScope, interrupt: AbortSignal): Promise<CallOutcome> {
  const { call } = ready;
  const code = ownCodeOf(scope.services, scope.agent, `the call ${call.id} of ${call.name}`, "TOOL");
  return runOwnCode(code, () => runStages(ready, scope, interrupt));
}

async function runStages(ready: ReadyCall, scope: CallScope, interrupt: AbortSignal): Promise<CallOutcome> {
  const { services, template, agent, owner, questions } = scope;
  const clock = new StageClock(
    ready.stages,
    services,
    template.trace ? stageTrace(ready.call, (event) => owner.send(event)) : null,
  );
  const { tool } = ready.confirmed.call;
  const ending = new AbortController();
  const leftOut = { events: 0 };
  const used: UsedParts = { output: null, files: null, hosts: null, waits: null };
  const output = (): CallOutput => (used.output ??= new CallOutput(services.outputs.collecting(ready.call.id)));
  const files = (): KnownFiles => (used.files ??= new KnownFiles(knownFileRows(services.sql, agent.id), services.contents));
  const hosts = (): CallHosts => (used.hosts ??= new CallHosts(new HostGate(services, agent, template), ending.signal));
  const waits = (): Waits => (used.waits ??= new Waits());
  const cached = tool.cacheable ? cachedRun(ready, scope, files) : null;
  const started = performance.now();
  const end = clock.begin("execution");
  const answered = isInputAnswered(ready.call) ? await answeredInput(services.sql, ready.call) : null;
  const limit = new TimeLimit(timeLimit(tool, agent, template));
  const ran = await execute(ready.confirmed, {
    limit,
    interrupt,
    around: around(tool, template, scope.results, cached),
    agent: { createdBy: agent.createdBy, templateId: template.id },
    onLate: () => services.lateResults.record(ready.call.id, tool.name),
    context: toolContext(scope, {
      callId: ready.call.id,
      toolName: tool.name,
      ended: ending.signal,
      leftOut,
      output,
      values: ready.values,
      files,
      hosts,
      waits,
      answered,
      askPerson: (question, withdrawn) =>
        limit.pausedFor(() => questions.ask(ready.call.id, question, AbortSignal.any([withdrawn, ending.signal]))),
    }),
  });
  const isKept = (): boolean => keepsAnswer(ready.call, template.deferredTimeoutMs, services.clock.now());
  const executed = withUnkept(withWait(ran, used.waits?.reason ?? null), isKept);
  const soFar = executed.ok ? null : (used.output?.soFar ?? null);
  ending.abort(ENDED);
  end(limit.pausedMs);
  // A question that the tool did not wait for is closed before the call ends.
  await questions.settled(ready.call.id);
  const durationMs = msSince(started) - limit.pausedMs;
  // Files that a tool notes after its call has ended are dropped.
  const noted = used.files?.noted ?? [];
  // An interrupted or cancelled call asks no questions.
  const refusedHosts = used.hosts === null || isAborted(executed) ? NO_HOSTS : await used.hosts.refused();
  const tried = used.hosts?.tried ?? [];
  const warnings = [...slow(tool.name, durationMs, template.slowToolMs), ...left(tool.name, leftOut.events)];
  const answer = executed.ok ? executed.value.answer : undefined;
  const child = answer instanceof ChildStarted ? answer.child : null;
  const isAsked = answer instanceof NeedsInput || answer instanceof AnswerKept;
  if (isAsked || answer instanceof Later || (answer instanceof ChildStarted && !answer.child.isBackground)) {
    const { bytes, problems } = await keep(services.outputs, ready.call.id, used.output, null);
    const record = { stages: clock.stages, durationMs, files: noted, refusedHosts, hosts: tried, keptOutputBytes: bytes, child };
    const warned = { ...record, warnings: [...warnings, ...problems] };
    if (answer instanceof NeedsInput) return { kind: "asks", asked: answer, ...warned };
    if (answer instanceof AnswerKept) return { kind: "kept", kept: answer, ...warned };
    if (answer instanceof ChildStarted) return { kind: "later", waitsFor: "CHILD", dueMs: null, task: null, ...warned };
    const waitsFor = tool.source === "CLIENT" ? "CLIENT_TOOL" : "LATER";
    return { kind: "later", waitsFor, dueMs: answer.dueMs ?? template.deferredTimeoutMs, task: answer.task, ...warned };
  }
  return endRun(scope, {
    call: ready.confirmed.call,
    callId: ready.call.id,
    answer: executed.ok ? accepted(answer instanceof ChildStarted ? receiptOf(answer.child) : answer) : executed,
    child,
    soFar,
    durationMs,
    clock,
    output: used.output,
    warnings,
    files: noted,
    refusedHosts,
    hosts: tried,
    signal: AbortSignal.any([interrupt, owner.lost]),
    cachedFrom: cached?.from ?? null,
    // Hosts are judged at each connection: such a result is not reused.
    fresh: cached === null || used.hosts !== null ? async () => null : async () => cached.fresh(noted, interrupt),
  });
}

type UsedParts = { output: CallOutput | null; files: KnownFiles | null; hosts: CallHosts | null; waits: Waits | null };

/**
 * Reuses an earlier result of a cacheable tool. The cache is off while a shell of the agent, or a call whose result comes
 * later, may change files.
 */
function cachedRun({ confirmed, values }: ReadyCall, scope: CallScope, files: () => KnownFiles): CachedRun | null {
  const { services, template, agent, results } = scope;
  if (agent.shells.length > 0 || agent.calls.some(({ state }) => state === "WAITING")) return null;
  const permissions = agentPermissions(template, agent.permission, services);
  const workspace = guardedWorkspace(services, agent.workspace, permissions, values);
  return new CachedRun(confirmed.call, { cache: results, workspace, files });
}

function around(
  { readOnly }: Pick<Tool, "readOnly">,
  { hooks }: Pick<CallTemplate, "hooks">,
  results: ResultCache,
  cached: CachedRun | null,
): readonly Wrapper[] {
  if (!readOnly) return [{ place: null, run: (_call, next) => results.changing(next) }, ...hooks.around];
  return cached === null ? hooks.around : [...hooks.around, { place: null, run: cached.around }];
}

function withWait(executed: Result<Executed, Refusal>, waitedSince: string | null): Result<Executed, Refusal> {
  const isTimeout = !executed.ok && executed.refusal.type === "timeout";
  return isTimeout ? refused({ ...executed.refusal, waitedSince }) : executed;
}

/** The time for a person's answer, which its server did not take, is over: the call fails. */
function withUnkept(executed: Result<Executed, Refusal>, isKept: () => boolean): Result<Executed, Refusal> {
  if (!executed.ok || !(executed.value.answer instanceof AnswerKept) || isKept()) return executed;
  const message = `${executed.value.answer.reason}: the answer of a person was not sent`;
  return refused({ type: "execution_failed", stage: "execution", message, cause: {} });
}

function isAborted(executed: Result<Executed, Refusal>): boolean {
  return !executed.ok && executed.refusal.type === "aborted";
}

/** The time limit of a call, in ms: the tool's own, at most the agent's, otherwise the template's. */
function timeLimit(
  { timeoutMs }: Pick<Tool, "timeoutMs">,
  { toolTimeoutMs }: Pick<CallingAgent, "toolTimeoutMs">,
  template: Pick<CallTemplate, "toolTimeoutMs">,
): number {
  if (toolTimeoutMs !== null) return Math.min(timeoutMs ?? toolTimeoutMs, toolTimeoutMs);
  return timeoutMs ?? template.toolTimeoutMs;
}

function slow(toolName: string, durationMs: number, limitMs: number): CallWarning[] {
  if (durationMs <= limitMs) return [];
  return [{ detail: "slow_tool", message: `${toolName} took ${Math.round(durationMs)} ms; the limit is ${limitMs}` }];
}

function left(toolName: string, events: number): CallWarning[] {
  if (events === 0) return [];
  const message = `${events} events that ${toolName} emitted were left out, since it did not wait for room: await emit()`;
  return [{ detail: "events_left_out", message }];
}

/** A call whose tool has answered, or whose answer was given later. */
export type Ran = Pick<CallRecord, "durationMs" | "warnings" | "files" | "refusedHosts" | "hosts" | "child"> & {
  readonly call: Validated;
  readonly callId: string;
  /** The answer in any form: tools are other people's code. */
  readonly answer: Result<ToolResult | undefined, Refusal>;
  readonly soFar: string | null;
  readonly clock: StageClock;
  /** The output of its programs; null for none. */
  readonly output: CallOutput | null;
  /** Aborts hooks. */
  readonly signal: AbortSignal;
  readonly cachedFrom: string | null;
  /** The result that identical calls may reuse; null for none. */
  readonly fresh: () => Promise<FreshResult | null>;
};

type EndScope = {
  readonly services: Pick<CallScope["services"], "outputs">;
  readonly agent: Pick<CallScope["agent"], "createdBy">;
  readonly template: Pick<CallScope["template"], "id" | "hooks">;
};

/** The outcome of a call after its post hooks and the formatting. Never rejects. */
export async function endRun({ services, agent, template }: EndScope, ran: Ran): Promise<EndedOutcome> {
  const { call, callId, answer, soFar, durationMs, clock, output, files, refusedHosts, hosts, child } = ran;
  const { tool } = call;
  const hooked = await throughPostHooks(() => outcomeOf(answer, soFar, durationMs), call, { agent, template }, ran.signal);
  const warnings = [...ran.warnings, ...hooked.warnings];
  const recordOf = ({ bytes, problems }: Kept): CallRecord => ({
    stages: clock.stages,
    durationMs,
    warnings: [...warnings, ...problems],
    keptOutputBytes: bytes,
    files,
    refusedHosts,
    hosts,
    child,
  });
  if (hooked.withheldBy !== null) {
    const original = outcomeOf(answer, soFar, durationMs).output;
    const kept = await keep(services.outputs, callId, output, original);
    const message = `the hook ${hooked.withheldBy} failed or was interrupted, and the result is withheld: what the tool did has been done`;
    const failed = { type: "execution_failed", stage: "execution", message, cause: {} } as const;
    const refusal = !answer.ok && answer.refusal.type === "aborted" ? answer.refusal : failed;
    return { kind: "refused", refusal, said: null, soFar: null, ...recordOf(kept) };
  }
  if (!answer.ok) {
    const said = hooked.said === null ? null : format(hooked.said, tool.keeps);
    const kept = await keep(services.outputs, callId, output, null);
    return { kind: "refused", refusal: answer.refusal, said, soFar, ...recordOf(kept) };
  }
  const { whole, ...formatted } = clock.timed("formatting", () => format(hooked.said ?? answer.value, tool.keeps));
  const kept = await keep(services.outputs, callId, output, whole);
  // Truncated output is read from its own call, and images are large: they are not reused.
  const mayBeKept = kept.bytes === null && kept.problems.length === 0 && formatted.images.length === 0;
  const fresh = mayBeKept ? await ran.fresh() : null;
  return {
    kind: "completed",
    ...formatted,
    images: formatted.images.map(digested),
    cachedFrom: ran.cachedFrom,
    fresh,
    ...recordOf(kept),
  };
}

function outcomeOf(answer: Result<ToolResult | undefined, Refusal>, soFar: string | null, durationMs: number): ToolOutcome {
  if (answer.ok) {
    const result = readToolResult(answer.value) ?? format(answer.value);
    return { ok: true, ...resultOf(result), durationMs, error: null };
  }
  const { type, message } = toolCallError(answer.refusal);
  return { ok: false, ...resultOf(refusedResult(answer.refusal, soFar)), durationMs, error: { type, message } };
}

/**
 * The outcome after the post hooks; null if they leave it unchanged. Each sees the outcome of the one before it. A hook
 * that throws is reported and skipped, or withholds the outcome if it is configured to.
 */
async function throughPostHooks(
  ended: () => ToolOutcome,
  call: Validated,
  { agent: { createdBy }, template }: Pick<EndScope, "agent" | "template">,
  signal: AbortSignal,
): Promise<{
  readonly said: ToolResult | null;
  readonly warnings: readonly CallWarning[];
  /** The place of the failed or skipped hook that withholds the outcome; null for none. */
  readonly withheldBy: string | null;
}> {
  const hooks = hooksFor("postToolUse", call.tool, template.hooks);
  // An interrupted call waits for no hooks. The outcome is withheld, since they might have hidden parts of it.
  const stoppedAt = (index: number): string | null =>
    hooks.slice(index).find(({ run }) => typeof run !== "function" && run.ifItFails === "withhold")?.place ?? null;
  if (hooks.length === 0 || signal.aborted) return { said: null, warnings: [], withheldBy: stoppedAt(0) };
  const outcome = ended();
  const warnings: CallWarning[] = [];
  let said: ToolResult | null = null;
  for (const [index, { place, run: entry }] of hooks.entries()) {
    const { run, ifItFails = "keep" } = typeof entry === "function" ? { run: entry } : entry;
    const shown = structuredClone(outcome);
    try {
      const hooked = hookCall(call, { createdBy, templateId: template.id });
      const answer = readPostToolUseAnswer(await hookAnswer(() => run(hooked, shown), signal, place), resultOf(outcome));
      if (answer.kind === "unreadable") throw new Error(answer.problem);
      if (answer.kind === "nothing") continue;
      said = answer.result;
      Object.assign(outcome, resultOf(answer.result));
    } catch (error) {
      if (signal.aborted) return { said, warnings, withheldBy: stoppedAt(index) };
      warnings.push({ detail: "hook_failed", message: `the hook ${place} failed for ${call.tool.name}: ${messageOf(error)}` });
      if (ifItFails === "withhold") return { said: null, warnings, withheldBy: place };
    }
  }
  return { said, warnings, withheldBy: null };
}

function resultOf({ output, details, images = [] }: ToolResult): Required<ToolResult> {
  return { output, details, images };
}

type Kept = { readonly bytes: number | null; readonly problems: readonly CallWarning[] };

/**
 * Keeps an output that the model reads only in part: the tool's answer, or otherwise its programs' output. A failure is
 * reported, and the model's part stays.
 */
async function keep(outputs: ToolOutputs, callId: string, collected: CallOutput | null, whole: string | null): Promise<Kept> {
  try {
    const isPartial = await collected?.close();
    const bytes =
      whole !== null ? await outputs.keep(callId, whole) : isPartial === true ? await outputs.keepCollected(callId) : null;
    return { bytes, problems: [] };
  } catch (error) {
    const message = `the whole output of call ${callId} could not be kept: ${messageOf(error)}`;
    return { bytes: null, problems: [{ detail: "output_not_kept", message }] };
  } finally {
    if (collected?.isOnDisk === true) await outputs.discardCollected(callId).catch(() => {});
  }
}
