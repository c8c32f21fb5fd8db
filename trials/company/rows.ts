import type pg from "pg";
import type { OpenQuestion } from "./deciding.ts";

/** A call with the approval and the waits that it had. Times are in ms since 1970. */
export type CallRow = {
  readonly id: string;
  readonly agentId: string;
  /** The job of the call, or the text of the child that it starts. */
  readonly job: string;
  readonly state: string;
  readonly output: string | null;
  readonly details: unknown;
  readonly error: { readonly type: string; readonly message: string } | null;
  /** The states that it went through. */
  readonly passed: readonly string[];
  readonly approvals: readonly { readonly state: string; readonly expiresAt: number; readonly closedAt: number }[];
  readonly openWaits: number;
};

export type EventRow = {
  readonly agentId: string;
  readonly seq: number;
  readonly position: number;
  readonly kind: string;
  readonly at: number;
  readonly callId: string | null;
  /** The state of the call that the event reports, or that of the approval. */
  readonly state: string | null;
  readonly errorType: string | null;
  readonly dueAt: string | null;
  /** The agent that a call started or that returned. */
  readonly childId: string | null;
};

const MS = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::float8`;

const CALLS = `SELECT t.id, t.agent_id AS "agentId", coalesce(t.requested_input ->> 'job', t.requested_input ->> 'description') AS job, t.state::text, t.output, t.details, t.error,
    (SELECT coalesce(json_agg(p.entry ->> 'state' ORDER BY p.place), '[]') FROM jsonb_array_elements(t.audit_trail) WITH ORDINALITY p(entry, place)) AS passed,
    (SELECT coalesce(json_agg(json_build_object('state', p.state, 'expiresAt', ${MS("p.expires_at")}, 'closedAt', ${MS("p.closed_at")})), '[]') FROM approval p WHERE p.tool_call_id = t.id) AS approvals,
    (SELECT count(*)::int FROM wait w WHERE w.call_id = t.id AND w.settled_at IS NULL) AS "openWaits"
  FROM tool_call t`;

const EVENTS = `SELECT agent_id AS "agentId", seq, position::float8 AS position, kind, ${MS("at")} AS at, coalesce(payload #>> '{call,callId}', payload #>> '{request,call,callId}', payload ->> 'callId') AS "callId",
    coalesce(payload #>> '{call,state}', payload ->> 'approvalState') AS state, payload #>> '{call,error,type}' AS "errorType", payload ->> 'dueAt' AS "dueAt", payload ->> 'childId' AS "childId"
  FROM event WHERE agent_id IS NOT NULL ORDER BY agent_id, seq`;

export async function readCalls(database: pg.Client): Promise<readonly CallRow[]> {
  return (await database.query<CallRow>(CALLS)).rows;
}

export async function readEvents(database: pg.Client): Promise<readonly EventRow[]> {
  return (await database.query<EventRow>(EVENTS)).rows;
}

/** The calls for clients that wait. */
export async function readWaiting(database: pg.Client): Promise<readonly { readonly id: string; readonly input: unknown }[]> {
  const text = "SELECT id, requested_input AS input FROM tool_call WHERE state = 'WAITING' AND name = 'person'";
  return (await database.query<{ id: string; input: unknown }>(text)).rows;
}

/** The questions of MCP servers that are open. */
export async function readQuestions(database: pg.Client): Promise<readonly OpenQuestion[]> {
  const text = `SELECT p.id, p.tool_call_id AS "callId", p.input_hash AS "inputHash", t.requested_input AS input FROM approval p JOIN tool_call t ON t.id = p.tool_call_id
    WHERE p.state = 'PENDING' AND p.kind = 'TOOL_INPUT'`;
  return (await database.query<OpenQuestion>(text)).rows;
}

/** The waits and calls that contradict each other at this moment, in words. */
export async function contradictions(database: pg.Client): Promise<readonly string[]> {
  const { rows } = await database.query<{ problem: string }>(
    `SELECT 'the call ' || t.id || ' is WAITING without an open wait' AS problem FROM tool_call t
       WHERE t.state = 'WAITING' AND NOT EXISTS (SELECT FROM wait w WHERE w.call_id = t.id AND w.settled_at IS NULL AND (w.kind = 'CHILD' OR w.kind IN ('LATER', 'CLIENT_TOOL') AND w.due IS NOT NULL))
     UNION ALL SELECT 'the call ' || t.id || ' is WAITING without a wait for its task' FROM tool_call t
       WHERE t.state = 'WAITING' AND t.name = 'mcp__newer__works' AND NOT EXISTS (SELECT FROM wait w WHERE w.call_id = t.id AND w.kind = 'MCP_TASK' AND w.settled_at IS NULL AND w.due IS NOT NULL)
     UNION ALL SELECT 'a wait is open for the task of the call ' || t.id || ', which is ' || t.state FROM wait w JOIN tool_call t ON t.id = w.call_id
       WHERE w.kind = 'MCP_TASK' AND w.settled_at IS NULL AND t.state <> 'WAITING'
     UNION ALL SELECT 'a wait is open for the call ' || t.id || ', which is ' || t.state FROM wait w JOIN tool_call t ON t.id = w.ref
       WHERE w.settled_at IS NULL AND t.state <> 'WAITING'
     UNION ALL SELECT 'a wait is open for the approval ' || p.id || ', which is ' || p.state FROM wait w JOIN approval p ON p.id = w.ref
       WHERE w.settled_at IS NULL AND p.state <> 'PENDING'
     UNION ALL SELECT 'the approval ' || p.id || ' is PENDING without an open wait' FROM approval p
       WHERE p.state = 'PENDING' AND NOT EXISTS (SELECT FROM wait w WHERE w.ref = p.id AND w.settled_at IS NULL)
     UNION ALL SELECT 'the child ' || c.id || ' has ended, and no server is to return it' FROM agent c JOIN wait w ON w.ref = c.id
       WHERE w.settled_at IS NULL AND w.due IS NULL AND c.state = 'READY' AND c.done_reason IS NOT NULL
     UNION ALL SELECT 'the wait for the child ' || w.ref || ' is open without a child or a time' FROM wait w
       WHERE w.kind IN ('CHILD', 'BACKGROUND_CHILD') AND w.settled_at IS NULL AND w.due IS NULL AND NOT EXISTS (SELECT FROM agent c WHERE c.id = w.ref)
     UNION ALL SELECT 'no wait joins the child ' || c.id || ' to its parent' FROM agent c
       WHERE c.parent_id IS NOT NULL AND NOT EXISTS (SELECT FROM wait w WHERE w.ref = c.id AND w.call_id = c.parent_call_id)`,
  );
  return rows.map(({ problem }) => problem);
}

/** The tables that have a text in one of their rows, whatever the column. */
export async function tablesWith(database: pg.Client, text: string): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await database.query(`SELECT FROM "${name}" r WHERE r::text LIKE '%' || $1 || '%' LIMIT 1`, [text]);
    if (rowCount !== 0) found.push(name);
  }
  return found;
}
