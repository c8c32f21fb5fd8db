import type { AgentEventBody } from "../../../events/event.ts";

/** A warning to operators about a tool call. Alarms match `phase: TOOL` and the word in `detail`. */
export function toolWarning({ detail, message }: { readonly detail: string; readonly message: string }): AgentEventBody {
  return { kind: "ERROR", severity: "WARN", phase: "TOOL", message, detail };
}
