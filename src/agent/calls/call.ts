import type { CancelRequest, ToolCallPatch, ToolCallTransition } from "../../db/commit/change.ts";
import type { ApprovalDecision, ApprovalKind, ApprovalState, ToolCallState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { ActorRef, ToolCallError } from "../../events/snapshots.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { OwnPermission, VersionOfAgent } from "../policy/own-permission.ts";
import { hookVerdict } from "../policy/judge.ts";
import type { Explanation } from "../policy/permission.ts";
import { writtenFiles } from "../policy/rule-values.ts";
import type { ResultImage } from "../tools/images.ts";
import { HOSTS_OF_CALL, type HostQuestion } from "./hosts/host-question.ts";
import type { RunningShellView } from "./shells/rows.ts";
import type { Stages } from "./stage-clock.ts";

export type ApprovalView = {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly state: ApprovalState;
  readonly inputHash: string;
  /** True if it was allowed with another input than requested. */
  readonly isEdited: boolean;
  readonly decision: ApprovalDecision | null;
  readonly decidedBy: ActorRef | null;
  readonly decidedAt: string | null;
  readonly note: string | null;
};

/** A tool call as its row stands, with its newest approval. Times are ISO 8601. */
export type CallView = {
  readonly id: string;
  readonly ordinal: number;
  readonly providerId: string;
  readonly name: string;
  readonly state: ToolCallState;
  readonly attempt: number;
  readonly requestedInput: Json;
  readonly effectiveInput: Json;
  /** The normalised values of the input at the last judgement or decision. */
  readonly ruleValues: Json;
  /** The hash of the call that runs or ran; null before the call was judged. */
  readonly inputHash: string | null;
  readonly output: string | null;
  /** The images of its result, which the model reads after the text; null for none. */
  readonly images: readonly ResultImage[] | null;
  readonly isError: boolean;
  readonly error: ToolCallError | null;
  readonly stages: Stages;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly durationMs: number | null;
  readonly approval: ApprovalView | null;
  /** The hosts that its programs could not reach and that a person was asked about, by name and port. */
  readonly hosts: readonly HostQuestion[];
  /** The call whose earlier result it was given; null if its own tool ran, or none. */
  readonly cachedFrom: string | null;
  readonly cancelRequested: CancelRequest | null;
};

export type CallingAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
  readonly templateVersion: VersionOfAgent;
  readonly toolTimeoutMs: number | null;
  readonly model: string;
  /** The number of agents above it, and the first of them; 0 and null for one that a person made. */
  readonly depth: number;
  readonly rootId: string | null;
  readonly turn: number;
  /** The running background shells. */
  readonly shells: readonly Pick<RunningShellView, "id">[];
  readonly calls: readonly Pick<CallView, "ordinal" | "state">[];
  readonly lastStep: { readonly stopReason: string | null } | null;
  readonly manual: { readonly fixesTools: boolean } | null;
};

export const CALL_VIEW = `json_build_object('id', t.id, 'ordinal', t.ordinal, 'providerId', t.provider_id, 'name', t.name, 'state', t.state, 'attempt', t.attempt,
  'requestedInput', t.requested_input, 'effectiveInput', t.effective_input, 'ruleValues', t.rule_values, 'inputHash', t.input_hash, 'output', t.output, 'images', t.images, 'isError', t.is_error, 'error', t.error, 'stages', t.stages,
  'startedAt', t.started_at, 'completedAt', t.completed_at, 'durationMs', t.duration_ms, 'cachedFrom', t.cached_from, 'cancelRequested', t.cancel_requested, 'hosts', ${HOSTS_OF_CALL},
  'approval', (SELECT json_build_object('id', p.id, 'kind', p.kind, 'state', p.state, 'inputHash', coalesce(d.input_hash, p.input_hash), 'isEdited', d.input_hash IS NOT NULL, 'decision', CASE WHEN p.state <> 'PENDING' THEN d.decision END,
      'decidedBy', CASE WHEN d.actor_id IS NOT NULL AND p.state <> 'PENDING' THEN json_build_object('id', d.actor_id, 'kind', d.actor_kind) END, 'decidedAt', CASE WHEN p.state <> 'PENDING' THEN d.decided_at END, 'note', CASE WHEN p.state <> 'PENDING' THEN d.note END)
    FROM approval p LEFT JOIN decision d ON d.approval_id = p.id WHERE p.tool_call_id = t.id ORDER BY p.state = 'PENDING' DESC, (p.kind IN ('OUTCOME_UNKNOWN', 'TOOL_INPUT')) DESC, p.requested_at DESC, d.decided_at DESC LIMIT 1))`;

const READ_CALL: Statement<{ view: CallView }, [callId: string]> = {
  name: "read_call",
  text: `SELECT ${CALL_VIEW} AS view FROM tool_call t WHERE t.id = $1`,
};

export async function readCall(sql: Sql, callId: string): Promise<CallView> {
  const [row] = await sql.query(READ_CALL, [callId]);
  if (row === undefined) throw new Error(`tool call ${callId} does not exist`);
  return row.view;
}

export type StepOfAgent = { readonly agentId: string; readonly step: number };

const READ_OF_STEPS: Statement<
  { agentId: string; step: number; providerId: string; id: string },
  [agentIds: readonly string[], steps: readonly number[]]
> = {
  name: "read_calls_of_steps",
  text: `SELECT t.agent_id AS "agentId", t.step, t.provider_id AS "providerId", t.id
    FROM unnest($1::text[], $2::int[]) AS s(agent_id, step) JOIN tool_call t ON t.agent_id = s.agent_id AND t.step = s.step ORDER BY t.ordinal DESC`,
};

/** The ids of the calls of each step, by the provider's ids. Of two with the same id, the first. */
export async function readCallsOfSteps(sql: Sql, steps: readonly StepOfAgent[]): Promise<readonly ReadonlyMap<string, string>[]> {
  const rows = await sql.query(READ_OF_STEPS, [steps.map(({ agentId }) => agentId), steps.map(({ step }) => step)]);
  const found = Map.groupBy(rows, ({ agentId, step }) => `${agentId}:${step}`);
  return steps.map(
    ({ agentId, step }) => new Map(found.get(`${agentId}:${step}`)?.map(({ providerId, id }) => [providerId, id])),
  );
}

export const TRANSITIONS: Readonly<Record<ToolCallState, readonly ToolCallState[]>> = {
  PENDING: ["APPROVAL_REQUIRED", "EXECUTING", "DENIED", "FAILED", "COMPLETED", "SEALED"],
  APPROVAL_REQUIRED: ["APPROVAL_REQUIRED", "APPROVED", "DENIED", "SEALED", "COMPLETED", "EXECUTING", "FAILED"],
  APPROVED: ["EXECUTING", "APPROVAL_REQUIRED", "DENIED", "FAILED", "SEALED"],
  EXECUTING: ["COMPLETED", "FAILED", "SEALED", "APPROVAL_REQUIRED", "EXECUTING", "WAITING"],
  WAITING: ["WAITING", "COMPLETED", "FAILED", "SEALED"],
  COMPLETED: [],
  FAILED: [],
  DENIED: [],
  SEALED: [],
};

const FINAL_STATES: ReadonlySet<ToolCallState> = new Set(["COMPLETED", "FAILED", "DENIED", "SEALED"]);

export function isFinal(state: ToolCallState): boolean {
  return FINAL_STATES.has(state);
}

/** True if a call that is judged has run before. */
export function hasRun({ state, startedAt }: Pick<CallView, "state" | "startedAt">): boolean {
  return state === "EXECUTING" || state === "APPROVAL_REQUIRED" || startedAt !== null;
}

export function isToRetry({ state, approval }: CallView): boolean {
  return state === "APPROVAL_REQUIRED" && approval?.state === "RESOLVED" && approval.decision === "RETRY";
}

/**
 * True if its tool asked a person, and the question is closed: the call continues where it was. A person may have allowed
 * that since (APPROVED).
 */
export function isInputAnswered({ state, approval }: Pick<CallView, "state" | "approval">): boolean {
  const isOpen = state === "APPROVAL_REQUIRED" || state === "APPROVED";
  return isOpen && approval?.kind === "TOOL_INPUT" && approval.state !== "PENDING";
}

export type CallFacts = Partial<
  Pick<
    CallView,
    | "output"
    | "images"
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
    | "cachedFrom"
  >
>;

export function explainedBy(explanation: Explanation): Pick<ToolCallPatch, "explanation" | "verdict" | "hookVerdict"> {
  return { explanation, verdict: explanation.verdict, hookVerdict: hookVerdict(explanation) };
}

export type CallStep = { readonly transition: ToolCallTransition; readonly call: CallView };

export type Trail = { readonly note?: string; readonly by?: CancelRequest["by"] };

/** Moves a call to its next state. Throws on a step that TRANSITIONS does not allow: an internal error. */
export function callStep(
  call: CallView,
  to: ToolCallState,
  at: Date,
  facts: CallFacts,
  columns: Partial<ToolCallPatch> = {},
  trail: Trail = {},
): CallStep {
  if (!TRANSITIONS[call.state].includes(to)) throw new Error(`a call cannot go from ${call.state} to ${to}`);
  const timestamp = at.toISOString();
  return {
    transition: {
      id: call.id,
      from: call.state,
      set: { ...facts, ...columns, state: to, updatedAt: at },
      audit: { state: to, timestamp, ...trail },
    },
    call: { ...call, ...facts, state: to },
  };
}

const ADVICE: Readonly<Record<string, { readonly error: string; readonly recommendations: readonly string[] }>> = {
  PENDING: {
    error: "The call was not run.",
    recommendations: ["It had no effect.", "Call the tool again only if it is still wanted."],
  },
  APPROVAL_REQUIRED: {
    error: "Nobody had decided on the call, and it was not run.",
    recommendations: ["It had no effect.", "Call the tool again only if it is still wanted: it will be asked for again."],
  },
  APPROVED: {
    error: "The call was allowed, but it was not run.",
    recommendations: ["It had no effect.", "Call the tool again only if it is still wanted, with an input that is still right."],
  },
  WAITING: {
    error: "The call waited for its result from elsewhere; whether it has effects is unknown.",
    recommendations: ["Check for effects before anything else.", "Call the tool again only if it is safe to repeat."],
  },
  EXECUTING: {
    error: "The call was running when it broke off; whether it had effects is unknown.",
    recommendations: ["Check for effects before anything else.", "Call the tool again only if it is safe to repeat."],
  },
};

const BEGUN_READ_ONLY: Readonly<Record<string, string>> = {
  WAITING: "The call waited for its result from elsewhere. It only reads: nothing has changed.",
  EXECUTING: "The call was running when it broke off. It only reads: nothing has changed.",
};

const BEGUN_CHILD: (typeof ADVICE)[string] = {
  error: "The call waited for another agent, and its turn was ended. The work of that agent stays; its effects are unknown.",
  recommendations: ["Check for effects before anything else.", "Continue from the work that is there."],
};

function adviceOf(status: string, readOnly: boolean): (typeof ADVICE)[string] | undefined {
  const error = readOnly ? BEGUN_READ_ONLY[status] : undefined;
  return error === undefined ? ADVICE[status] : { error, recommendations: ["Call the tool again if it is still wanted."] };
}

function sealedResult(
  call: CallView,
  { note, readOnly = false, child = null }: Sealed,
): { readonly facts: CallFacts; readonly details: JsonObject } {
  const hasBegun = call.startedAt !== null && (call.state === "APPROVAL_REQUIRED" || call.state === "APPROVED");
  const status = hasBegun ? "EXECUTING" : call.state;
  const advice = child === null ? adviceOf(status, readOnly) : BEGUN_CHILD;
  if (advice === undefined) throw new Error(`a call in state ${call.state} has its result`);
  // A call that had not begun has written no file.
  const hasStarted = status === "EXECUTING" || status === "WAITING";
  const files = hasStarted ? writtenFiles(call.ruleValues) : [];
  const payload = {
    ok: false,
    error: advice.error,
    ...(child !== null && { status: "interrupted", agentId: child.agentId, reason: note, ...child.soFar }),
    data: {
      status,
      startedAt: call.startedAt,
      approval: call.approval?.state ?? null,
      toolId: call.id,
      note,
      ...(files.length === 0 ? {} : { files }),
    },
    recommendations: advice.recommendations,
    _autoSealed: true,
  };
  const error = {
    type: "aborted",
    stage: hasStarted ? "execution" : "confirmation",
    message: `${advice.error} (${note})`,
  } as const;
  return { facts: { output: JSON.stringify(payload), isError: true, error }, details: payload };
}

/** The child that a call waits for, and its work until now; null before it is made. */
export type SealedChild = {
  readonly agentId: string;
  readonly soFar: {
    readonly template: string;
    readonly text: string;
    readonly value: Json;
    readonly permissionIds: readonly string[];
    readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number | null };
  } | null;
};

/** `readOnly`: of its tool, false if omitted. `child`: null or omitted for none. */
export type Sealed = { readonly note: string; readonly readOnly?: boolean; readonly child?: SealedChild | null };

export function sealCall(call: CallView, { readOnly = false, child = null, ...trail }: Trail & Sealed, at: Date): CallStep {
  const { facts, details } = sealedResult(call, { note: trail.note, readOnly, child });
  return callStep(call, "SEALED", at, { ...facts, completedAt: at.toISOString() }, { details }, trail);
}
