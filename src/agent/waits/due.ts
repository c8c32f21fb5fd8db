import { WAIT_KINDS, type WaitKind } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { logIsWhole } from "../../events/newest-events.ts";
import { ENDED_PROCESS, type HeldProcesses } from "../mcp/tasks/processes.ts";

/** A wait whose time has come. `agentId` and `callId` are null where it has none. */
export type DueWait = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string | null;
  readonly callId: string | null;
  readonly kind: WaitKind;
  readonly ref: string;
  /** The process of an MCP server that has its task; null for none. */
  readonly process: string | null;
  /** The time to which the claim has moved its `due`, as the database writes it: another one was set since. */
  readonly due: string;
};

/** The agents that the end of a wait may have given work: its own, and the child that was made or interrupted. */
export function agentsOf({ agentId, kind, ref }: DueWait): readonly string[] {
  const isOfChild = kind === "CHILD" || kind === "BACKGROUND_CHILD";
  return [...(agentId === null ? [] : [agentId]), ...(isOfChild ? [ref] : [])];
}

/** The most waits that one look claims. */
export const CLAIMED = 200;
/** For so long a claimed wait is left to the server that claimed it, in ms; then it is due again. */
const CLAIM_MS = 5_000;

type Looks = [kinds: readonly WaitKind[], busy: readonly string[], processes: readonly string[], goneMs: number];

/** A wait for a task of a process is that of its server. If the process has ended, or the wait is long overdue, it is that of any. */
const IS_OURS = `(process IS NULL OR process = '${ENDED_PROCESS}' OR process = ANY ($3) OR due < policy_time() - make_interval(secs => $4::float8 / 1000))`;

/**
 * Claims waits whose time has come, by moving their `due` on: compare-and-set under SKIP LOCKED. The tenants take turns,
 * the longest overdue wait of each first. Waits of kinds that only newer servers know stay with those.
 */
const CLAIM: Statement<DueWait, Looks> = {
  name: "claim_due",
  text: `WITH RECURSIVE tenants (tenant) AS (
      (SELECT tenant FROM wait WHERE settled_at IS NULL AND due IS NOT NULL ORDER BY tenant LIMIT 1)
      UNION ALL SELECT (SELECT tenant FROM wait WHERE settled_at IS NULL AND due IS NOT NULL AND tenant > tenants.tenant ORDER BY tenant LIMIT 1) FROM tenants WHERE tenants.tenant IS NOT NULL
    ), overdue AS MATERIALIZED (
      SELECT w.id FROM tenants t CROSS JOIN LATERAL (
        SELECT id, due, row_number() OVER (ORDER BY due) AS nth FROM wait WHERE wait.tenant = t.tenant AND settled_at IS NULL AND due <= policy_time() AND kind = ANY ($1) AND ${IS_OURS} ORDER BY due LIMIT ${CLAIMED}
      ) w WHERE t.tenant <> ALL ($2) AND ${logIsWhole("t.tenant")} ORDER BY w.nth, w.due LIMIT ${CLAIMED}
    ), claimed AS (
      SELECT id FROM wait WHERE id IN (SELECT id FROM overdue) AND settled_at IS NULL AND due <= policy_time() AND ${IS_OURS} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    ) UPDATE wait w SET due = policy_time() + interval '${CLAIM_MS} ms' FROM claimed c WHERE w.id = c.id
    RETURNING w.id, w.tenant, w.agent_id AS "agentId", w.call_id AS "callId", w.kind, w.ref, w.process, w.due::text`,
};

/**
 * Gives claimed waits the due of their claim back. Those that another commit holds are being settled, or claimed; one that
 * has another due by now keeps that.
 */
const RELEASE: Statement<object, [ids: readonly string[], dues: readonly string[]]> = {
  name: "release_due",
  text: `WITH left_over AS (
      SELECT w.id FROM unnest($1::text[], $2::text[]) AS c(id, due) JOIN wait w ON w.id = c.id
      WHERE w.settled_at IS NULL AND w.due = c.due::timestamptz AND w.due > policy_time() ORDER BY w.id FOR NO KEY UPDATE OF w SKIP LOCKED
    ) UPDATE wait w SET due = w.due - interval '${CLAIM_MS} ms' FROM left_over l WHERE w.id = l.id`,
};

/** The nearest due of each tenant is the first of its part of the index. */
const NEAREST: Statement<{ leftMs: number | null }, Looks> = {
  name: "nearest_due",
  text: `WITH RECURSIVE tenants (tenant) AS (
      (SELECT tenant FROM wait WHERE settled_at IS NULL AND due IS NOT NULL ORDER BY tenant LIMIT 1)
      UNION ALL SELECT (SELECT tenant FROM wait WHERE settled_at IS NULL AND due IS NOT NULL AND tenant > tenants.tenant ORDER BY tenant LIMIT 1) FROM tenants WHERE tenants.tenant IS NOT NULL
    ) SELECT extract(epoch FROM min(w.due) - policy_time())::float8 * 1000 AS "leftMs" FROM tenants t CROSS JOIN LATERAL (
      SELECT due FROM wait WHERE wait.tenant = t.tenant AND settled_at IS NULL AND due IS NOT NULL AND kind = ANY ($1) AND ${IS_OURS} ORDER BY due LIMIT 1
    ) w WHERE t.tenant <> ALL ($2)`,
};

/** Claims at most CLAIMED waits whose time has come, none of the busy tenants. */
export async function claimDue(sql: Sql, busy: readonly string[], { ids, goneMs }: HeldProcesses): Promise<readonly DueWait[]> {
  return sql.query(CLAIM, [WAIT_KINDS, busy, ids, goneMs]);
}

/** Makes claimed waits due again, for whichever server claims them next. */
export async function releaseDue(sql: Sql, waits: readonly DueWait[]): Promise<void> {
  if (waits.length === 0) return;
  await sql.query(RELEASE, [waits.map(({ id }) => id), waits.map(({ due }) => due)]);
}

/** The ms until the nearest due, 0 or less if it has come; null for none. */
export async function msToNearestDue(sql: Sql, busy: readonly string[], { ids, goneMs }: HeldProcesses): Promise<number | null> {
  const [nearest] = await sql.query(NEAREST, [WAIT_KINDS, busy, ids, goneMs]);
  return nearest?.leftMs ?? null;
}

/** The pause before an MCP server that is away is asked again, in ms. */
export const AWAY_MS = 5_000;

/** Moves the due of a wait on, unless another commit has moved it. */
export const MOVE: Statement<{ due: string }, [id: string, due: string, ms: number]> = {
  name: "move_mcp_task",
  text: `UPDATE wait SET due = policy_time() + make_interval(secs => $3::float8 / 1000)
    WHERE id = $1 AND settled_at IS NULL AND due = $2::timestamptz RETURNING due::text`,
};

export async function moveOn({ sql }: { readonly sql: Pick<Sql, "query"> }, wait: DueWait, ms: number): Promise<false> {
  await sql.query(MOVE, [wait.id, wait.due, ms]);
  return false;
}
