import type { Sql, Statement } from "../../db/sql.ts";
import { ERASED_CONTENTS, erasedPayload, kindsWith, type ErasedContent } from "./erased-payload.ts";
import type { EventKind } from "../../events/event.ts";
import { deliveredUpTo, type KnownConsumer, type RetentionPolicy, type RetentionRun } from "../../events/retention.ts";
import { IS_IDLE, LOCKED_IDLE } from "../../agent/waits/idle.ts";
import { countStatement, ERASES, READ_BOUND, ROWS, type EraseValues } from "./row-contents.ts";

/** The agents of one look, and the events of one statement. */
const AGENTS = 500;
const EVENTS = 1_000;

type Candidate = { readonly id: string; readonly tenant: string; readonly createdAt: Date; readonly position: number };

/**
 * The next agents with something to erase, in the order of their creation, with the position of their mark (table
 * erasure). Agents whose mark is newer than their last event are done.
 */
const NEXT: Statement<Candidate, [content: ErasedContent, before: Date, tenant: string, createdAt: Date, id: string]> = {
  name: "erasure_agents",
  text: `SELECT a.id, a.tenant, a.created_at AS "createdAt", coalesce(e.position, 0)::float8 AS position
    FROM agent a LEFT JOIN erasure e ON e.agent_id = a.id AND e.content = $1
      LEFT JOIN LATERAL (SELECT v.at FROM event v WHERE v.agent_id = a.id ORDER BY v.position DESC LIMIT 1) l ON true
    WHERE (a.tenant, a.created_at, a.id) > ($3, $4, $5) AND a.created_at < $2 AND a.tenant <> '' AND (e.at IS NULL OR e.at <= greatest(a.last_activity_at, l.at)) AND ${IS_IDLE}
    ORDER BY a.tenant, a.created_at, a.id LIMIT ${AGENTS}`,
};
const BEFORE: Statement<{ before: Date }, [keptMs: number]> = {
  name: "erasure_before",
  text: "SELECT policy_time() - make_interval(secs => $1::float8 / 1000) AS before",
};
const HEAD: Statement<{ head: number }, [tenant: string]> = {
  name: "erasure_head",
  text: "SELECT coalesce(max(position), 0)::float8 AS head FROM event WHERE tenant = $1",
};
type EventRow = { readonly position: number; readonly kind: EventKind; readonly isOld: boolean; readonly payload: string | null };
const READ_EVENTS: Statement<EventRow, [agentId: string, after: number, before: Date, kinds: readonly EventKind[]]> = {
  name: "erasure_events",
  text: `SELECT position::float8 AS position, kind, at < $3 AS "isOld", CASE WHEN at < $3 AND kind = ANY ($4) THEN payload::text END AS payload
    FROM event WHERE agent_id = $1 AND position > $2 ORDER BY position LIMIT ${EVENTS}`,
};
/** The log forgets tails' events up to here (`erased`): other servers hold payloads of before. */
const WRITE_EVENTS: Statement<
  { isIdle: boolean },
  [agentId: string, tenant: string, positions: readonly number[], payloads: readonly string[], last: number]
> = {
  name: "erase_events",
  text: `WITH ${LOCKED_IDLE},
      written AS (UPDATE event v SET payload = w.payload::json FROM unnest($3::bigint[], $4::text[]) AS w(position, payload), idle
        WHERE v.tenant = $2 AND v.position = w.position AND v.agent_id = $1 RETURNING 1),
      told AS (UPDATE tenant_log SET erased = greatest(erased, $5) WHERE tenant = $2 AND EXISTS (SELECT FROM idle) AND erased < $5)
    SELECT EXISTS (SELECT FROM idle) AS "isIdle"`,
};
const MARK: Statement<object, [agentId: string, content: ErasedContent, position: number, before: Date]> = {
  name: "mark_erasure",
  text: `INSERT INTO erasure (agent_id, content, tenant, position, at) SELECT a.id, $2, a.tenant, $3, $4 FROM agent a WHERE a.id = $1
    ON CONFLICT (agent_id, content) DO UPDATE SET position = greatest(erasure.position, excluded.position), at = greatest(erasure.at, excluded.at)`,
};

/** The contents that were erased of a tenant, or would be: calls, messages or approvals. */
export type Erasure = {
  readonly tenant: string;
  readonly content: ErasedContent;
  readonly agents: number;
  readonly rows: number;
};

const KEPT: Readonly<Record<ErasedContent, keyof RetentionPolicy>> = {
  TOOL_CALLS: "toolCallsMs",
  MESSAGES: "messagesMs",
  APPROVALS: "approvalsMs",
};

/** The contents that a run would erase. */
export async function planErasure(sql: Sql, run: RetentionRun): Promise<readonly Erasure[]> {
  return eachOld(sql, run, NEVER, async (agent, { content, before }) => {
    const values = await boundOf(sql, agent, before);
    const [counted] = await sql.query(countStatement(content), values);
    return counted?.rows ?? 0;
  });
}

/**
 * Erases contents by the policy. Each statement locks one idle agent and changes a bounded number of rows. An agent that
 * begins to work meanwhile is left for a later run. May run on several servers concurrently.
 */
export async function applyErasure(sql: Sql, run: RetentionRun, signal: AbortSignal): Promise<readonly Erasure[]> {
  return eachOld(sql, run, signal, async (agent, { content, before, upTo }) => {
    const values = await boundOf(sql, agent, before);
    let rows = 0;
    for (const [index, statement] of ERASES[content].entries()) {
      for (let found = ROWS; found === ROWS;) {
        const [erased] = await sql.query(statement, values);
        if (erased?.isIdle !== true || signal.aborted) return rows;
        found = erased.rows;
        if (index === 0) rows += found;
      }
    }
    const passed = await eraseEvents(sql, agent, { content, before, upTo }, signal);
    if (passed !== null) await sql.query(MARK, [agent.id, content, passed.last, passed.isAll ? before : new Date(0)]);
    return rows;
  });
}

const NEVER = new AbortController().signal;

/** The bounds of an erasure: contents older than `before`, and events up to `upTo`. */
type Old = { readonly content: ErasedContent; readonly before: Date; readonly upTo: number };
type EraseAgent = (agent: Candidate, old: Old) => Promise<number>;

/** Visits the agents of each content. Undelivered events of a tenant keep their texts. */
async function eachOld(sql: Sql, run: RetentionRun, signal: AbortSignal, erase: EraseAgent): Promise<readonly Erasure[]> {
  const all: Erasure[] = [];
  let problem: unknown = null;
  for (const content of ERASED_CONTENTS) {
    const keptMs = run.policy[KEPT[content]];
    if (keptMs === null) continue;
    const [{ before } = { before: new Date(0) }] = await sql.query(BEFORE, [keptMs]);
    const totals = new Map<string, Erasure>();
    const delivered = new Map<string, number>();
    let after: Candidate = { id: "", tenant: "", createdAt: new Date(0), position: 0 };
    for (let found = AGENTS; found === AGENTS && !signal.aborted;) {
      const agents = await sql.query(NEXT, [content, before, after.tenant, after.createdAt, after.id]);
      for (const agent of agents) {
        if (signal.aborted) break;
        try {
          const upTo = delivered.get(agent.tenant) ?? (await deliveredIn(sql, agent.tenant, content, run.consumers));
          delivered.set(agent.tenant, upTo);
          const rows = await erase(agent, { content, before, upTo });
          if (rows === 0) continue;
          const total = totals.get(agent.tenant) ?? { tenant: agent.tenant, content, agents: 0, rows: 0 };
          totals.set(agent.tenant, { ...total, agents: total.agents + 1, rows: total.rows + rows });
        } catch (error) {
          problem = error;
        }
      }
      found = agents.length;
      after = agents.at(-1) ?? after;
    }
    all.push(...totals.values());
  }
  if (problem !== null) throw problem;
  return all;
}

async function deliveredIn(
  sql: Sql,
  tenant: string,
  content: ErasedContent,
  consumers: readonly KnownConsumer[],
): Promise<number> {
  const [{ head } = { head: 0 }] = await sql.query(HEAD, [tenant]);
  const texts = new Set<string>(kindsWith(content));
  const wanted = consumers.map((consumer) => ({ ...consumer, kinds: consumer.kinds.filter((kind) => texts.has(kind)) }));
  return deliveredUpTo(sql, tenant, head, wanted);
}

async function boundOf(sql: Sql, { id }: Candidate, before: Date): Promise<EraseValues> {
  const [found] = await sql.query(READ_BOUND, [id, before]);
  return [id, before, found?.bound ?? 0, found?.turn ?? 0];
}

/**
 * Blanks the texts of the agent's old events. The last position that was passed, and whether no old event is left; null
 * if the agent has begun to work.
 */
async function eraseEvents(
  sql: Sql,
  { id, tenant, position }: Candidate,
  { content, before, upTo }: Old,
  signal: AbortSignal,
): Promise<{ readonly last: number; readonly isAll: boolean } | null> {
  let last = position;
  for (;;) {
    const events = await sql.query(READ_EVENTS, [id, last, before, kindsWith(content)]);
    const young = events.findIndex((event) => !event.isOld || event.position > upTo);
    const old = young < 0 ? events : events.slice(0, young);
    const blanked = old.flatMap((event) => {
      const payload = event.payload === null ? null : erasedPayload(event.kind, event.payload, content);
      return payload === null ? [] : [{ position: event.position, payload }];
    });
    last = old.at(-1)?.position ?? last;
    if (blanked.length > 0) {
      const values = [blanked.map((event) => event.position), blanked.map((event) => event.payload)] as const;
      const [written] = await sql.query(WRITE_EVENTS, [id, tenant, ...values, last]);
      if (written?.isIdle !== true) return null;
    }
    if (young >= 0 || events.length < EVENTS) return { last, isAll: events[young]?.isOld !== true };
    if (signal.aborted) return null;
  }
}
