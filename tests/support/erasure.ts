import { expect } from "vitest";
import type { Sql, Statement } from "../../src/db/sql.ts";
import type { RetentionPolicy } from "../../src/events/retention.ts";
import { rowId } from "../../src/lib/global-id.ts";
import { applyErasure, type Erasure } from "../../src/sweeps/erasure/erase.ts";
import { ArchiveAgentDocument, DeleteAgentDocument } from "../generated/documents.ts";
import type { TestClient } from "./client.ts";

/** A word of contents that are erased or deleted alone. */
export const SECRET = "xyzzy-secret";
export const HOUR = 3_600_000;

/** Keeps all. */
export const KEPT: RetentionPolicy = {
  eventsMs: null,
  deltasMs: null,
  outputsMs: null,
  toolCallsMs: null,
  messagesMs: null,
  approvalsMs: null,
};
export const ALL_CONTENTS = { toolCallsMs: HOUR, messagesMs: HOUR, approvalsMs: HOUR };

/** Erases contents that are older than an hour: all of them if nothing else is said. */
export function eraseOld(sql: Sql, policy: Partial<RetentionPolicy> = ALL_CONTENTS): Promise<readonly Erasure[]> {
  return applyErasure(sql, { policy: { ...KEPT, ...policy }, consumers: [] }, new AbortController().signal);
}

/** The tables with a row that has the text. */
export async function tablesWith(sql: Sql, text: string): Promise<string[]> {
  const tables = await sql.query<{ name: string }, []>(
    { name: "tables", text: "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1" },
    [],
  );
  const found: string[] = [];
  for (const { name } of tables)
    if ((await sql.query({ name: "", text: `SELECT 1 FROM ${name} t WHERE t::text LIKE $1 LIMIT 1` }, [`%${text}%`])).length > 0)
      found.push(name);
  return found;
}

/** The tables that may name an agent after its deletion. The event is AGENT_DELETED, and keys name the results of commands. */
export const TABLES_OF_DELETED = [
  "audit_call",
  "audit_step",
  "audit_turn",
  "audit_turn_fold",
  "deleted_agent",
  "deleted_approval",
  "event",
  "idempotency_key",
];

/** Waits until no agent does anything. */
export async function idle(sql: Sql): Promise<void> {
  const busy = {
    name: "",
    text: "SELECT FROM agent WHERE state <> 'READY' OR lease_owner IS NOT NULL OR runnable_at IS NOT NULL",
  };
  await expect.poll(async () => (await sql.query(busy, [])).length, { timeout: 15_000 }).toBe(0);
}

/** Archives an agent, and deletes it once its server has let it go. */
export async function deleteArchived(sql: Sql, client: TestClient, agentId: string): Promise<void> {
  await client.get(ArchiveAgentDocument, { input: { agentId } });
  const idle = { name: "", text: "SELECT FROM agent WHERE id = $1 AND lease_owner IS NULL AND runnable_at IS NULL" };
  await expect.poll(async () => (await sql.query(idle, [rowId("Agent", agentId)])).length, { timeout: 15_000 }).toBe(1);
  const { deleteAgent } = await client.get(DeleteAgentDocument, { input: { agentId } });
  expect(deleteAgent.userErrors).toEqual([]);
}

/** The database, with something that is done once, just before the first statement for which `isIt`. */
export function beforeStatement(
  sql: Sql,
  isIt: (statement: Statement, values: readonly unknown[]) => boolean,
  act: () => Promise<unknown>,
): Sql {
  let isDone = false;
  return {
    ...sql,
    query: async <Row>(statement: Statement<Row>, values: readonly unknown[]) => {
      if (!isDone && isIt(statement, values)) {
        isDone = true;
        await act();
      }
      return sql.query<Row>(statement, values);
    },
  };
}
