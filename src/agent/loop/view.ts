import type { TemplateVersion } from "../../db/commit/change.ts";
import type { AgentState, Breakpoint, MessageKind, StepState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { OwnPermission } from "../policy/own-permission.ts";
import { COMPACTION_VIEW, type Compaction } from "../conversation/compaction.ts";
import { MEASURED_CONTEXT, type MeasuredContext } from "../conversation/context-size.ts";
import type { HookedAgent } from "../conversation/model-hooks.ts";
import { RUNNING_SHELLS, type RunningShellView } from "../calls/shells/rows.ts";
import { CALL_VIEW, type CallView } from "../calls/call.ts";
import { OPEN_WAITS, type WaitView } from "../waits/wait.ts";
import { OPEN_HOSTS, type OpenHost } from "../calls/hosts/host-question.ts";
import type { ManualView } from "../tools/manual/manual-changes.ts";
import { UNTOLD_NOTICES, type NoticeView } from "../calls/notices.ts";
import { STEP_SCHEDULES, type StepSchedule } from "../calls/schedules/schedule.ts";

export type AgentView = {
  readonly id: string;
  readonly tenant: string;
  readonly templateId: string;
  /** The version of the template at the last turn; null before the first. */
  readonly templateVersion: TemplateVersion | null;
  readonly model: string;
  readonly workspace: string;
  readonly toolTimeoutMs: number | null;
  readonly permission: OwnPermission | null;
  readonly hooks: readonly string[];
  readonly createdBy: string;
  /** The agent that started it, how many are above it, and the first of them; null and 0 if a person made it. */
  readonly parentId: string | null;
  readonly depth: number;
  readonly rootId: string | null;
  readonly state: AgentState;
  readonly breakpoint: Breakpoint;
  readonly turn: number;
  readonly stepCount: number;
  readonly transcriptLength: number;
  readonly signal: number;
  readonly interruptAt: string | null;
  readonly interruptNote: string | null;
  /** The turn to be retried; null for none. */
  readonly retryTurn: number | null;
  /** True if it is archived: a turn that only waits ends. */
  readonly isArchived: boolean;
  readonly leaseEpoch: number;
  readonly leaseOwner: string | null;
  readonly waiting: readonly string[];
  /** Those of `waiting` that are reminders. */
  readonly reminders: readonly { readonly id: string; readonly startsTurn: boolean }[];
  readonly lastStep: {
    readonly step: number;
    readonly turn: number;
    readonly state: StepState;
    readonly stopReason: string | null;
    readonly model: string;
    /** True if it holds its expected cost on budgets, until it ends. */
    readonly isHeld: boolean;
  } | null;
  readonly stepsInTurn: number;
  /** The newest message of the turn that asks for an answer in a shape, null for none, and the corrections so far. */
  readonly shape: { readonly by: string | null; readonly corrections: number };
  /** Those of `waiting` that ask for one. */
  readonly shaped: readonly string[];
  readonly turnMessageIds: readonly string[];
  readonly lastMessageKind: MessageKind | null;
  /** The running background shells, in order of their start. */
  readonly shells: readonly RunningShellView[];
  /** True if it has read or written files; their rows are read separately. */
  readonly knowsFiles: boolean;
  /** The calls of the last step, in source order. */
  readonly calls: readonly CallView[];
  /** The open waits that hold back results of these calls. */
  readonly waits: readonly WaitView[];
  /** The open questions about hosts, by name and port: also those of earlier turns and background programs. */
  readonly openHosts: readonly OpenHost[];
  /** The notices that the next step tells the model, in order of their ids. */
  readonly notices: readonly NoticeView[];
  /** True if a server watches its files while it is idle. */
  readonly isWatched: boolean;
  /** The schedules that its steps trigger. */
  readonly schedules: readonly StepSchedule[];
  /** Null if it was given no manual, and told of no section. */
  readonly manual: ManualView | null;
  /** Null if it has no compactions. */
  readonly compaction: Compaction | null;
  /** The size of its context after the newest answer; null before the first. */
  readonly measured: MeasuredContext | null;
};

export function hookedAgent({ id: agentId, tenant, createdBy, templateId }: AgentView): HookedAgent {
  return { tenant, agentId, createdBy, templateId };
}

const READ: Statement<{ view: AgentView }, [agentId: string]> = {
  name: "read_agent_view",
  text: `SELECT json_build_object('id', a.id, 'tenant', a.tenant, 'templateId', a.template_id, 'templateVersion', a.template_version, 'model', a.model, 'workspace', a.workspace, 'toolTimeoutMs', a.tool_timeout_ms, 'permission', a.permission, 'hooks', coalesce(a.hooks, '[]'::json),
    'createdBy', a.created_by, 'parentId', a.parent_id, 'depth', a.depth, 'rootId', a.root_id, 'state', a.state, 'breakpoint', a.breakpoint, 'turn', a.turn, 'stepCount', a.step_count, 'transcriptLength', a.transcript_length,
    'signal', a.signal, 'interruptAt', a.interrupt_at, 'interruptNote', a.interrupt_note, 'retryTurn', a.retry_turn, 'isArchived', a.archived_at IS NOT NULL, 'leaseEpoch', a.lease_epoch, 'leaseOwner', a.lease_owner,
    'waiting', w.ids, 'reminders', w.reminders, 'shaped', w.shaped, 'turnMessageIds', t.ids, 'shape', json_build_object('by', t.shaped_by, 'corrections', t.corrections),
    'lastStep', (SELECT json_build_object('step', s.step, 'turn', s.turn, 'state', s.state, 'stopReason', s.stop_reason, 'model', s.model, 'isHeld', EXISTS (SELECT FROM budget_hold h WHERE h.agent_id = s.agent_id AND h.step = s.step)) FROM step s WHERE s.agent_id = a.id AND s.step = a.step_count),
    'stepsInTurn', a.step_count - coalesce((SELECT s.step FROM step s WHERE s.agent_id = a.id AND s.turn < a.turn ORDER BY s.step DESC LIMIT 1), 0),
    'lastMessageKind', (SELECT m.kind FROM message m WHERE m.agent_id = a.id AND m.ordinal = a.transcript_length - 1),
    'shells', ${RUNNING_SHELLS},
    'calls', (SELECT coalesce(json_agg(${CALL_VIEW} ORDER BY t.ordinal), '[]') FROM tool_call t WHERE t.agent_id = a.id AND t.step = a.step_count),
    'knowsFiles', EXISTS (SELECT FROM known_file k WHERE k.agent_id = a.id),
    'waits', ${OPEN_WAITS}, 'openHosts', ${OPEN_HOSTS}, 'notices', ${UNTOLD_NOTICES}, 'schedules', ${STEP_SCHEDULES}, 'isWatched', EXISTS (SELECT FROM wait w WHERE w.agent_id = a.id AND w.settled_at IS NULL AND w.kind = 'WATCH'),
    'manual', (SELECT json_build_object('digest', g.digest, 'sections', coalesce(m.sections, '{}'), 'fixesTools', m.tools IS NOT NULL, 'told', g.told)
      FROM agent_manual g LEFT JOIN manual m ON m.tenant = g.tenant AND m.digest = g.digest WHERE g.agent_id = a.id),
    'compaction', ${COMPACTION_VIEW}, 'measured', ${MEASURED_CONTEXT}
  ) AS view FROM agent a
    CROSS JOIN LATERAL (SELECT coalesce(json_agg(m.id ORDER BY m.arrival), '[]') AS ids,
        coalesce(json_agg(json_build_object('id', m.id, 'startsTurn', (m.reminder ->> 'startsTurn')::boolean) ORDER BY m.arrival) FILTER (WHERE m.kind = 'REMINDER'), '[]') AS reminders,
        coalesce(json_agg(m.id ORDER BY m.arrival) FILTER (WHERE m.shape IS NOT NULL), '[]') AS shaped
      FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL) w
    CROSS JOIN LATERAL (SELECT coalesce(json_agg(m.id ORDER BY m.ordinal) FILTER (WHERE m.created_by IS NOT NULL), '[]') AS ids,
        (array_agg(m.id ORDER BY m.ordinal DESC) FILTER (WHERE m.shape ->> 'kind' = 'ASKED'))[1] AS shaped_by,
        count(*) FILTER (WHERE m.shape ->> 'kind' = 'CORRECTION') AS corrections
      FROM message m WHERE m.agent_id = a.id AND m.turn = a.turn AND m.kind = 'USER') t
    WHERE a.id = $1`,
};

export async function readView(sql: Sql, agentId: string): Promise<AgentView> {
  const [row] = await sql.query(READ, [agentId]);
  if (row === undefined) throw new Error(`agent ${agentId} does not exist`);
  return row.view;
}
