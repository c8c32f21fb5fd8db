import type { OwnerChange, ToolCallPatch } from "../../db/commit/change.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { ToolCallSnapshot } from "../../events/snapshots.ts";
import type { Json } from "../../lib/json.ts";
import { visibleLine } from "../../lib/escape-hidden.ts";
import { marked, byteLength } from "../../lib/text.ts";
import { bashRun } from "../tools/bash/run.ts";
import type { DigestedImage, ResultImage } from "../tools/images.ts";
import { callStep, type ApprovalView, type CallFacts, type CallStep, type CallView, type Trail } from "./call.ts";
import type { EndedOutcome } from "./outcome.ts";
import { refusedResult } from "./refusals/refusal-details.ts";
import { refusedFacts, refusedTrail, replacedFacts } from "./refusals/refusal.ts";
import type { Passage, Stages, StageTrace } from "./stage-clock.ts";

/** The most of a result that an event carries, in bytes; the whole is on the row. */
const SNAPSHOT_OUTPUT = 4 * 1024;
const PREVIEW = 200;

export function startEvents(call: CallView): AgentEventBody[] {
  return [{ kind: "TOOL_START", call: snapshot(call) }];
}

/** Null for a template that is no longer configured, which traces nothing. */
type Tracing = { readonly trace: boolean } | null | undefined;

/** The step of a call to its end. */
export function endStep(call: CallView, outcome: EndedOutcome, at: Date, trail?: Trail): CallStep {
  const { keptOutputBytes } = outcome;
  const hosts = hostsColumn(outcome);
  const common = { stages: outcome.stages, completedAt: at.toISOString(), durationMs: outcome.durationMs };
  if (outcome.kind === "refused") {
    const { refusal, said, soFar } = outcome;
    const { output, details } = said ?? refusedResult(refusal, soFar);
    const facts = { ...common, ...(said === null ? refusedFacts(refusal) : replacedFacts(refusal, said)), output };
    return callStep(call, "FAILED", at, facts, { details, keptOutputBytes, ...hosts }, trail ?? refusedTrail(refusal));
  }
  const { output, details, cachedFrom, images } = outcome;
  const facts = { ...common, output, cachedFrom, ...imagesOf(images) };
  const exitCode = exitCodeOf(call, details);
  return callStep(call, "COMPLETED", at, facts, { details, keptOutputBytes, exitCode, ...hosts }, trail);
}

/** The exit code in the result of a shell call; null for other tools, a background shell, and a command that a signal ended. */
function exitCodeOf({ name }: Pick<CallView, "name">, details: Json): number | null {
  if (name !== bashRun.name || typeof details !== "object" || details === null || !("code" in details)) return null;
  const { code } = details;
  return typeof code === "number" && Number.isInteger(code) ? code : null;
}

/** The column of a call's hosts. A run that asked for none leaves those of an earlier run. */
export function hostsColumn({ hosts }: Pick<EndedOutcome, "hosts">): Pick<ToolCallPatch, "hosts"> {
  return hosts.length === 0 ? {} : { hosts: [...hosts] };
}

/** The images of a call's result as its row names them. */
export function imagesOf(images: readonly ResultImage[]): Pick<CallFacts, "images"> {
  if (images.length === 0) return {};
  return { images: images.map(({ mediaType, digest, bytes }) => ({ mediaType, digest, bytes })) };
}

/** The images of a result; none of a refused call. */
export function imagesIn(outcome: EndedOutcome): readonly DigestedImage[] {
  return outcome.kind === "completed" ? outcome.images : [];
}

/** The rows of images: those that the tenant has already stay. */
export function imageRows(images: readonly DigestedImage[]): NonNullable<OwnerChange["images"]> {
  return images.map(({ digest, data }) => ({ digest, data }));
}

/**
 * The events of a call's final state; TOOL_START is among them if the call never executed (invariant 6). For a
 * template that traces, the end of its pipeline comes first.
 */
export function endEvents(call: CallView, template: Tracing): AgentEventBody[] {
  const shot = snapshot(call);
  return [
    ...(template?.trace === true ? [executionEnded(call)] : []),
    ...(call.startedAt === null ? [{ kind: "TOOL_START", call: shot } as const] : []),
    ...(call.isError
      ? [
          {
            kind: "TOOL_ERROR",
            call: shot,
            error: marked(call.error?.message ?? call.output ?? call.state, SNAPSHOT_OUTPUT, "the call has the whole"),
          } as const,
        ]
      : []),
    { kind: "TOOL_END", call: shot },
    { kind: "TOOL_EXECUTED", call: shot },
  ];
}

function executionEnded(call: CallView): AgentEventBody {
  const common = { callId: call.id, tool: call.name, durationMs: call.durationMs ?? 0 };
  const { output, error } = snapshot(call);
  if (error === null) return { kind: "EXECUTION_COMPLETED", ...common, result: output };
  return call.state === "SEALED" || error.type === "aborted"
    ? { kind: "EXECUTION_ABORTED", ...common, error }
    : { kind: "EXECUTION_FAILED", ...common, error };
}

export function snapshot(call: CallView): ToolCallSnapshot {
  return {
    callId: call.id,
    name: call.name,
    state: call.state,
    inputPreview: inputPreview(call),
    output: call.output === null ? null : marked(call.output, SNAPSHOT_OUTPUT, "the call has the whole"),
    isError: call.isError,
    error:
      call.error === null
        ? null
        : { ...call.error, message: marked(call.error.message, SNAPSHOT_OUTPUT, "the call has the whole") },
    approval: call.approval === null ? null : approvalOf(call.approval),
    startedAt: iso(call.startedAt),
    completedAt: iso(call.completedAt),
    durationMs: call.durationMs,
    cachedFrom: call.cachedFrom,
  };
}

/** JSON text of the input that would run, or else of the requested input, cut at 200 characters or at another length. */
export function inputPreview(call: Pick<CallView, "effectiveInput" | "requestedInput">, length = PREVIEW): string {
  const input = call.effectiveInput ?? call.requestedInput;
  // Only the shown part is scanned: inputs may be large, and every event of a call has a preview.
  const json = JSON.stringify(input);
  const text = visibleLine(json.slice(0, length + 1));
  return text.length > length ? `${text.slice(0, length).toWellFormed()}…` : text;
}

function approvalOf({ id, state, decision, decidedBy, decidedAt, note }: ApprovalView): ToolCallSnapshot["approval"] {
  return {
    approvalId: id,
    state,
    decision,
    decidedBy,
    decidedAt: iso(decidedAt),
    note: note === null ? null : marked(note, 1_000, "the approval has the whole"),
  };
}

function iso(time: string | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** The largest parameters that an event carries, in bytes of JSON; the whole is on the row. */
const PARAMETERS_BYTES = 16 * 1024;

/** The first event of a call's pipeline trace, in the commit of its answer; `endEvents` has the last one. */
export function executionStarted(call: CallView): AgentEventBody {
  const { id: callId, name: tool, requestedInput } = call;
  const parameters = byteLength(JSON.stringify(requestedInput)) > PARAMETERS_BYTES ? null : requestedInput;
  return { kind: "EXECUTION_STARTED", callId, tool, inputPreview: inputPreview(call), parameters };
}

/**
 * The stages of a call since its row had `before`, for the commit that stores them. If a person is asked, the last
 * stage has only begun: the decision ends it.
 */
export function stageEvents(callId: string, before: Stages, now: Stages, isAsked = false): AgentEventBody[] {
  const isSame = (one: Passage, other: Passage): boolean =>
    one.stage === other.stage && one.startedAt === other.startedAt && one.durationMs === other.durationMs;
  const passages = now.filter((passage) => !before.some((known) => isSame(known, passage)));
  const events = passages.flatMap(({ stage, durationMs }): AgentEventBody[] => [
    { kind: "STAGE_STARTED", callId, stage },
    { kind: "STAGE_COMPLETED", callId, stage, durationMs },
  ]);
  return isAsked ? events.slice(0, -1) : events;
}

export function confirmedStages(stages: Stages, at: Date): Stages {
  const last = stages.at(-1);
  if (last?.stage !== "confirmation") return stages;
  return [...stages.slice(0, -1), { ...last, durationMs: Math.max(last.durationMs, at.getTime() - last.startedAt) }];
}

export function confirmationEnded({ id: callId, stages }: Pick<CallView, "id" | "stages">): AgentEventBody[] {
  const last = stages.at(-1);
  return last?.stage === "confirmation"
    ? [{ kind: "STAGE_COMPLETED", callId, stage: last.stage, durationMs: last.durationMs }]
    : [];
}

export function stageTrace({ id: callId }: CallView, send: (event: AgentEventBody) => void): StageTrace {
  return {
    stageStarted: (stage) => send({ kind: "STAGE_STARTED", callId, stage }),
    stageCompleted: (stage, durationMs) => send({ kind: "STAGE_COMPLETED", callId, stage, durationMs }),
  };
}

/** A warning to operators about a tool call. Alarms match `phase: TOOL` and the word in `detail`. */
export function toolWarning({ detail, message }: { readonly detail: string; readonly message: string }): AgentEventBody {
  return { kind: "ERROR", severity: "WARN", phase: "TOOL", message, detail };
}
