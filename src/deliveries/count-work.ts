import type { TimelineEvent } from "../events/event.ts";
import type { EventLog } from "../events/log.ts";
import { TOOL_CALL_ERROR_TYPES, type ToolCallSnapshot } from "../events/snapshots.ts";
import { idTime } from "../lib/time.ts";
import type { Meters } from "../telemetry/meters.ts";

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
      // A name that no tool has was invented by the model.
      const tool = call.error?.type === "not_found" ? null : call.name;
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
