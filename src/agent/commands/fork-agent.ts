import { randomUUIDv7 } from "node:crypto";
import type { Statement } from "../../db/sql.ts";
import { newWrite } from "../../events/write.ts";
import { isInside } from "../../lib/path-inside.ts";
import { refused, type Result } from "../../lib/result.ts";
import { missingAbility } from "../actors/abilities.ts";
import { maySteer, type Actor } from "../actors/actor.ts";
import type { OwnPermission } from "../policy/agent-policy.ts";
import type { AgentServices } from "../loop/services.ts";
import { agentRow, createdEvent, type NewAgent } from "./agent-row.ts";
import { findForkPoint } from "./fork-points.ts";
import { findAgent } from "./find-agent.ts";
import { answerOf, claimKey, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import type { Outcome } from "../actors/outcome.ts";
import type { CommandRefusal } from "../actors/refusal.ts";

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
  readonly hooks: readonly string[];
};

const READ: Statement<Parent, [agentId: string]> = {
  name: "read_parent",
  text: `SELECT template_id AS "templateId", model, workspace, tool_timeout_ms AS "toolTimeoutMs", permission, lineage, title, coalesce(hooks, '[]'::json) AS hooks FROM agent WHERE id = $1`,
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
  const [parent] = await services.sql.query(READ, [found.value.id]);
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
  const agent: NewAgent = { id, actor, templateId, model, workspace, toolTimeoutMs, permission, hooks, title, at };
  const outcome = await services.log.commit(
    actor.tenant,
    { agentId: id, createdBy: actor.id, events: [createdEvent(agent, found.value.id)] },
    {
      ...claimKey(keyed, id, at),
      createAgent: {
        ...agentRow(agent),
        transcriptLength: point.index + 1,
        lastSfpIndex: point.index,
        lineage: [...(parent.lineage ?? []), found.value.id],
        forkedAt: point.index,
      },
      fork: { from: found.value.id, at: point.index },
    },
    newWrite(id),
  );
  return answerOf(id, outcome, (message) => {
    throw new Error(`an agent could not be forked: ${message}`);
  });
}
