import type { ToolCallPatch, ToolCallTransition } from "../db/change.ts";
import type { ApprovalState, ToolCallState } from "../db/generated/enums.ts";
import type { EventBody, ToolCallSnapshot } from "../events/event.ts";
import { visibleLine } from "../lib/visible.ts";
import { marked } from "../lib/text.ts";
import { TRANSITIONS } from "./gate/transitions.ts";
import type { ApprovalLook, CallLook } from "./look.ts";

/** How much of a result an event carries, in bytes; the whole is on the row. */
const SNAPSHOT_OUTPUT = 4 * 1024;
const PREVIEW = 200;

/** What a transition sets besides the state, of the columns that a look shows. */
export type CallFacts = Partial<
  Pick<
    CallLook,
    | "output"
    | "isError"
    | "error"
    | "stages"
    | "startedAt"
    | "completedAt"
    | "durationMs"
    | "attempt"
    | "effectiveInput"
    | "ruleValues"
    | "inputHash"
  >
>;

/** A transition to commit, and the call as it stands after it. */
export type CallStep = { readonly transition: ToolCallTransition; readonly call: CallLook };

/** The step of a call to its next state. A step that the state table does not have is a mistake of ours, and throws. */
export function callStep(
  call: CallLook,
  to: ToolCallState,
  at: Date,
  facts: CallFacts,
  columns: Partial<ToolCallPatch> = {},
  note?: string,
): CallStep {
  if (!TRANSITIONS[call.state].includes(to)) throw new Error(`a call cannot go from ${call.state} to ${to}`);
  const timestamp = at.toISOString();
  return {
    transition: {
      id: call.id,
      from: call.state,
      set: { ...facts, ...columns, state: to, updatedAt: at },
      audit: { state: to, timestamp, ...(note === undefined ? {} : { note }) },
    },
    call: { ...call, ...facts, state: to },
  };
}

/** The events of a call's first EXECUTING. */
export function startEvents(call: CallLook): EventBody[] {
  return [{ kind: "TOOL_START", call: snapshot(call) }];
}

/** Whether the calls of a template are traced; one that is not configured any more traces nothing. */
type Tracing = { readonly trace: boolean } | undefined;

/**
 * The events of a call's final state; TOOL_START is among them where the call never executed (invariant 6). For a
 * template that traces, the end of its pipeline comes first.
 */
export function endEvents(call: CallLook, template: Tracing): EventBody[] {
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

/** The event of an approval that was closed without a person's decision, or whose decision holds no more. */
export function closedEvent(approvalId: string, callId: string, approvalState: ApprovalState, note: string): EventBody {
  return { kind: "PERMISSION_CLOSED", approvalId, callId, approvalState, note };
}

function executionEnded(call: CallLook): EventBody {
  const common = { callId: call.id, toolName: call.name, durationMs: call.durationMs ?? 0 };
  const failure = call.error?.type ?? call.state.toLowerCase();
  if (call.state === "COMPLETED") return { kind: "EXECUTION_COMPLETED", ...common };
  return call.state === "SEALED" || call.error?.type === "aborted"
    ? { kind: "EXECUTION_ABORTED", ...common, failure }
    : { kind: "EXECUTION_FAILED", ...common, failure };
}

/** The call as events carry it. */
export function snapshot(call: CallLook): ToolCallSnapshot {
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
  };
}

/** JSON text of the input that would run, or of what was asked for, cut at 200 characters. */
export function inputPreview(call: Pick<CallLook, "effectiveInput" | "requestedInput">): string {
  const input = call.effectiveInput ?? call.requestedInput;
  // Only what is shown is looked at: inputs may be large, and every event of a call has a preview.
  const json = JSON.stringify(input);
  const text = visibleLine(json.slice(0, PREVIEW + 1));
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW).toWellFormed()}…` : text;
}

function approvalOf({ id, state, decision, decidedBy, decidedAt, note }: ApprovalLook): ToolCallSnapshot["approval"] {
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
