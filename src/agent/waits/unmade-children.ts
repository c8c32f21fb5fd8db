import type { Statement } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { FULL_TREE } from "../calls/children.ts";
import { notice } from "../calls/notices.ts";
import type { CallServices } from "../calls/scope.ts";

/** The reasons for which a child is not made. */
export const NOT_STARTED = {
  full: { outcome: "error", text: FULL_TREE },
  archived: { outcome: "interrupted", text: "an agent above it was archived" },
  interrupted: { outcome: "interrupted", text: "the tree was interrupted" },
} as const;
export type NotStarted = (typeof NOT_STARTED)[keyof typeof NOT_STARTED];

/** The notice, and the event, of a child that was not made. */
export function notStarted(childId: string, callId: string, { outcome, text }: NotStarted) {
  const returned: AgentEventBody = { kind: "AGENT_RETURNED", callId, childId, outcome, text };
  const source = outcome === "interrupted" ? "INTERRUPTED_CHILD" : "CHILD";
  return { returned, told: { source, text: `The agent ${childId} has not started: ${text}` } } as const;
}

type Unmade = {
  readonly agentId: string;
  readonly tenant: string;
  readonly createdBy: string;
  readonly callId: string;
  readonly childId: string;
};

const FIND: Statement<Unmade, [agentIds: readonly string[]]> = {
  name: "find_unmade_children",
  text: `SELECT w.agent_id AS "agentId", w.tenant, a.created_by AS "createdBy", w.call_id AS "callId", w.ref AS "childId"
    FROM wait w JOIN agent a ON a.id = w.agent_id WHERE w.agent_id = ANY ($1) AND w.kind = 'BACKGROUND_CHILD' AND w.settled_at IS NULL
      AND NOT EXISTS (SELECT FROM agent c WHERE c.id = w.ref) ORDER BY w.ref`,
};

/**
 * Ends the waits of these agents for children in the background that have no rows yet. They count as interrupted. A child
 * that is made meanwhile stays.
 */
export async function endUnmade(
  { sql, log, clock }: Pick<CallServices, "sql" | "log" | "clock">,
  agentIds: readonly string[],
): Promise<void> {
  for (const { agentId, tenant, createdBy, callId, childId } of await sql.query(FIND, [agentIds])) {
    const at = clock.now();
    const { returned, told } = notStarted(childId, callId, NOT_STARTED.interrupted);
    await log.commit(
      tenant,
      { agentId, createdBy, events: [{ at, body: returned }] },
      {
        notices: [notice({ id: agentId, tenant }, { ...told, ref: childId }, at)],
        waitSettled: { ref: childId, at: at.toISOString(), isUnmade: true },
      },
    );
  }
}
