import { randomUUIDv7 } from "node:crypto";
import type { TemplateVersion } from "../../db/commit/change.ts";
import type { Statement, Sql } from "../../db/sql.ts";
import { newWrite } from "../../events/write.ts";
import { isInside } from "../../lib/path-inside.ts";
import { refused, type Result } from "../../lib/result.ts";
import { missingAbility, maySteer, type Actor, type Outcome, type CommandRefusal } from "../actors/actor.ts";
import { answerOf, claimKey, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import type { AgentServices } from "../loop/scope.ts";
import type { OwnPermission } from "../policy/own-permission.ts";
import { agentRow, createdEvent, type NewAgent } from "../calls/agent-row.ts";
import { findAgent } from "./find-agent.ts";

/** Ids are the rows'. */
export type ForkAgent = {
  readonly agentId: string;
  /** The last shared message; null for the newest fork point. */
  readonly messageId: string | null;
  readonly idempotencyKey: string | null;
};

type Parent = {
  readonly templateId: string;
  readonly model: string;
  readonly workspace: string;
  readonly toolTimeoutMs: number | null;
  readonly permission: OwnPermission | null;
  readonly lineage: readonly string[] | null;
  readonly title: string | null;
  readonly templateVersion: TemplateVersion | null;
  readonly hooks: readonly string[];
};

const READ_PARENT: Statement<Parent, [agentId: string]> = {
  name: "read_parent",
  text: `SELECT template_id AS "templateId", model, workspace, tool_timeout_ms AS "toolTimeoutMs", permission, lineage, title, template_version AS "templateVersion", coalesce(hooks, '[]'::json) AS hooks FROM agent WHERE id = $1`,
};

/** A fork works in the folder of its parent: a fork of an agent with its own folder would write in somebody else's. */
const FOLDER_OF_OTHERS: CommandRefusal = {
  code: "FORBIDDEN",
  field: ["agentId"],
  message:
    "the agent works in a folder of its own, and its fork would work there, too: forking it needs the role user and an agent of one's own, or the role admin. Ask its creator or an administrator to fork it",
};

/**
 * Makes a new agent with the transcript, tool calls, steps and todos of another up to a safe point. Template, model,
 * workspace and permission are the same. History is never rewritten, so that the other agent may continue. Another
 * person's agent is forked only if the actor could request its folder for an agent of their own.
 */
export async function forkAgent(
  services: AgentServices,
  actor: Actor,
  request: ForkAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const missing = missingAbility(actor, "CREATE_AGENTS");
  if (missing !== null) return refused(missing);
  const keyed = { actor, operation: "forkAgent", key: request.idempotencyKey, body: request };
  return onceByKey(services.sql, keyed, () => tryToFork(services, actor, request, keyed));
}

async function tryToFork(
  services: AgentServices,
  actor: Actor,
  request: ForkAgent,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  const found = await findAgent(services.sql, actor, request.agentId);
  if (!found.ok) return found;
  const [parent] = await services.sql.query(READ_PARENT, [found.value.id]);
  if (parent === undefined) throw new Error(`agent ${found.value.id} does not exist`);
  if (isInside(services.ownWorkspaces, parent.workspace) && !maySteer(actor, found.value)) return refused(FOLDER_OF_OTHERS);
  const missing = parent.permission?.scope === "REPLACE" ? missingAbility(actor, "REPLACE_PERMISSION") : null;
  if (missing !== null) return refused({ ...missing, field: ["agentId"] });
  const point = await findForkPoint(services.sql, found.value.id, request.messageId);
  if (point === undefined)
    return refused({
      code: "INVALID",
      field: ["messageId"],
      message: "the agent cannot be forked there: `agent.forkPoints` lists the messages after which it can",
    });

  const id = randomUUIDv7();
  const at = services.clock.now();
  const { templateId, model, workspace, toolTimeoutMs, permission, title, hooks } = parent;
  const agent: NewAgent = { id, actor, templateId, model, workspace, toolTimeoutMs, permission, hooks, title, spawned: null, at };
  const outcome = await services.log.commit(
    actor.tenant,
    { agentId: id, createdBy: actor.id, events: [createdEvent(agent, found.value.id)] },
    {
      ...claimKey(keyed, id, at),
      createAgent: {
        ...agentRow(agent),
        transcriptLength: point.index + 1,
        lastSfpIndex: point.index,
        // It has the manual of the other.
        templateVersion: parent.templateVersion === null ? null : { ...parent.templateVersion, sinceTurn: 0 },
        lineage: [...(parent.lineage ?? []), found.value.id],
        forkedAt: point.index,
      },
      fork: { from: found.value.id, at: point.index },
    },
    newWrite(id),
  );
  // The other may have been deleted since it was read.
  const present = outcome.outcome === "COMMITTED" ? found : await findAgent(services.sql, actor, request.agentId);
  if (!present.ok) return present;
  return answerOf(id, outcome, (message) => {
    throw new Error(`an agent could not be forked: ${message}`);
  });
}

/** A message after which an agent can be forked: later messages depend on no open work there. */
export type ForkPoint = { readonly messageId: string; readonly index: number; readonly createdAt: Date };

/** A message of a person, complete results, or an answer without tool calls. */
const SAFE = `m.ordinal IS NOT NULL AND m.content IS NOT NULL AND (m.kind <> 'ASSISTANT' OR NOT EXISTS (SELECT FROM json_array_elements(m.content) b WHERE b ->> 'type' = 'tool_use'))`;
const COLUMNS = `m.id AS "messageId", m.ordinal AS index, m.created_at AS "createdAt"`;

const READ_POINTS: Statement<ForkPoint, [agentId: string, after: number | null, before: number | null, first: number]> = {
  name: "read_fork_points",
  text: `SELECT ${COLUMNS} FROM message m
    WHERE m.agent_id = $1 AND ($2::int IS NULL OR m.ordinal > $2) AND ($3::int IS NULL OR m.ordinal < $3) AND ${SAFE} ORDER BY m.ordinal DESC LIMIT $4`,
};
const READ_OLDEST_POINTS: typeof READ_POINTS = {
  name: "read_oldest_fork_points",
  text: `SELECT ${COLUMNS} FROM message m
    WHERE m.agent_id = $1 AND ($2::int IS NULL OR m.ordinal > $2) AND ($3::int IS NULL OR m.ordinal < $3) AND ${SAFE} ORDER BY m.ordinal LIMIT $4`,
};
const COUNT: Statement<{ points: number }, [agentId: string, most: number]> = {
  name: "count_fork_points",
  text: `SELECT count(*)::int AS points FROM (SELECT FROM message m WHERE m.agent_id = $1 AND ${SAFE} LIMIT $2) p`,
};
const FIND: Statement<ForkPoint, [agentId: string, messageId: string]> = {
  name: "find_fork_point",
  text: `SELECT ${COLUMNS} FROM message m WHERE m.agent_id = $1 AND m.id = $2 AND ${SAFE}`,
};

/** The points between two indexes (null: no bound), at most so many, from the newest or from the oldest on. */
export type ForkPointSpan = {
  readonly after: number | null;
  readonly before: number | null;
  readonly take: number;
  readonly from: "newest" | "oldest";
};

export async function readForkPoints(sql: Sql, agentId: string, span: ForkPointSpan): Promise<ForkPoint[]> {
  return sql.query(span.from === "newest" ? READ_POINTS : READ_OLDEST_POINTS, [agentId, span.after, span.before, span.take]);
}

/** The number of fork points, counted up to `most`. */
export async function countForkPoints(sql: Sql, agentId: string, most: number): Promise<number> {
  const [row] = await sql.query(COUNT, [agentId, most]);
  return row?.points ?? 0;
}

/** The point after this message, or the newest one for null; undefined if there is none. */
async function findForkPoint(sql: Sql, agentId: string, messageId: string | null): Promise<ForkPoint | undefined> {
  const newest = { after: null, before: null, take: 1, from: "newest" } as const;
  const [found] = messageId === null ? await readForkPoints(sql, agentId, newest) : await sql.query(FIND, [agentId, messageId]);
  return found;
}
