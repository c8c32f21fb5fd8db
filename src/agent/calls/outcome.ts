import type { CallWait } from "../../db/commit/change.ts";
import type { Json } from "../../lib/json.ts";
import type { Result } from "../../lib/result.ts";
import { messageOf } from "../../lib/text.ts";
import { hookAnswer, type ToolOutcome } from "../tools/tool-hooks.ts";
import { readToolResult, type ToolResult } from "../tools/tool-result.ts";
import type { StartedChild } from "../tools/child.ts";
import type { NotedFile } from "../workspace/known-files.ts";
import { readPostToolUseAnswer, hookCall, hooksFor } from "./hooks.ts";
import type { RefusedHosts } from "./hosts/call-hosts.ts";
import type { ToolOutputs } from "./outputs.ts";
import type { CallOutput } from "./programs/call-output.ts";
import { callStep, type CallStep, type CallView, type Trail } from "./call.ts";
import { refusedFacts, refusedTrail, replacedFacts, toolCallError, type Refusal } from "./refusals/refusal.ts";
import { refusedResult } from "./refusals/refusal-details.ts";
import type { FreshResult } from "./results/result-cache.ts";
import type { CallScope } from "./scope.ts";
import type { StageClock, Stages } from "./stage-clock.ts";
import { format, type Formatted } from "./stages/formatting.ts";
import type { Validated } from "./stages/validation.ts";

export type CallWarning = {
  readonly detail: "slow_tool" | "events_left_out" | "hook_failed" | "output_not_kept";
  readonly message: string;
};

type CallRecord = {
  readonly stages: Stages;
  readonly durationMs: number;
  readonly warnings: readonly CallWarning[];
  /** The length of the kept output, if the model reads only a part of it; null if the model reads all. */
  readonly keptOutputBytes: number | null;
  readonly files: readonly NotedFile[];
  /** The hosts that it could not reach, and that a person may allow. */
  readonly refusedHosts: RefusedHosts;
  /** The child that it starts; null for none. */
  readonly child: StartedChild | null;
};

/** The tool's result comes later, within `dueMs`; null for that of a child, which has all the time it needs. */
export type LaterOutcome = CallRecord & { readonly kind: "later"; readonly waitsFor: CallWait; readonly dueMs: number | null };

export type CallOutcome = EndedOutcome | LaterOutcome;

export type EndedOutcome = CallRecord &
  (
    | {
        readonly kind: "completed";
        readonly output: string;
        readonly details: Json;
        /** The call whose result this is; null if the tool ran. */
        readonly cachedFrom: string | null;
        /** The result that identical calls may reuse once the end is stored; null if none may. */
        readonly fresh: FreshResult | null;
      }
    | {
        readonly kind: "refused";
        readonly refusal: Refusal;
        /** The result that hooks put in place of the usual text, for the model and for programs; null for none. */
        readonly said: Omit<Formatted, "whole"> | null;
        /** The output of its programs so far, as the model reads it; null if empty. */
        readonly soFar: string | null;
      }
  );

/** A call whose tool has answered, or whose answer was given later. */
export type Ran = Pick<CallRecord, "durationMs" | "warnings" | "files" | "refusedHosts" | "child"> & {
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
  const { call, callId, answer, soFar, durationMs, clock, output, files, refusedHosts, child } = ran;
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
  // Truncated output is read from its own call: it is not reused.
  const mayBeKept = kept.bytes === null && kept.problems.length === 0;
  const fresh = mayBeKept ? await ran.fresh() : null;
  return { kind: "completed", ...formatted, cachedFrom: ran.cachedFrom, fresh, ...recordOf(kept) };
}

function outcomeOf(answer: Result<ToolResult | undefined, Refusal>, soFar: string | null, durationMs: number): ToolOutcome {
  if (answer.ok) {
    const { output, details } = readToolResult(answer.value) ?? format(answer.value);
    return { ok: true, output, details, durationMs, error: null };
  }
  const { type, message } = toolCallError(answer.refusal);
  return { ok: false, ...refusedResult(answer.refusal, soFar), durationMs, error: { type, message } };
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
      Object.assign(outcome, answer.result);
    } catch (error) {
      if (signal.aborted) return { said, warnings, withheldBy: stoppedAt(index) };
      warnings.push({ detail: "hook_failed", message: `the hook ${place} failed for ${call.tool.name}: ${messageOf(error)}` });
      if (ifItFails === "withhold") return { said: null, warnings, withheldBy: place };
    }
  }
  return { said, warnings, withheldBy: null };
}

function resultOf({ output, details }: ToolOutcome): ToolResult {
  return { output, details };
}

type Kept = { readonly bytes: number | null; readonly problems: readonly CallWarning[] };

/**
 * Keeps an output that the model reads only in part: the tool's answer, or otherwise its programs' output. A failure is
 * reported, and the model's part stays.
 */
export async function keep(
  outputs: ToolOutputs,
  callId: string,
  collected: CallOutput | null,
  whole: string | null,
): Promise<Kept> {
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

/** The step of a call to its end. */
export function endStep(call: CallView, outcome: EndedOutcome, at: Date, trail?: Trail): CallStep {
  const { keptOutputBytes } = outcome;
  const common = { stages: outcome.stages, completedAt: at.toISOString(), durationMs: outcome.durationMs };
  if (outcome.kind === "refused") {
    const { refusal, said, soFar } = outcome;
    const { output, details } = said ?? refusedResult(refusal, soFar);
    const facts = { ...common, ...(said === null ? refusedFacts(refusal) : replacedFacts(refusal, said)), output };
    return callStep(call, "FAILED", at, facts, { details, keptOutputBytes }, trail ?? refusedTrail(refusal));
  }
  const { output, details, cachedFrom } = outcome;
  return callStep(call, "COMPLETED", at, { ...common, output, cachedFrom }, { details, keptOutputBytes }, trail);
}
