import type { DoneReason } from "../../db/commit/change.ts";
import type { AgentState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { Json } from "../../lib/json.ts";
import { LATER_FIELDS, type LaterCall } from "../calls/later.ts";

type Parent = {
  readonly createdByKind: "USER" | "SERVICE" | "SYSTEM";
  readonly model: string;
  readonly workspace: string;
  readonly toolTimeoutMs: number | null;
  readonly depth: number;
  readonly rootId: string | null;
  readonly ancestors: readonly string[];
  readonly isArchived: boolean;
  /** True if it, or an agent above it, is archived. */
  readonly isTreeArchived: boolean;
  /** True while a person's interrupt of its turn is under way. */
  readonly isInterrupted: boolean;
};

export type Child = {
  readonly state: AgentState;
  readonly turn: number;
  /** Null before the end of its first turn. */
  readonly doneReason: DoneReason | null;
  /** True if no message waits that would begin a turn. */
  readonly isIdle: boolean;
  readonly isInterrupted: boolean;
  readonly templateId: string;
  /** The text of its answers, the last one last. */
  readonly texts: readonly string[];
  /** The value of its answer in a shape; null for none. */
  readonly value: Json;
  /** The text of a model call that broke off at its end; null for none. */
  readonly broken: string | null;
  /** The message of the error that ended its first turn; null for none. */
  readonly error: string | null;
  /** The newest note of the interrupt that ended its first turn; null for none. */
  readonly interruptNote: string | null;
  readonly permissionIds: readonly string[];
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly costUsd: number | null };
};

/** A wait for a child, with its call, its parent, and the child; null before that is made. */
export type Awaited = LaterCall & { readonly parent: Parent; readonly child: Child | null };

/** The newest events of a child that are searched for a text that broke off. */
const NEWEST = 50;

/** The longest message of an error that its parent reads, in characters. */
const ERROR_CHARACTERS = 4_000;

/** The agent `c` as a Child. */
const CHILD = `json_build_object('state', c.state, 'turn', c.turn, 'doneReason', c.done_reason, 'isIdle', NOT EXISTS (SELECT FROM message m WHERE m.agent_id = c.id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND (m.reminder IS NULL OR (m.reminder ->> 'startsTurn')::boolean)), 'isInterrupted', c.interrupt_at IS NOT NULL, 'templateId', c.template_id,
      'texts', (SELECT coalesce(json_agg(x.text ORDER BY x.ordinal), '[]') FROM (SELECT m.ordinal, string_agg(b ->> 'text', '') AS text FROM message m, json_array_elements(m.content) b
        WHERE m.agent_id = c.id AND m.kind = 'ASSISTANT' AND m.turn = 1 AND b ->> 'type' = 'text' GROUP BY m.ordinal) x),
      'value', (SELECT m.shape -> 'value' FROM message m WHERE m.agent_id = c.id AND m.kind = 'ASSISTANT' AND m.turn = 1 AND m.shape IS NOT NULL ORDER BY m.ordinal DESC LIMIT 1),
      'broken', (SELECT e.payload ->> 'text' FROM (SELECT kind, payload, position FROM event WHERE agent_id = c.id ORDER BY position DESC LIMIT ${NEWEST}) e
        WHERE e.kind = 'TEXT_CHUNK_END' AND e.payload ->> 'aborted' = 'true' ORDER BY e.position DESC LIMIT 1),
      'error', (SELECT left(e.payload ->> 'message', ${ERROR_CHARACTERS}) FROM event e WHERE e.agent_id = c.id AND e.kind = 'ERROR' AND e.payload ->> 'severity' IN ('ERROR', 'CRITICAL') AND c.done_reason = 'ERROR'
        AND e.position < (SELECT d.position FROM event d WHERE d.agent_id = c.id AND d.kind = 'DONE' ORDER BY d.position LIMIT 1) ORDER BY e.position DESC LIMIT 1),
      'interruptNote', (SELECT e.payload ->> 'note' FROM event e WHERE e.agent_id = c.id AND e.kind = 'INTERRUPT_REQUESTED' AND e.payload ->> 'note' IS NOT NULL AND c.done_reason = 'INTERRUPTED'
        AND e.position < (SELECT d.position FROM event d WHERE d.agent_id = c.id AND d.kind = 'DONE' ORDER BY d.position LIMIT 1) ORDER BY e.position DESC LIMIT 1),
      'permissionIds', (SELECT coalesce(json_agg(p.id ORDER BY p.requested_at), '[]') FROM approval p WHERE p.agent_id = c.id AND p.state = 'PENDING'),
      'usage', (SELECT json_build_object('inputTokens', coalesce(sum(coalesce(s.input_tokens, 0) + coalesce(s.cache_read_tokens, 0) + coalesce(s.cache_write_tokens, 0)), 0), 'outputTokens', coalesce(sum(s.output_tokens), 0), 'costUsd', sum(s.cost_usd)) FROM step s WHERE s.agent_id = c.id))`;

const READ: Statement<{ awaited: Awaited }, [waitId: string]> = {
  name: "read_awaited_child",
  text: `SELECT json_build_object(${LATER_FIELDS},
      'parent', json_build_object('createdByKind', a.created_by_kind, 'model', a.model, 'workspace', a.workspace, 'toolTimeoutMs', a.tool_timeout_ms, 'depth', a.depth, 'rootId', a.root_id, 'ancestors', a.ancestors, 'isArchived', a.archived_at IS NOT NULL, 'isTreeArchived', EXISTS (SELECT FROM agent o WHERE o.id = ANY (array_append(a.ancestors, a.id)) AND o.archived_at IS NOT NULL), 'isInterrupted', a.interrupt_at IS NOT NULL),
      'child', (SELECT ${CHILD}
        FROM agent c WHERE c.id = w.ref)) AS awaited
    FROM wait w JOIN tool_call t ON t.id = w.call_id JOIN agent a ON a.id = w.agent_id WHERE w.id = $1 AND w.settled_at IS NULL`,
};

/** The open wait with this id; null if it is settled. */
export async function readAwaited(sql: Sql, waitId: string): Promise<Awaited | null> {
  const [row] = await sql.query(READ, [waitId]);
  return row?.awaited ?? null;
}

/** A child that a call still waits for; null before it is made. */
export type ChildOfCall = { readonly callId: string; readonly childId: string; readonly child: Child | null };

const READ_OF_CALLS: Statement<ChildOfCall, [callIds: readonly string[]]> = {
  name: "read_children_of_calls",
  text: `SELECT w.call_id AS "callId", w.ref AS "childId", (SELECT ${CHILD} FROM agent c WHERE c.id = w.ref) AS child
    FROM wait w WHERE w.call_id = ANY ($1) AND w.kind = 'CHILD' AND w.settled_at IS NULL`,
};

export async function readChildrenOfCalls(sql: Sql, callIds: readonly string[]): Promise<readonly ChildOfCall[]> {
  return callIds.length === 0 ? [] : sql.query(READ_OF_CALLS, [callIds]);
}
