import { ENDED } from "../../lib/aborted.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { msSince } from "../../lib/time.ts";
import { agentPermissions, guardedWorkspace } from "../policy/agent-policy.ts";
import { ChildStarted, receiptOf } from "../tools/child.ts";
import { Later } from "../tools/later.ts";
import { ownCodeOf, runOwnCode } from "../tools/own-code.ts";
import type { Tool } from "../tools/tool.ts";
import { knownFileRows, KnownFiles } from "../workspace/known-files.ts";
import { Waits } from "../workspace/sandbox/sandbox.ts";
import type { CallingAgent } from "./call.ts";
import type { Wrapper } from "./hooks.ts";
import { CallHosts, HostGate, NO_HOSTS } from "./hosts/call-hosts.ts";
import type { ReadyCall } from "./judge.ts";
import { CachedRun } from "./results/cached-run.ts";
import type { ResultCache } from "./results/result-cache.ts";
import { endRun, keep, type CallOutcome, type CallWarning } from "./outcome.ts";
import type { Refusal } from "./refusals/refusal.ts";
import { CallOutput } from "./programs/call-output.ts";
import { type CallScope, type CallTemplate, toolContext } from "./scope.ts";
import { StageClock } from "./stage-clock.ts";
import { execute, type Executed } from "./stages/execution.ts";
import { stageTrace } from "./events.ts";

/** Runs a call whose EXECUTING is committed: the tool, its post hooks, the formatting. Never rejects. */
export async function runCall(ready: ReadyCall, scope: CallScope, interrupt: AbortSignal): Promise<CallOutcome> {
  const { call } = ready;
  const code = ownCodeOf(scope.services, scope.agent, `the call ${call.id} of ${call.name}`, "TOOL");
  return runOwnCode(code, () => runStages(ready, scope, interrupt));
}

async function runStages(ready: ReadyCall, scope: CallScope, interrupt: AbortSignal): Promise<CallOutcome> {
  const { services, template, agent, owner } = scope;
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
  const ran = await execute(ready.confirmed, {
    timeoutMs: timeLimit(tool, agent, template),
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
    }),
  });
  const executed = withWait(ran, used.waits?.reason ?? null);
  const soFar = executed.ok ? null : (used.output?.soFar ?? null);
  ending.abort(ENDED);
  end();
  const durationMs = msSince(started);
  // Files that a tool notes after its call has ended are dropped.
  const noted = used.files?.noted ?? [];
  // An interrupted or cancelled call asks no questions.
  const refusedHosts = used.hosts === null || isAborted(executed) ? NO_HOSTS : await used.hosts.refused();
  const warnings = [...slow(tool.name, durationMs, template.slowToolMs), ...left(tool.name, leftOut.events)];
  const answer = executed.ok ? executed.value.answer : undefined;
  const child = answer instanceof ChildStarted ? answer.child : null;
  if (answer instanceof Later || (answer instanceof ChildStarted && !answer.child.isBackground)) {
    const { bytes, problems } = await keep(services.outputs, ready.call.id, used.output, null);
    const record = { stages: clock.stages, durationMs, files: noted, refusedHosts, keptOutputBytes: bytes, child };
    const warned = { ...record, warnings: [...warnings, ...problems] };
    if (answer instanceof ChildStarted) return { kind: "later", waitsFor: "CHILD", dueMs: null, ...warned };
    const waitsFor = tool.source === "CLIENT" ? "CLIENT_TOOL" : "LATER";
    return { kind: "later", waitsFor, dueMs: answer.dueMs ?? template.deferredTimeoutMs, ...warned };
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
