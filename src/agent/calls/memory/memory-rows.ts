import { Type } from "typebox";
import type { MemoryLineage, MemoryOwner } from "../../../db/commit/memory-change.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import { TEXTS, withDefault, type Complete } from "../../../lib/setting.ts";
import { isReading, type RuleValues } from "../../policy/rule-values.ts";
import type { ListedEntry, MemoryEntryText } from "../../tools/memory/agent-memory.ts";
import { MEMORY_TOOL } from "../../tools/memory/memory.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolResult } from "../../tools/tool-result.ts";

export const MEMORY_SETTINGS = {
  /**
   * `requester`: the agents that an actor has made share a memory with all below them of this template; `template`: all
   * agents of the template do. `requester` if omitted.
   */
  per: withDefault(Type.Enum(["requester", "template"]), "requester"),
  /** Tools whose results are no text from outside, besides the built-in ones that start no programs. None if omitted. */
  trustedTools: withDefault(TEXTS, []),
};

export type MemorySettings = Complete<typeof MEMORY_SETTINGS>;

/** A template whose agents have a memory, or null for none. */
export type MemoryTemplate = { readonly id: string; readonly memory: MemorySettings | null };

/** The owner of the memory that an agent uses. Agents below others have the requester of the first. Null if its template has none. */
export function memoryOwner({ id, memory }: MemoryTemplate, { createdBy }: { readonly createdBy: string }): MemoryOwner | null {
  if (memory === null) return null;
  return { templateId: id, requester: memory.per === "template" ? "" : createdBy };
}

type Key = [tenant: string, templateId: string, requester: string];

const COLUMNS = `e.id, e.path, e.bytes, e.version, e.lineage, to_char(e.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "updatedAt"`;
const OF_OWNER = `FROM memory_entry e WHERE e.tenant = $1 AND e.template_id = $2 AND e.requester = $3`;

const LIST: Statement<ListedEntry, Key> = {
  name: "list_memory",
  text: `SELECT ${COLUMNS} ${OF_OWNER} AND e.deleted_at IS NULL ORDER BY e.path`,
};

const READ: Statement<MemoryEntryText, [...Key, path: string]> = {
  name: "read_memory",
  text: `SELECT ${COLUMNS}, e.text ${OF_OWNER} AND e.path = $4 AND e.deleted_at IS NULL`,
};

export async function listMemory(
  sql: Sql,
  tenant: string,
  { templateId, requester }: MemoryOwner,
): Promise<readonly ListedEntry[]> {
  return sql.query(LIST, [tenant, templateId, requester]);
}

export async function readMemory(
  sql: Sql,
  tenant: string,
  { templateId, requester }: MemoryOwner,
  path: string,
): Promise<MemoryEntryText | null> {
  const [entry] = await sql.query(READ, [tenant, templateId, requester, path]);
  return entry ?? null;
}

const READ_DELETED: Statement<Pick<ListedEntry, "id" | "version">, [...Key, path: string]> = {
  name: "read_deleted_memory",
  text: `SELECT e.id, e.version ${OF_OWNER} AND e.path = $4 AND e.deleted_at IS NOT NULL`,
};

/** A deleted entry: a new one at its path takes its id over, and counts its versions on. Null for none. */
export async function deletedEntry(
  sql: Sql,
  tenant: string,
  { templateId, requester }: MemoryOwner,
  path: string,
): Promise<Pick<ListedEntry, "id" | "version"> | null> {
  const [entry] = await sql.query(READ_DELETED, [tenant, templateId, requester, path]);
  return entry ?? null;
}

const READ_ANSWER: Statement<ToolResult, [callId: string]> = {
  name: "read_answer_of_memory",
  text: "SELECT output, details FROM tool_call WHERE id = $1 AND details IS NOT NULL",
};

/** The answer of a call that has changed memory already; null if it has not. */
export async function answerGiven(sql: Sql, callId: string): Promise<ToolResult | null> {
  const [answer] = await sql.query(READ_ANSWER, [callId]);
  return answer ?? null;
}

/** The built-in tools whose results are of the agent itself, its workspace and its tree. */
const INSIDE = ["fs_read", "fs_write", "fs_edit", "fs_multi_edit", "fs_glob", "fs_grep", "todo_read", "todo_write", "task_run"];

/** A call in the tree of an agent whose result may be text from outside: of a tool, or of an entry of memory. */
const FIND_OUTSIDE: Statement<{ name: string }, [agentId: string, inside: readonly string[]]> = {
  name: "find_text_from_outside",
  text: `WITH tree AS (SELECT id FROM agent WHERE id = $1 UNION SELECT coalesce(root_id, id) FROM agent WHERE id = $1
      UNION SELECT b.id FROM agent a JOIN agent b ON b.root_id = coalesce(a.root_id, a.id) WHERE a.id = $1)
    SELECT f.name FROM tree, LATERAL (SELECT t.name FROM tool_call t WHERE t.agent_id = tree.id AND t.state IN ('COMPLETED', 'FAILED', 'SEALED') AND t.started_at IS NOT NULL
      AND CASE WHEN t.name = '${MEMORY_TOOL}' THEN t.details ->> 'lineage' = 'OUTSIDE' ELSE t.name <> ALL ($2::text[]) END LIMIT 1) f LIMIT 1`,
};

async function outsideTool(sql: Sql, agentId: string, memory: MemorySettings): Promise<string | null> {
  const [found] = await sql.query(FIND_OUTSIDE, [agentId, [...INSIDE, ...memory.trustedTools]]);
  return found?.name ?? null;
}

/** The origin of the texts that a call of an agent writes. */
export async function lineageOf(sql: Sql, agentId: string, memory: MemorySettings): Promise<MemoryLineage> {
  return (await outsideTool(sql, agentId, memory)) === null ? "MODEL" : "OUTSIDE";
}

/** The reason why a call may write text from outside into memory; null if it does not. */
export async function fromOutside(
  sql: Sql,
  agentId: string,
  { memory }: MemoryTemplate,
  tool: Tool,
  values: RuleValues,
): Promise<string | null> {
  if (memory === null || tool.name !== MEMORY_TOOL || isReading(tool, values)) return null;
  const name = await outsideTool(sql, agentId, memory);
  if (name === null) return null;
  const source =
    name === MEMORY_TOOL ? "an entry of memory with text from outside" : `a result of ${name}, which may be text from outside`;
  return `the agent, or one of its tree, has read ${source}, and no rule allows it to write that into memory`;
}
