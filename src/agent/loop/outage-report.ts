import type { Outage } from "../../db/outage.ts";
import { patiently } from "../../db/patient.ts";
import type { EventBody } from "../../events/event.ts";
import type { Owner } from "./owner.ts";
import type { AgentParts } from "./parts.ts";

/**
 * Reports an outage that is over on the timeline of an agent that this node has worked on meanwhile: one STORAGE_FAILURE,
 * after what had waited. It is written without a fence, since it advances nothing, and is most wanted where the agent is
 * another's by now. Never rejects.
 */
export async function reportOutage(parts: AgentParts, owner: Owner, outage: Outage): Promise<void> {
  const { events: bufferedCount, first } = owner.waiting;
  const { agentId, createdBy, tenant } = owner.lease;
  const lostCount = await owner.settled();
  const body: EventBody = {
    kind: "STORAGE_FAILURE",
    severity: "CRITICAL",
    since: outage.since.toISOString(),
    failedEvent: first,
    bufferedCount,
    lostCount,
    error: outage.problem,
  };
  try {
    const part = { agentId, createdBy, events: [{ at: parts.clock.now(), body }] };
    await patiently(parts.sql, () => parts.log.append(tenant, [part]));
  } catch (error) {
    parts.logger.error(`an outage could not be reported for agent ${agentId}`, error);
  }
}
