import { patiently, type Outage } from "../db/outage.ts";
import type { EventBody } from "../events/event.ts";
import type { Hold } from "./hold.ts";
import type { AgentParts } from "./parts.ts";

/**
 * Reports an outage that is over on the timeline of an agent that this node has worked on meanwhile: one STORAGE_FAILURE,
 * after what had waited. It is written without a fence, since it advances nothing, and is most wanted where the agent is
 * another's by now. Never rejects.
 */
export async function reportOutage(parts: AgentParts, hold: Hold, outage: Outage): Promise<void> {
  const { events: bufferedCount, first } = hold.waiting;
  const { agentId, createdBy, tenant } = hold.lease;
  const lostCount = await hold.settled();
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
    const part = { agentId, createdBy, fence: null, events: [{ at: parts.clock.now(), body }] };
    await patiently(parts.sql, () => parts.log.append(tenant, [part]));
  } catch (error) {
    parts.logger.error(`an outage could not be reported for agent ${agentId}`, error);
  }
}
