import type { TimelineEvent } from "../events/event.ts";
import type { EventLog } from "../events/log.ts";
import { counted } from "../lib/counted.ts";
import type { Logger } from "../telemetry/log.ts";

/**
 * Tells the operator, in the log of the server that committed it, of what they may have to act on: takeovers and handovers, turns that failed, rules
 * and configurations that changed: `digest` is that of this server's. Names and numbers alone: what models and providers say may be of a
 * conversation.
 */
export function tellOperator(log: Pick<EventLog, "onCommitted">, logger: Logger, digest: string): void {
  log.onCommitted((_tenant, events) => {
    for (const event of events) tell(event, events, logger, digest);
  });
}

function tell(
  { tenant, agentId, body }: TimelineEvent,
  together: readonly TimelineEvent[],
  logger: Logger,
  digest: string,
): void {
  const of = { tenant, ...(agentId === null ? {} : { agent: agentId }) };
  switch (body.kind) {
    case "AGENT_RESUMED": {
      if (body.strategy === "PLANNED") return logger.tell("handover", "an agent was handed over by another server", of);
      const sealed = body.sealed.length === 0 ? "" : `, and ${counted(body.sealed.length, "call")} of unknown outcome sealed`;
      return logger.tell("takeover", `an agent was taken over after its server broke off${sealed}`, {
        ...of,
        reason: body.strategy,
      });
    }
    case "DONE":
      if (body.reason !== "ERROR") return;
      return logger.tell("turn_failed", "a turn ended with an error", { ...of, reason: reasonOf(agentId, together) });
    case "ERROR":
      if (body.detail !== "folder_hung") return;
      return logger.tell("folder_hung", "the file system of an agent's folder does not answer: the agent waits", of);
    case "ALLOW_RULE_STORED":
      return logger.tell("rule_stored", "a person stored a rule", { ...of, rule: body.rule.rule, actor: body.changedBy.id });
    case "ALLOW_RULE_REVOKED":
      return logger.tell("rule_revoked", "a person revoked a rule", { ...of, rule: body.rule.rule, actor: body.changedBy.id });
    case "CONFIGURATION_CHANGED": {
      const parts = body.changes.slice(0, PARTS).map(({ part, change }) => `${part} ${change.toLowerCase()}`);
      const more = body.changeCount > PARTS ? ` and ${body.changeCount - PARTS} more` : "";
      const message = `the configuration is another one than before: ${parts.join(", ")}${more}`;
      return logger.tell("configuration", message, { ...of, digest });
    }
    default:
  }
}

/** The parts of a configuration that one line names. */
const PARTS = 10;

/** Where a turn failed, as the error says that was committed with its end. */
function reasonOf(agentId: string | null, together: readonly TimelineEvent[]): string {
  const error = together.findLast(({ agentId: of, body }) => of === agentId && body.kind === "ERROR")?.body;
  return error?.kind === "ERROR" ? [error.phase, error.detail].filter((part) => part !== null).join(" ") : "unknown";
}
