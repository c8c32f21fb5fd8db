import { expect } from "vitest";
import { notice } from "../../src/agent/calls/notices.ts";
import type { NoticeSource } from "../../src/db/commit/change.ts";
import type { Sql } from "../../src/db/sql.ts";
import { EventLog } from "../../src/events/log.ts";
import { rowId } from "../../src/lib/global-id.ts";

type AgentRow = { readonly id: string; readonly tenant: string; readonly createdBy: string };

export async function agentOf(sql: Sql, agentId: string): Promise<AgentRow> {
  const text = `SELECT id, tenant, created_by AS "createdBy" FROM agent WHERE id = $1`;
  const [agent] = await sql.query<AgentRow, [id: string]>({ name: "agent_of_notices", text }, [rowId("Agent", agentId)]);
  if (agent === undefined) throw new Error("there is no such agent");
  return agent;
}

/** Tells an agent of things, as a commit of others does. */
export async function tell(
  sql: Sql,
  agentId: string,
  ...told: readonly (readonly [source: NoticeSource, ref: string, text: string])[]
) {
  const agent = await agentOf(sql, agentId);
  const notices = told.map(([source, ref, text]) => notice(agent, { source, ref, text }, new Date()));
  const part = { agentId: agent.id, createdBy: agent.createdBy, events: [] };
  expect(await new EventLog(sql).commit(agent.tenant, part, { notices })).toMatchObject({ outcome: "COMMITTED" });
}
