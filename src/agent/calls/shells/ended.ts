import type { EventLog } from "../../../events/log.ts";
import { marked } from "../../../lib/text.ts";
import type { ShellEnd } from "../../tools/bash/shells.ts";
import type { LostShell } from "./rows.ts";

/** The longest command line in an event, in bytes: the row has the whole. */
const COMMAND_BYTES = 2_000;

/** The command line as events tell it. */
export function shownCommand(command: string): string {
  return marked(command, COMMAND_BYTES, "the shell has the whole");
}

/**
 * Commits that a shell has ended. `server` is the one that ran it; null for another one, which may say so only if the shell's lease
 * has run out. False if somebody was faster.
 */
export async function commitEnd(
  log: EventLog,
  { id, tenant, agentId, createdBy, callId, command, startedAt }: LostShell,
  { endReason, exitCode, signal }: ShellEnd,
  server: string | null,
  at: Date,
): Promise<boolean> {
  const durationMs = Math.max(0, at.getTime() - startedAt.getTime());
  const body = {
    kind: "SHELL_ENDED",
    shellId: id,
    callId,
    command: shownCommand(command),
    endReason,
    exitCode,
    signal,
    durationMs,
  } as const;
  // The model reads the end of what it has killed, and of what was never started, as the result of its call.
  const isEndTold = endReason === "KILLED" || endReason === "NOT_STARTED";
  const { outcome } = await log.commit(
    tenant,
    { agentId, createdBy, events: [{ at, body }] },
    { wake: true, shellEnd: { id, server, endReason, exitCode, signal, endedAt: at, isEndTold } },
  );
  return outcome === "COMMITTED";
}
