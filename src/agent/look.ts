import type {
  AgentState,
  ApprovalDecision,
  ApprovalKind,
  ApprovalState,
  Breakpoint,
  MessageKind,
  StepState,
  ToolCallState,
} from "../db/generated/enums.ts";
import type { Sql, Statement } from "../db/sql.ts";
import type { ActorRef, ToolCallError } from "../events/event.ts";
import type { OwnPermission } from "./gate/agent-policy.ts";
import type { Json } from "../lib/json.ts";

/** One question that was asked about a call, as its row stands. */
export type ApprovalLook = {
  readonly id: string;
  readonly kind: ApprovalKind;
  readonly state: ApprovalState;
  readonly inputHash: string;
  readonly decision: ApprovalDecision | null;
  readonly decidedBy: ActorRef | null;
  readonly decidedAt: string | null;
  readonly note: string | null;
};

/** A tool call as its row stands, with its newest approval. Times are ISO 8601. */
export type CallLook = {
  readonly id: string;
  readonly ordinal: number;
  readonly providerId: string;
  readonly name: string;
  readonly state: ToolCallState;
  readonly attempt: number;
  readonly requestedInput: Json;
  readonly effectiveInput: Json;
  /** The normalised values of the input, when it was last judged or decided. */
  readonly ruleValues: Json;
  /** The hash of what runs or ran; null before the call was judged. */
  readonly inputHash: string | null;
  readonly output: string | null;
  readonly isError: boolean;
  readonly error: ToolCallError | null;
  readonly stages: Readonly<Record<string, number>>;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
  readonly durationMs: number | null;
  readonly approval: ApprovalLook | null;
};

/** Whether a call that is to be judged has run before, and nobody knows what came of it. */
export function hasRun(state: ToolCallState): boolean {
  return state === "EXECUTING" || state === "APPROVAL_REQUIRED";
}

/** Whether a person said that a call whose outcome is unknown shall run again. */
export function isToRetry({ state, approval }: CallLook): boolean {
  return state === "APPROVAL_REQUIRED" && approval?.state === "RESOLVED" && approval.decision === "RETRY";
}

/** Everything that decides what an agent does next, as its rows stand at one moment. */
export type Look = {
  readonly id: string;
  readonly tenant: string;
  readonly templateId: string;
  readonly model: string;
  readonly workspace: string;
  readonly toolTimeoutMs: number | null;
  readonly permission: OwnPermission | null;
  readonly createdBy: string;
  readonly state: AgentState;
  readonly breakpoint: Breakpoint;
  readonly turn: number;
  readonly stepCount: number;
  readonly transcriptLength: number;
  readonly signal: number;
  readonly interruptAt: string | null;
  readonly interruptNote: string | null;
  readonly leaseEpoch: number;
  readonly leaseOwner: string | null;
  /** Messages that wait to join the transcript, in order of arrival. */
  readonly waiting: readonly string[];
  readonly lastStep: {
    readonly step: number;
    readonly turn: number;
    readonly state: StepState;
    readonly stopReason: string | null;
    /** The name of the model that was called. */
    readonly model: string;
  } | null;
  readonly stepsInTurn: number;
  /** The messages from people that this turn answers. */
  readonly turnMessageIds: readonly string[];
  readonly lastMessageKind: MessageKind | null;
  /** The calls of the last step, in source order. */
  readonly calls: readonly CallLook[];
};

/** The columns of a tool call `t` as a CallLook. */
const CALL_LOOK = `json_build_object('id', t.id, 'ordinal', t.ordinal, 'providerId', t.provider_id, 'name', t.name, 'state', t.state, 'attempt', t.attempt,
  'requestedInput', t.requested_input, 'effectiveInput', t.effective_input, 'ruleValues', t.rule_values, 'inputHash', t.input_hash, 'output', t.output, 'isError', t.is_error, 'error', t.error, 'stages', t.stages,
  'startedAt', t.started_at, 'completedAt', t.completed_at, 'durationMs', t.duration_ms,
  'approval', (SELECT json_build_object('id', p.id, 'kind', p.kind, 'state', p.state, 'inputHash', coalesce(d.input_hash, p.input_hash), 'decision', CASE WHEN p.state <> 'PENDING' THEN d.decision END,
      'decidedBy', CASE WHEN d.actor_id IS NOT NULL AND p.state <> 'PENDING' THEN json_build_object('id', d.actor_id, 'kind', d.actor_kind) END, 'decidedAt', CASE WHEN p.state <> 'PENDING' THEN d.decided_at END, 'note', CASE WHEN p.state <> 'PENDING' THEN d.note END)
    FROM approval p LEFT JOIN decision d ON d.approval_id = p.id WHERE p.tool_call_id = t.id ORDER BY p.state = 'PENDING' DESC, p.kind = 'OUTCOME_UNKNOWN' DESC, p.requested_at DESC, d.decided_at DESC LIMIT 1))`;

const LOOK: Statement = {
  name: "look",
  text: `SELECT json_build_object('id', a.id, 'tenant', a.tenant, 'templateId', a.template_id, 'model', a.model, 'workspace', a.workspace, 'toolTimeoutMs', a.tool_timeout_ms, 'permission', a.permission,
    'createdBy', a.created_by, 'state', a.state, 'breakpoint', a.breakpoint, 'turn', a.turn, 'stepCount', a.step_count, 'transcriptLength', a.transcript_length,
    'signal', a.signal, 'interruptAt', a.interrupt_at, 'interruptNote', a.interrupt_note, 'leaseEpoch', a.lease_epoch, 'leaseOwner', a.lease_owner,
    'waiting', (SELECT coalesce(json_agg(m.id ORDER BY m.arrival), '[]') FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL),
    'lastStep', (SELECT json_build_object('step', s.step, 'turn', s.turn, 'state', s.state, 'stopReason', s.stop_reason, 'model', s.model) FROM step s WHERE s.agent_id = a.id AND s.step = a.step_count),
    'stepsInTurn', a.step_count - coalesce((SELECT s.step FROM step s WHERE s.agent_id = a.id AND s.turn < a.turn ORDER BY s.step DESC LIMIT 1), 0),
    'turnMessageIds', (SELECT coalesce(json_agg(m.id ORDER BY m.ordinal), '[]') FROM message m WHERE m.agent_id = a.id AND m.turn = a.turn AND m.kind = 'USER'),
    'lastMessageKind', (SELECT m.kind FROM message m WHERE m.agent_id = a.id AND m.ordinal = a.transcript_length - 1),
    'calls', (SELECT coalesce(json_agg(${CALL_LOOK} ORDER BY t.ordinal), '[]') FROM tool_call t WHERE t.agent_id = a.id AND t.step = a.step_count)
  ) AS look FROM agent a WHERE a.id = $1`,
};

/** Reads what an agent's rows say now. */
export async function look(sql: Sql, agentId: string): Promise<Look> {
  const [row] = await sql.query<{ look: Look }>(LOOK, [agentId]);
  if (row === undefined) throw new Error(`agent ${agentId} does not exist`);
  return row.look;
}

const LOOK_AT_CALL: Statement = { name: "look_at_call", text: `SELECT ${CALL_LOOK} AS look FROM tool_call t WHERE t.id = $1` };

/** Reads what a call's row says now. */
export async function lookAtCall(sql: Sql, callId: string): Promise<CallLook> {
  const [row] = await sql.query<{ look: CallLook }>(LOOK_AT_CALL, [callId]);
  if (row === undefined) throw new Error(`tool call ${callId} does not exist`);
  return row.look;
}
