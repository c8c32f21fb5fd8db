import { type Outage, retryWhileUnavailable } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import type { Owner } from "./owner.ts";
import type { ServerServices } from "./scope.ts";

/**
 * Reports an ended outage on the timeline of an agent that this server worked on: one STORAGE_FAILURE, after the
 * buffered events. It is written without a fence: it advances nothing, and matters most if another server owns the
 * agent. Never rejects.
 */
export async function reportOutage(services: ServerServices, owner: Owner, outage: Outage): Promise<void> {
  const { events: bufferedCount, first } = owner.waiting;
  const { agentId, createdBy, tenant } = owner.lease;
  const lostCount = await owner.settled();
  const body: AgentEventBody = {
    kind: "STORAGE_FAILURE",
    severity: "CRITICAL",
    since: outage.since.toISOString(),
    failedEvent: first,
    bufferedCount,
    lostCount,
    error: outage.problem,
  };
  try {
    const part = { agentId, createdBy, events: [{ at: services.clock.now(), body }] };
    await retryWhileUnavailable(services.sql, () => services.log.append(tenant, [part]));
  } catch (error) {
    services.logger.error(`an outage could not be reported for agent ${agentId}`, error);
  }
}
