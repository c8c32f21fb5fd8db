import type { Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { actorRef, type Actor, type Outcome, type CommandRefusal } from "../actors/actor.ts";
import type { AgentServices } from "../loop/scope.ts";
import { readTitle } from "../calls/agent-row.ts";
import { findSteered, type FoundAgent } from "./find-agent.ts";
import { agentsBelow, interruptAgent } from "./turn.ts";

/** Null removes the title. */
export type RenameAgent = { readonly agentId: string; readonly title: string | null };

/** After this many conflicts, a rename is an internal error. */
const TRIES = 10;

/** Renames an agent. Without a change there is no event. */
export async function renameAgent(
  services: Pick<AgentServices, "sql" | "log" | "clock">,
  actor: Actor,
  request: RenameAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const read = readTitle(request.title);
  if (!read.ok) return read;
  const title = read.value;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const found = await findSteered(services.sql, actor, request.agentId, "naming");
    if (!found.ok) return found;
    const { id, createdBy, title: previousTitle } = found.value;
    if (previousTitle === title) return accepted({ id, position: null });
    const body = { kind: "AGENT_RENAMED", previousTitle, title, changedBy: actorRef(actor) } as const;
    const part = { agentId: id, createdBy, events: [{ at: services.clock.now(), body }] };
    const outcome = await services.log.commit(actor.tenant, part, { rename: { from: previousTitle, to: title } });
    if (outcome.outcome === "COMMITTED") return accepted({ id, position: outcome.position });
  }
  throw new Error(`agent ${request.agentId} could not be renamed in ${TRIES} tries`);
}

export type ArchiveAgent = {
  readonly agentId: string;
  readonly isArchived: boolean;
  /** True to archive it although agents below it are at work. */
  readonly tree: boolean;
};

/** The agents below others that work, or wait to begin: also those whose rows are not made yet. */
const COUNT_WORKING: Statement<{ working: number }, [agentId: string, below: readonly string[]]> = {
  name: "count_working_agents",
  text: `SELECT (SELECT count(*) FROM agent a WHERE a.id = ANY ($2) AND (a.state <> 'READY' OR a.retry_turn IS NOT NULL OR EXISTS (
        SELECT FROM message m WHERE m.agent_id = a.id AND m.ordinal IS NULL AND m.withdrawn_at IS NULL AND (m.reminder IS NULL OR (m.reminder ->> 'startsTurn')::boolean))))::int
    + (SELECT count(*) FROM wait w WHERE w.agent_id = ANY (array_append($2::text[], $1)) AND w.kind IN ('CHILD', 'BACKGROUND_CHILD') AND w.settled_at IS NULL
        AND NOT EXISTS (SELECT FROM agent c WHERE c.id = w.ref))::int AS working`,
};

/**
 * Archives an agent, or unarchives it. An archived agent accepts no messages and is listed only on request. Work under
 * way ends as usual, but background shells are ended, and a turn that only waits ends as interrupted. Agents below it go
 * with it. Without a change there is no event.
 */
export async function archiveAgent(
  services: AgentServices,
  actor: Actor,
  { agentId, isArchived, tree }: ArchiveAgent,
): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findSteered(services.sql, actor, agentId, "archiving");
  if (!found.ok) return found;
  const below = await agentsBelow(services.sql, agentId);
  const [row] = await services.sql.query(COUNT_WORKING, [agentId, below]);
  const working = row?.working ?? 0;
  if (isArchived && working > 0) {
    const message = `${working === 1 ? "an agent below it is" : `${working} agents below it are`} at work: wait until it is idle, or archive the tree with \`tree: true\``;
    if (!tree) return refused({ code: "CHILDREN_WORK", field: ["agentId"], message });
    await interruptAgent(services, actor, { agentId, note: TREE_NOTE, tree: true });
  }
  const { createdBy } = found.value;
  const own = await archiveOne(services, actor, { id: agentId, createdBy }, isArchived);
  // From here on no child is made below it.
  for (const id of await agentsBelow(services.sql, agentId)) {
    const isNew = isArchived && tree && !below.includes(id);
    if (isNew) await interruptAgent(services, actor, { agentId: id, note: TREE_NOTE, tree: false });
    await archiveOne(services, actor, { id, createdBy }, isArchived);
  }
  return accepted(own);
}

const TREE_NOTE = "the tree is archived";

async function archiveOne(
  { log, clock }: Pick<AgentServices, "log" | "clock">,
  actor: Actor,
  { id, createdBy }: Pick<FoundAgent, "id" | "createdBy">,
  isArchived: boolean,
): Promise<Outcome> {
  const at = clock.now();
  const body = { kind: isArchived ? "AGENT_ARCHIVED" : "AGENT_UNARCHIVED", changedBy: actorRef(actor) } as const;
  const outcome = await log.commit(
    actor.tenant,
    { agentId: id, createdBy, events: [{ at, body }] },
    { wake: true, archive: { at: isArchived ? at.toISOString() : null } },
  );
  return { id, position: outcome.outcome === "COMMITTED" ? outcome.position : null };
}
