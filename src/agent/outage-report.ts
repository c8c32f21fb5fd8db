import type { Outage } from "../db/outage.ts";
import { StorageUnavailable } from "../db/sql.ts";
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
    await appendPatiently(parts, tenant, { agentId, createdBy, epoch: null, events: [{ at: parts.clock.now(), body }] });
  } catch (error) {
    parts.logger.error(`an outage could not be reported for agent ${agentId}`, error);
  }
}

async function appendPatiently(
  { log, sql }: AgentParts,
  tenant: string,
  part: Parameters<AgentParts["log"]["append"]>[1][number],
): Promise<void> {
  for (;;) {
    try {
      await log.append(tenant, [part]);
      return;
    } catch (error) {
      if (!(error instanceof StorageUnavailable)) throw error;
      await sql.outages.over();
    }
  }
}
