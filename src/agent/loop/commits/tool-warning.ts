import type { AgentEventBody } from "../../../events/event.ts";

/** Something about a tool call that operators should know: an alarm is built on `phase: TOOL` and the word of `detail`. */
export function toolWarning({ detail, message }: { readonly detail: string; readonly message: string }): AgentEventBody {
  return { kind: "ERROR", severity: "WARN", phase: "TOOL", message, detail };
}
