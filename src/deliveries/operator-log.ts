import type { TimelineEvent } from "../events/event.ts";
import type { EventLog } from "../events/log.ts";
import { counted } from "../lib/text.ts";
import type { Logger } from "../telemetry/log.ts";

/**
 * Logs the events of this server's commits that an operator may act on: takeovers and handovers, failed turns, changed
 * rules and configurations (`digest`: this server's). Only names and numbers: messages of models and providers may
 * quote a conversation.
 */
export function logForOperator(log: Pick<EventLog, "onCommitted">, logger: Logger, digest: string): void {
  log.onCommitted((_tenant, events) => {
    for (const event of events) logEvent(event, events, logger, digest);
  });
}

function logEvent(
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

const PARTS = 10;

/** The place of a turn's failure, by the error that was committed with its end. */
function reasonOf(agentId: string | null, together: readonly TimelineEvent[]): string {
  const error = together.findLast(({ agentId: of, body }) => of === agentId && body.kind === "ERROR")?.body;
  return error?.kind === "ERROR" ? [error.phase, error.detail].filter((part) => part !== null).join(" ") : "unknown";
}
