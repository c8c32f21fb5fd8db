import { setTimeout as delay } from "node:timers/promises";
import type { Statement } from "../../db/sql.ts";
import type { ActorKind } from "../../db/generated/enums.ts";
import { MOST_NAMED_AGENTS } from "../../events/tenant-event.ts";
import { refused, accepted, type Result } from "../../lib/result.ts";
import { actorRef, missingAbility, type Actor, type CommandRefusal, type Outcome } from "../actors/actor.ts";
import { IS_IDLE } from "../waits/idle.ts";
import { foldAudit, auditsBehind } from "../calls/audit/fold.ts";
import type { AgentServices } from "../loop/scope.ts";
import { findAgent } from "./find-agent.ts";

type Tree = {
  readonly parentId: string | null;
  readonly templateId: string;
  readonly createdBy: string;
  readonly createdByKind: ActorKind;
  readonly agentIds: readonly string[];
  readonly messages: number;
  readonly steps: number;
  readonly unarchived: number;
  readonly working: number;
  /** Those of them that only wait until their server lets them go. */
  readonly leaving: number;
  readonly questions: number;
};

const HAS_UNREAD = "EXISTS (SELECT FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL)";

const READ: Statement<Tree, [agentId: string]> = {
  name: "read_tree_to_delete",
  text: `WITH tree AS (SELECT a.* FROM agent r JOIN agent a ON a.tenant = r.tenant AND (a.id = r.id OR a.root_id = r.id) WHERE r.id = $1)
    SELECT r.parent_id AS "parentId", r.template_id AS "templateId", r.created_by AS "createdBy", r.created_by_kind AS "createdByKind",
      t."agentIds", t.messages, t.steps, t.unarchived, t.working, t.leaving, t.questions
    FROM agent r, LATERAL (SELECT array_agg(a.id ORDER BY a.created_at, a.id) AS "agentIds", sum(a.transcript_length)::float8 AS messages, sum(a.step_count)::float8 AS steps,
        (count(*) FILTER (WHERE a.archived_at IS NULL))::int AS unarchived,
        (count(*) FILTER (WHERE NOT (${IS_IDLE}) OR ${HAS_UNREAD}))::int AS working,
        (count(*) FILTER (WHERE NOT (${IS_IDLE}) AND a.state = 'READY' AND a.retry_turn IS NULL AND NOT ${HAS_UNREAD}
          AND NOT EXISTS (SELECT FROM shell s WHERE s.agent_id = a.id AND s.state = 'RUNNING')))::int AS leaving,
        (SELECT count(*)::int FROM approval p WHERE p.agent_id IN (SELECT id FROM tree) AND p.state = 'PENDING') AS questions FROM tree a) t
    WHERE r.id = $1`,
};

/** The tries of a commit that found the tree otherwise, or the audit behind. */
const TRIES = 10;
const AGAIN_MS = 100;
/** The longest that a server may take to let an idle agent go, in ms: one that died keeps its lease. */
const LEAVING_MS = 10_000;
/** The chunks by which the audit is brought to the end of the log between two tries. */
const CHUNKS = 50;

/**
 * Deletes an archived agent with its tree. From the commit on the agents have no readers and no writers. A sweep removes
 * their rows and events in chunks. The rows of the audit stay.
 */
export async function deleteAgent(
  { sql, log, clock }: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  agentId: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const missing = missingAbility(actor, "DELETE_AGENTS");
  if (missing !== null) return refused(missing);
  const leftBy = performance.now() + LEAVING_MS;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await findAgent(sql, actor, agentId);
    if (!found.ok) return found;
    let [tree] = await sql.query(READ, [agentId]);
    while (tree !== undefined && onlyLeaves(tree) && performance.now() < leftBy) {
      await delay(AGAIN_MS);
      [tree] = await sql.query(READ, [agentId]);
    }
    if (tree === undefined) continue;
    if (onlyLeaves(tree)) return refused(STILL_HELD);
    const problem = problemOf(tree);
    if (problem !== null) return refused({ ...problem, field: ["agentId"] });
    await auditsBehind(sql);
    for (let chunk = 0; chunk < CHUNKS && !(await foldAudit(sql, actor.tenant)); chunk += 1);
    const at = clock.now();
    const { templateId, agentIds } = tree;
    const body = {
      kind: "AGENT_DELETED",
      deletedAgentId: agentId,
      templateId,
      createdBy: { id: tree.createdBy, kind: tree.createdByKind },
      agentIds: agentIds.slice(0, MOST_NAMED_AGENTS),
      agentCount: agentIds.length,
      messageCount: tree.messages,
      stepCount: tree.steps,
      changedBy: actorRef(actor),
    } as const;
    const by = { deletedBy: actor.id, deletedByKind: actor.kind, deletedAt: at };
    const outcome = await log.commitTenant(actor.tenant, [{ at, body }], {
      deleteAgent: { rootId: agentId, agents: agentIds.length, ...by },
    });
    if (outcome.outcome === "COMMITTED") return accepted({ id: agentId, position: outcome.position });
  }
  return refused({
    code: "UNAVAILABLE",
    field: null,
    message: "the audit has not seen all events of the agent yet: try again in a minute",
  });
}

const STILL_HELD: CommandRefusal = {
  code: "AT_WORK",
  field: ["agentId"],
  message: "a server still has the agent, or one below it, or closes its questions: try again in a minute",
};

/** True if the tree is archived and only waits: servers close the questions of archived agents, and let idle agents go. */
function onlyLeaves({ parentId, unarchived, working, leaving, questions }: Tree): boolean {
  return parentId === null && unarchived === 0 && (questions > 0 || (working > 0 && working === leaving));
}

function problemOf({ parentId, unarchived, working }: Tree): Pick<CommandRefusal, "code" | "message"> | null {
  if (parentId !== null)
    return { code: "INVALID", message: "the agent is below another one: delete the first agent of its tree" };
  if (unarchived > 0) return { code: "NOT_ARCHIVED", message: "the agent is not archived with its tree: `archiveAgent` first" };
  if (working > 0)
    return { code: "AT_WORK", message: "the agent, or one below it, is at work: wait for its end, or interrupt it" };
  return null;
}
