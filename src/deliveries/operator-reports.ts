import { isServerTool } from "../agent/tools/tool.ts";
import type { TimelineEvent } from "../events/event.ts";
import type { EventLog } from "../events/log.ts";
import { TOOL_CALL_ERROR_TYPES, type ToolCallSnapshot } from "../events/snapshots.ts";
import { counted } from "../lib/text.ts";
import { idTime } from "../lib/time.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Meters } from "../telemetry/meters.ts";

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
      if (body.changedBy.kind === "SYSTEM")
        return logger.tell("rule_expired", "a stored rule has expired", { ...of, rule: body.rule.rule });
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

export const TOOL_OUTCOMES = ["completed", "cached", "sealed", ...TOOL_CALL_ERROR_TYPES] as const;
type ToolOutcome = (typeof TOOL_OUTCOMES)[number];

export function countWork(log: Pick<EventLog, "onCommitted">, meters: Meters): void {
  log.onCommitted((_tenant, events) => {
    meters.eventsCommitted(events.length);
    for (const event of events) count(event, meters);
  });
}

function count({ at, body }: TimelineEvent, meters: Meters): void {
  switch (body.kind) {
    case "TOOL_EXECUTED": {
      const { call } = body;
      const hasRun = call.startedAt !== null && call.cachedFrom === null && call.durationMs !== null;
      // A name that no tool has was invented by the model. So may one of an MCP server that is away.
      const { type = null } = call.error ?? {};
      const isInvented = type === "not_found" || (type === "disabled" && isServerTool(call.name));
      const tool = isInvented ? null : call.name;
      return meters.toolCalled(tool, outcomeOf(call), hasRun ? (call.durationMs ?? 0) / 1_000 : null);
    }
    case "DONE":
      return meters.turnEnded(body.reason);
    case "PERMISSION_REQUIRED":
      return meters.approvalAsked(body.request.kind);
    case "PERMISSION_DECIDED": {
      if (body.approvalState === "PENDING") return;
      const asked = idTime(body.approvalId);
      return meters.approvalClosed(body.approvalState, asked === null ? null : Math.max(0, at.getTime() - asked) / 1_000);
    }
    case "PERMISSION_CLOSED":
      return meters.approvalClosed(body.approvalState, null);
    default:
  }
}

function outcomeOf({ state, error, cachedFrom }: ToolCallSnapshot): ToolOutcome {
  if (state === "SEALED") return "sealed";
  if (error !== null) return error.type;
  return cachedFrom === null ? "completed" : "cached";
}
