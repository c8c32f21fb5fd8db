import type { Sql, Statement } from "../../../db/sql.ts";
import { logIsWhole } from "../../../events/newest-events.ts";
import { SHELL_END_REASONS, type ShellState } from "../../../events/snapshots.ts";
import type { FoundShell } from "../../tools/bash/shells.ts";

export type ShellName = { readonly id: string; readonly command: string };

const CHARACTERS = 200;

export const COMMAND_BEGINNING = `CASE WHEN length(s.command) > ${CHARACTERS} THEN left(s.command, ${CHARACTERS}) || '…' ELSE s.command END`;

export function commandBeginning(command: string): string {
  const characters = Array.from(command);
  return characters.length > CHARACTERS ? `${characters.slice(0, CHARACTERS).join("")}…` : command;
}

export function shellNames(shells: readonly ShellName[]): string {
  const [first, ...others] = shells.map(({ id, command }) => `${id} (${command})`);
  if (others.length === 0) return `the background shell ${first}`;
  return `one of the background shells ${[first, ...others.slice(0, -1)].join(", ")} and ${others.at(-1)}`;
}

export type RunningShellView = ShellName & { readonly callId: string; readonly server: string };

/** The running shells of an agent `a`, in the order of their start. */
export const RUNNING_SHELLS = `(SELECT coalesce(json_agg(json_build_object('id', s.id, 'callId', s.call_id, 'command', ${COMMAND_BEGINNING}, 'server', s.server) ORDER BY s.started_at, s.id), '[]')
    FROM shell s WHERE s.agent_id = a.id AND s.state = 'RUNNING')`;

export type ShellRow = ShellName & {
  readonly state: ShellState;
  readonly server: string;
  readonly host: string;
  readonly endReason: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

const READ: Statement<ShellRow, [agentId: string, shellId: string]> = {
  name: "read_shell",
  text: `SELECT id, command, state, server, host, end_reason AS "endReason", exit_code AS "exitCode", signal FROM shell WHERE id = $2 AND agent_id = $1`,
};
const COUNT_RUNNING: Statement<{ running: number }, [agentId: string]> = {
  name: "count_running_shells",
  text: "SELECT count(*)::int AS running FROM shell WHERE agent_id = $1 AND state = 'RUNNING'",
};
const READ_WANTED_ENDS: Statement<{ id: string; endWanted: string | null }, [serverId: string, shellIds: readonly string[]]> = {
  name: "look_at_shells",
  text: `SELECT id, end_wanted AS "endWanted" FROM shell WHERE server = $1 AND id = ANY ($2) AND state = 'RUNNING'`,
};
const RENEW: Statement<{ id: string }, [serverId: string, ttlMs: number, shellIds: readonly string[]]> = {
  name: "renew_shells",
  text: `UPDATE shell s SET lease_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
    FROM (SELECT id FROM shell WHERE server = $1 AND id = ANY ($3) AND state = 'RUNNING' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED) held WHERE s.id = held.id RETURNING s.id`,
};
const WANT_END: Statement<object, [agentId: string, serverId: string]> = {
  name: "want_end_of_shells",
  text: `UPDATE shell s SET end_wanted = 'TAKEN_OVER'
    FROM (SELECT id FROM shell WHERE agent_id = $1 AND server <> $2 AND state = 'RUNNING' AND end_wanted IS NULL ORDER BY id FOR NO KEY UPDATE) other WHERE s.id = other.id`,
};
/** A shell `s` with an expired lease whose tenant's log accepts events. A partial index has only running shells. */
export const IS_LOST = `s.state = 'RUNNING' AND s.lease_until < clock_timestamp() AND ${logIsWhole("s.tenant")}`;

const LOST: Statement<StartedShell, [most: number]> = {
  name: "lost_shells",
  text: `SELECT s.id, s.tenant, s.agent_id AS "agentId", a.created_by AS "createdBy", s.call_id AS "callId", s.command, s.started_at AS "startedAt"
    FROM shell s JOIN agent a ON a.id = s.agent_id WHERE ${IS_LOST} ORDER BY s.lease_until LIMIT $1`,
};
const END_LEASES: Statement<object, []> = {
  name: "end_leases_of_shells",
  text: "UPDATE shell SET lease_until = clock_timestamp() - interval '1 ms' WHERE state = 'RUNNING'",
};

export type StartedShell = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly callId: string;
  readonly command: string;
  readonly startedAt: Date;
};

/** The shell of an agent; null if the agent has no such shell. */
export async function readShell(sql: Sql, agentId: string, shellId: string): Promise<ShellRow | null> {
  const [row] = await sql.query(READ, [agentId, shellId]);
  return row ?? null;
}

export async function countRunning(sql: Sql, agentId: string): Promise<number> {
  const [row] = await sql.query(COUNT_RUNNING, [agentId]);
  return row?.running ?? 0;
}

/** The shells that still run on this server, by their rows, with the reason to end them; null for none. */
export async function lookAtShells(
  sql: Sql,
  serverId: string,
  shellIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  return new Map((await sql.query(READ_WANTED_ENDS, [serverId, shellIds])).map(({ id, endWanted }) => [id, endWanted]));
}

/** Renews the leases of this server's shells. Locked rows are left to the next renewal. */
export async function renewShells(
  sql: Sql,
  serverId: string,
  shellIds: readonly string[],
  ttlMs: number,
): Promise<ReadonlySet<string>> {
  return new Set((await sql.query(RENEW, [serverId, ttlMs, shellIds])).map(({ id }) => id));
}

/** Asks other servers to end the shells of an agent that this server holds. */
export async function wantEndElsewhere(sql: Sql, agentId: string, serverId: string): Promise<void> {
  await sql.query(WANT_END, [agentId, serverId]);
}

/** At most `most` shells with an expired lease, oldest first. */
export async function lostShells(sql: Sql, most: number): Promise<readonly StartedShell[]> {
  return sql.query(LOST, [most]);
}

/** Expires the leases of all shells. Only for a server without others: the leases of its earlier process must not delay it. */
export async function endShellLeases(sql: Sql): Promise<void> {
  await sql.query(END_LEASES, []);
}

export function stateOf({ id, command, state, endReason, exitCode, signal }: ShellRow): FoundShell {
  if (state === "RUNNING") return { shellId: id, command, end: null };
  const known = SHELL_END_REASONS.find((reason) => reason === endReason) ?? "EXITED";
  return { shellId: id, command, end: { endReason: known, exitCode, signal } };
}
