import { randomUUIDv7 } from "node:crypto";
import type { Sql } from "../../src/db/sql.ts";
import type { StartedShell } from "../../src/agent/calls/shells/rows.ts";

let lastStarted = 0;

/** The row of a background shell that a call started, as if it ran on this server. It has started later than each one before it. */
export async function shellRow(
  sql: Sql,
  {
    tenant,
    agentId,
    createdBy,
    callId,
    command = "sleep 300",
  }: Pick<StartedShell, "tenant" | "agentId" | "createdBy" | "callId"> & { readonly command?: string },
  server: string,
): Promise<StartedShell> {
  lastStarted = Math.max(Date.now(), lastStarted + 1);
  const shell = { id: randomUUIDv7(), tenant, agentId, createdBy, callId, command, startedAt: new Date(lastStarted) };
  const text = `INSERT INTO shell (id, tenant, agent_id, call_id, command, server, host, state, started_at)
    VALUES ($1, $2, $3, $4, $5, $6, 'test', 'RUNNING', $7)`;
  await sql.query({ name: "insert_shell", text }, [shell.id, tenant, agentId, callId, shell.command, server, shell.startedAt]);
  return shell;
}

/** Removes the row of a shell. */
export async function withoutShell(sql: Sql, { id }: StartedShell): Promise<void> {
  await sql.query({ name: "remove_shell", text: "DELETE FROM shell WHERE id = $1" }, [id]);
}
