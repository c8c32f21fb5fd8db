import type { Agent, Approval, Prisma, ToolCall } from "../db/generated/client.ts";
import type { Statement } from "../db/sql.ts";
import { nodeIdOf, ROW_ID } from "../lib/global-id.ts";
import { type Context, visibleAgents, visibleCreator } from "./context.ts";

/** The fewest characters that are searched, and the most objects of each type that are found. */
export const SEARCH = { characters: 4, most: 5 };

/** The row ids of the objects that the viewer may see, by type. */
export type Found = {
  readonly agents: readonly string[];
  readonly approvals: readonly string[];
  readonly toolCalls: readonly string[];
};

const NOTHING: Found = { agents: [], approvals: [], toolCalls: [] };

const endsWith = (table: string): string =>
  `SELECT r.id FROM ${table} r JOIN agent a ON a.id = r.${table === "agent" ? "id" : "agent_id"}
      WHERE r.tenant = $1 AND reverse(r.id) ~>=~ reverse($2) AND reverse(r.id) ~<~ reverse($3) AND ($4::text IS NULL OR a.created_by = $4) ORDER BY reverse(r.id) USING ~<~ LIMIT ${SEARCH.most}`;

/** The audit has an index of the ids of calls, about a second behind: `tool_call` has none, so that no commit writes it. */
const FIND: Statement<Found, [tenant: string, end: string, beyond: string, createdBy: string | null]> = {
  name: "search_ids",
  text: `SELECT ARRAY(${endsWith("agent")}) AS agents, ARRAY(${endsWith("approval")}) AS approvals, ARRAY(${endsWith("audit_call")}) AS "toolCalls"`,
};

/** The objects whose id is the text, or ends with it. None for a text that is too short, or no part of an id. */
export async function search(context: Context, text: string): Promise<Found> {
  const end = endOf(text);
  if (end === null) return NOTHING;
  await context.snapshot();
  const { services, actor, tenant } = context;
  const beyond = String.fromCharCode(end.charCodeAt(0) + 1) + end.slice(1);
  const [found] = await services.reads.query(FIND, [tenant, end, beyond, visibleCreator(actor)]);
  return found ?? NOTHING;
}

/** The end of a row id that a text stands for: of a Relay id, a `callId`, or a short id; null for others. */
function endOf(text: string): string | null {
  const given = text.trim();
  const { id } = nodeIdOf(given);
  if (ROW_ID.test(id) && !/^[0-]+$/.test(id)) return id;
  const end = given.toLowerCase().replace(/^#/, "");
  return end.length >= SEARCH.characters && /^[0-9a-f-]{1,36}$/.test(end) ? end : null;
}

type Selection<Arguments> = Pick<Arguments, Extract<keyof Arguments, "include" | "select">>;

const inOrder = { id: "asc" } as const;

export async function foundAgents(
  { prisma, actor }: Context,
  { agents }: Found,
  selection: Selection<Prisma.AgentFindManyArgs>,
): Promise<Agent[]> {
  if (agents.length === 0) return [];
  return prisma.agent.findMany({ ...selection, where: { id: { in: [...agents] }, AND: visibleAgents(actor) }, orderBy: inOrder });
}

export async function foundApprovals(
  { prisma, actor }: Context,
  { approvals }: Found,
  selection: Selection<Prisma.ApprovalFindManyArgs>,
): Promise<Approval[]> {
  if (approvals.length === 0) return [];
  const where = { id: { in: [...approvals] }, agent: visibleAgents(actor) };
  return prisma.approval.findMany({ ...selection, where, orderBy: inOrder });
}

export async function foundToolCalls(
  { prisma, actor }: Context,
  { toolCalls }: Found,
  selection: Selection<Prisma.ToolCallFindManyArgs>,
): Promise<ToolCall[]> {
  if (toolCalls.length === 0) return [];
  const where = { id: { in: [...toolCalls] }, agent: visibleAgents(actor) };
  return prisma.toolCall.findMany({ ...selection, where, orderBy: inOrder });
}
