import { ENDED } from "../../lib/abort-reason.ts";
import type { Json } from "../../lib/json.ts";
import { messageOf } from "../../lib/text.ts";
import { hookAnswer } from "../tools/hook.ts";
import { ownCodeOf, runOwnCode } from "../tools/own-code.ts";
import { readToolResult, RESULT_FORM, type ToolResult } from "../tools/tool-result.ts";
import { hookCall, hooksFor } from "./hooks.ts";
import type { ReadyCall } from "./judge.ts";
import type { ToolOutputs } from "./outputs.ts";
import type { Refusal } from "./refusal.ts";
import type { CallScope } from "./scope.ts";
import { StageClock, type Stages } from "./stage-clock.ts";
import { execute } from "./stages/execution.ts";
import { format } from "./stages/formatting.ts";
import type { Validated } from "./stages/validation.ts";
import { toolContext } from "./tool-context.ts";
import { stageTrace } from "./trace.ts";

/** Something that operators should know of a call that ran. */
export type CallWarning = {
  readonly detail: "slow_tool" | "events_left_out" | "hook_failed" | "output_not_kept";
  readonly message: string;
};

/** The end of an execution: the result, or why there is none. */
export type CallOutcome = { readonly stages: Stages; readonly durationMs: number; readonly warnings: readonly CallWarning[] } & (
  | { readonly kind: "completed"; readonly output: string; readonly details: Json; readonly keptOutputBytes: number | null }
  | { readonly kind: "refused"; readonly refusal: Refusal }
);

/** Runs a call whose EXECUTING is committed: the tool, its post hooks, the formatting. Never rejects. */
export async function runCall(ready: ReadyCall, scope: CallScope, interrupt: AbortSignal): Promise<CallOutcome> {
  const { call } = ready;
  const code = ownCodeOf(scope.services, scope.agent, `the call ${call.id} of ${call.name}`, "TOOL");
  return runOwnCode(code, () => throughStages(ready, scope, interrupt));
}

async function throughStages(ready: ReadyCall, scope: CallScope, interrupt: AbortSignal): Promise<CallOutcome> {
  const { services, template, agent, owner } = scope;
  const clock = new StageClock(
    ready.stages,
    services.clock,
    template.trace ? stageTrace(ready.call, (event) => owner.send(event)) : null,
  );
  const { tool } = ready.confirmed.call;
  const ending = new AbortController();
  const leftOut = { events: 0 };
  const started = performance.now();
  const end = clock.begin("execution");
  const executed = await execute(ready.confirmed, {
    timeoutMs: tool.timeoutMs ?? agent.toolTimeoutMs ?? template.toolTimeoutMs,
    interrupt,
    around: template.hooks.around,
    context: toolContext(scope, { callId: ready.call.id, toolName: tool.name, ended: ending.signal, leftOut }),
  });
  ending.abort(ENDED);
  end();
  const durationMs = performance.now() - started;
  const warnings = [...slow(tool.name, durationMs, template.slowToolMs), ...left(tool.name, leftOut.events)];
  if (!executed.ok) return { kind: "refused", refusal: executed.refusal, stages: clock.stages, durationMs, warnings };

  const hooked = await throughPostHooks(executed.value, scope, AbortSignal.any([interrupt, owner.lost]));
  const { whole, ...formatted } = clock.timed("formatting", () => format(hooked.answer, tool.keeps));
  const kept = await keep(services.outputs, ready.call.id, whole);
  return {
    kind: "completed",
    ...formatted,
    keptOutputBytes: kept.bytes,
    stages: clock.stages,
    durationMs,
    warnings: [...warnings, ...hooked.warnings, ...kept.warnings],
  };
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

/** The answer after all hooks. A hook that throws is reported, and the result stays as the last one left it. */
async function throughPostHooks(
  { call, answer }: { readonly call: Validated; readonly answer: ToolResult | undefined },
  { template }: CallScope,
  signal: AbortSignal,
): Promise<{ answer: ToolResult | undefined; warnings: readonly CallWarning[] }> {
  let current = answer;
  for (const { place, run } of hooksFor("postToolUse", call.tool, template.hooks)) {
    try {
      const result = current;
      if (result === undefined) continue;
      const said: unknown = await hookAnswer(() => run(hookCall(call), result), signal);
      const other = said === undefined ? result : readToolResult(said);
      if (other === null) throw new Error(RESULT_FORM);
      current = other;
    } catch (error) {
      const message = `the hook ${place} failed for ${call.tool.name}: ${messageOf(error)}`;
      return { answer: current, warnings: [{ detail: "hook_failed", message }] };
    }
  }
  return { answer: current, warnings: [] };
}

/** Keeps an output of which the model reads only a part; null if it reads all. If that fails it is reported, and the part stays. */
async function keep(
  outputs: ToolOutputs,
  callId: string,
  whole: string | null,
): Promise<{ bytes: number | null; warnings: readonly CallWarning[] }> {
  if (whole === null) return { bytes: null, warnings: [] };
  try {
    return { bytes: await outputs.keep(callId, whole), warnings: [] };
  } catch (error) {
    const message = `the whole output of call ${callId} could not be kept: ${messageOf(error)}`;
    return { bytes: null, warnings: [{ detail: "output_not_kept", message }] };
  }
}
