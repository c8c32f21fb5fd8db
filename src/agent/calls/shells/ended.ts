import type { Sql } from "../../../db/sql.ts";
import type { EventLog } from "../../../events/log.ts";
import { marked } from "../../../lib/text.ts";
import { endWords } from "../../tools/bash/background-shells.ts";
import type { ShellEnd } from "../../tools/bash/shells.ts";
import { endedHosts, type EndedHosts } from "../hosts/ended-hosts.ts";
import { notice } from "../notices.ts";
import { commandBeginning, type StartedShell } from "./rows.ts";

/** The longest command line in an event, in bytes: the row has the whole. */
const COMMAND_BYTES = 2_000;

export function shownCommand(command: string): string {
  return marked(command, COMMAND_BYTES, "the shell has the whole");
}

const TRIES = 20;

export type EndServices = { readonly log: EventLog; readonly sql: Sql };

/**
 * Commits the end of a shell, and closes the questions about hosts that it alone has asked. `server` ran it; null for
 * another server, which must wait until the shell's lease has expired. False if another commit came first.
 */
export async function commitEnd(
  { log, sql }: EndServices,
  shell: StartedShell,
  end: ShellEnd,
  server: string | null,
  at: Date,
): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const hosts = await endedHosts(sql, shell, at);
    if (await tryToEnd(log, shell, { ...end, hosts }, server, at)) return true;
    // A question may have been joined or answered meanwhile: it is read again. If the shell was ended by another
    // server, that server closed the questions.
    if (hosts.events.length === 0) return false;
  }
  throw new Error(`the end of shell ${shell.id} could not be committed in ${TRIES} tries`);
}

async function tryToEnd(
  log: EventLog,
  { id, tenant, agentId, createdBy, callId, command, startedAt }: StartedShell,
  { endReason, exitCode, signal, hosts }: ShellEnd & { readonly hosts: EndedHosts },
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
  // For a killed shell, or one that never started, the call's result tells the model.
  const isTold = endReason === "KILLED" || endReason === "NOT_STARTED";
  const text = `The background shell ${id} (${commandBeginning(command)}) has ended: ${endWords({ endReason, exitCode, signal })}. bash_logs has what it said, if it said anything.`;
  const { outcome } = await log.commit(
    tenant,
    { agentId, createdBy, events: [body, ...hosts.events].map((each) => ({ at, body: each })) },
    {
      wake: true,
      approvalTransitions: hosts.approvalTransitions,
      shellEnd: { id, server, endReason, exitCode, signal, endedAt: at },
      notices: isTold ? [] : [notice({ id: agentId, tenant }, { source: "SHELL", ref: id, text }, at)],
    },
  );
  return outcome === "COMMITTED";
}
