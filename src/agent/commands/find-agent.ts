import type { Sql, Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { maySee, maySteer, type Actor, type CommandRefusal } from "../actors/actor.ts";

export type FoundAgent = {
  readonly id: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly title: string | null;
  readonly isArchived: boolean;
};

export const ARCHIVED: CommandRefusal = {
  code: "ARCHIVED",
  field: ["agentId"],
  message: "the agent is archived, and takes no message: `unarchiveAgent` first",
};

const FIND: Statement<FoundAgent, [agentId: string]> = {
  name: "find_agent",
  text: `SELECT id, tenant, created_by AS "createdBy", title, archived_at IS NOT NULL AS "isArchived" FROM agent WHERE id = $1`,
};

/** The agent, if the actor may see it. Invisible agents are reported as missing. */
export async function findAgent(sql: Sql, actor: Actor, agentId: string): Promise<Result<FoundAgent, CommandRefusal>> {
  const [agent] = await sql.query(FIND, [agentId]);
  if (agent === undefined || !maySee(actor, agent))
    return refused({ code: "NOT_FOUND", field: ["agentId"], message: "there is no such agent: list yours with `agents`" });
  return accepted(agent);
}

/** A part of an agent that a command steers: its row, the input field that names it, and the message if it is missing. */
type SteeredPart<Row> = {
  readonly row: Row | undefined;
  readonly field: string;
  readonly missing: string;
  readonly doing: string;
};

/** A row of an agent that the actor may steer, with the agent's creator. Rows of invisible agents are reported as missing. */
export async function findSteeredPart<Row extends { readonly agentId: string }>(
  sql: Sql,
  actor: Actor,
  { row, field, missing, doing }: SteeredPart<Row>,
): Promise<Result<Row & { readonly createdBy: string }, CommandRefusal>> {
  const found = row === undefined ? null : await findSteered(sql, actor, row.agentId, doing);
  if (row === undefined || found === null || (!found.ok && found.refusal.code === "NOT_FOUND"))
    return refused({ code: "NOT_FOUND", field: [field], message: missing });
  return found.ok ? accepted({ ...row, createdBy: found.value.createdBy }) : refused({ ...found.refusal, field: [field] });
}

/** The agent, if the actor may steer it; `doing` names the action in a refusal, such as "interrupting". */
export async function findSteered(
  sql: Sql,
  actor: Actor,
  agentId: string,
  doing: string,
): Promise<Result<FoundAgent, CommandRefusal>> {
  const found = await findAgent(sql, actor, agentId);
  if (!found.ok || maySteer(actor, found.value)) return found;
  const message = `${doing} an agent needs the role user and an agent of one's own, or the role admin`;
  return refused({ code: "FORBIDDEN", field: ["agentId"], message });
}
