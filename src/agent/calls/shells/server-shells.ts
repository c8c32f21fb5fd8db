import { randomUUIDv7 } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { OwnerChange } from "../../../db/commit/change.ts";
import { retryWhileUnavailable, type Sql } from "../../../db/sql.ts";
import type { AgentEventBody } from "../../../events/event.ts";
import type { EventLog } from "../../../events/log.ts";
import { SHELL_END_REASONS, type ShellEndReason } from "../../../events/snapshots.ts";
import { withCause } from "../../../lib/text.ts";
import { type Clock, Deadline, every } from "../../../lib/time.ts";
import type { Logger } from "../../../telemetry/log.ts";
import type { ShellEnd, ShellLogs, ShellPiece, FoundShell } from "../../tools/bash/shells.ts";
import type { StartOptions } from "../../tools/programs.ts";
import { readSegments, Segments } from "../../workspace/output/segments.ts";
import { type ProcessGroup, ProgramLease } from "../../workspace/process-groups.ts";
import type { ToolOutputs } from "../outputs.ts";
import { startProgram, type ProgramPlace, type ProgramServices } from "../programs/programs.ts";
import { untilEnd } from "../programs/until-end.ts";
import { commitEnd, shownCommand } from "./ended.ts";
import { countRunning, lookAtShells, readShell, renewShells, stateOf, type StartedShell } from "./rows.ts";

/** The time between two checks of this server's shell rows, in ms: leases are renewed, and requested ends are made. */
const LOOK_MS = 1_000;
/** The retries for a lease whose row is locked, each in ms after the one before. */
const LOCKED_MS = [0, 20, 100, 500];

export type ShellServices = ProgramServices & {
  readonly serverId: string;
  readonly sql: Sql;
  /** The connections for renewals, which never wait for other work. */
  readonly leases: Sql;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly outputs: ToolOutputs;
  readonly leaseTimes: { readonly ttlMs: number; readonly renewMs: number };
  /** For how long shells may run without a renewal of their lease, in ms. */
  readonly programMs: number;
};

export type ShellCall = Omit<ProgramPlace, "lease"> & {
  readonly tenant: string;
  readonly createdBy: string;
  readonly callId: string;
  /** Aborts when the call ends: then a shell that has not started does not start. */
  readonly ended: AbortSignal;
  /** The most shells of the agent, and the time limit of each, in ms. */
  readonly most: number;
  readonly mostMs: number;
  /** Commits the row under the agent's lease. False if it was refused. */
  commit(start: NonNullable<OwnerChange["shellStart"]>, event: AgentEventBody): Promise<boolean>;
};

/**
 * The background shells of this server. Each is a row with its own lease, which this server renews until the shell's
 * end is committed. The row's end and its event are one commit. A shell whose lease cannot be renewed is killed before
 * the lease expires, so that it never runs beside another owner of its agent.
 */
export class ServerShells {
  readonly #services: ShellServices;
  readonly #running = new Map<string, RunningShell>();
  readonly #leases = new Map<string, ProgramLease>();
  readonly #reporting = new Map<string, Promise<void>>();
  readonly #listeners = new Set<(shell: StartedShell) => void>();
  readonly #closing = new AbortController();
  readonly #looking: Promise<unknown>;
  #isClosed = false;

  constructor(services: ShellServices) {
    this.#services = services;
    const { leaseTimes, log, logger } = services;
    const onFailure = (error: unknown): void =>
      logger.warn(`the leases of background shells could not be renewed (${withCause(error)}); trying again`);
    const pauseMs = (): number => Math.min(LOOK_MS, leaseTimes.renewMs);
    log.onCommitted((_tenant, events) => {
      const isMine = (agentId: string | null): boolean => [...this.#running.values()].some(({ row }) => row.agentId === agentId);
      const isEnd = events.some(
        ({ agentId, body: { kind } }) => (kind === "INTERRUPT_REQUESTED" || kind === "AGENT_ARCHIVED") && isMine(agentId),
      );
      if (isEnd) void this.#look().catch(onFailure);
    });
    this.#looking = every({ pauseMs, task: () => this.#look(), onFailure }, this.#closing.signal);
  }

  get size(): number {
    return this.#running.size;
  }

  holds(id: string): boolean {
    return this.#leases.has(id);
  }

  onEnded(listener: (shell: StartedShell) => void): void {
    this.#listeners.add(listener);
  }

  /** Ends all shells, and waits for the commits of their ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const shell of this.#running.values()) shell.end("SERVER_CLOSED");
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await Promise.all(this.#reporting.values());
    this.#closing.abort();
    await this.#looking;
  }

  /** Starts a command line in the background. Its row is committed before its program starts (invariant 5). */
  async start(
    call: ShellCall,
    command: string,
    argv: readonly [file: string, ...args: string[]],
    { timeoutMs, ...options }: StartOptions & { readonly timeoutMs: number | null },
  ): Promise<string> {
    const { sql, serverId, clock, leaseTimes, outputs } = this.#services;
    if (this.#isClosed) throw new Error("the server closes: nothing more is started");
    if ((await countRunning(sql, call.agentId)) >= call.most)
      throw new Error(`you have ${call.most} background shells that run, which is the most: end one with bash_kill`);
    const { agentId, tenant, createdBy, callId } = call;
    const row: StartedShell = { id: randomUUIDv7(), tenant, agentId, createdBy, callId, command, startedAt: clock.now() };
    const event = { kind: "SHELL_STARTED", shellId: row.id, callId, command: shownCommand(command) } as const;
    const start = { row: rowOf(row, serverId), limit: call.most, leaseMs: leaseTimes.ttlMs };
    if (!(await call.commit(start, event)))
      throw new Error("the shell was not started: the turn was interrupted, the agent archived, or too many shells run");
    try {
      const lease = await this.#takeLease(row);
      const group = await startProgram(this.#services, { ...call, lease }, argv, { ...options, isBackground: true }, call.ended);
      const folder = outputs.shell(row.id);
      const mostMs = Math.min(timeoutMs ?? call.mostMs, call.mostMs);
      const shell = new RunningShell(row, group, { folder, mostMs, lease });
      this.#running.set(row.id, shell);
      outputs.leaveAlone(folder, shell.ended);
      void shell.ended.then((end) => this.#reported(row, end));
      if (call.ended.aborted) shell.end("INTERRUPTED");
      if (this.#isClosed) shell.end("SERVER_CLOSED");
    } catch (error) {
      await this.#reported(row, { endReason: "NOT_STARTED", exitCode: null, signal: null });
      throw error;
    }
    return row.id;
  }

  /**
   * Renews the lease of a shell that is about to start: its commit may have taken longer than the lease. Throws if
   * others may have closed the shell.
   */
  async #takeLease({ id, tenant, agentId }: StartedShell): Promise<ProgramLease> {
    const { leases, serverId, leaseTimes, programMs } = this.#services;
    for (const waitMs of LOCKED_MS) {
      await delay(waitMs);
      const until = new Deadline(programMs);
      const renewed = await renewShells(leases, serverId, [id], leaseTimes.ttlMs);
      if (!renewed.has(id)) continue;
      const lease = new ProgramLease(until, { tenant, agent: agentId, shell: id });
      this.#leases.set(id, lease);
      return lease;
    }
    throw new Error("the shell was not started: its server did not have its lease in time, so another may have gone on");
  }

  /** A piece of a shell's output; null if the agent has no such shell. */
  async logs(agentId: string, shellId: string, piece: ShellPiece): Promise<ShellLogs | null> {
    const { sql, serverId, outputs } = this.#services;
    const row = await readShell(sql, agentId, shellId);
    if (row === null) return null;
    const found = await readSegments(outputs.shell(shellId), { ...piece, isOpen: this.#running.has(shellId) });
    const nothing = row.server === serverId ? { text: "", from: 0, to: 0, total: 0 } : null;
    return { ...stateOf(row), output: found ?? nothing, server: `${row.server} on ${row.host}` };
  }

  /** Ends an agent's shell, and waits for the commit; null if the agent has no such shell. */
  async kill(agentId: string, shellId: string): Promise<FoundShell | null> {
    const { sql } = this.#services;
    const row = await readShell(sql, agentId, shellId);
    const shell = this.#running.get(shellId);
    if (row === null || row.state === "ENDED" || shell === undefined) return row === null ? null : stateOf(row);
    shell.end("KILLED");
    const end = await shell.ended;
    await this.#reporting.get(shellId);
    return { shellId, command: row.command, end };
  }

  #reported(row: StartedShell, end: ShellEnd): Promise<void> {
    const reporting = this.#report(row, end).finally(() => {
      this.#running.delete(row.id);
      this.#leases.delete(row.id);
      this.#reporting.delete(row.id);
    });
    this.#reporting.set(row.id, reporting);
    return reporting;
  }

  async #report(row: StartedShell, end: ShellEnd): Promise<void> {
    const { sql, serverId, clock, logger } = this.#services;
    try {
      const at = clock.now();
      await retryWhileUnavailable(sql, () => commitEnd(this.#services, row, end, serverId, at));
    } catch (error) {
      logger.warn(
        `the end of shell ${row.id} could not be committed (${withCause(error)}); it is closed when its lease has run out`,
      );
    }
    for (const listener of this.#listeners) listener(row);
  }

  async #look(): Promise<void> {
    const ids = [...this.#leases.keys()];
    if (ids.length === 0) return;
    const { leases, serverId, leaseTimes, programMs } = this.#services;
    const until = new Deadline(programMs);
    for (const id of await renewShells(leases, serverId, ids, leaseTimes.ttlMs)) this.#leases.get(id)?.renew(until);
    const rows = await lookAtShells(leases, serverId, ids);
    for (const id of ids) {
      const wanted = rows.get(id);
      if (wanted === null) continue;
      this.#running.get(id)?.end(SHELL_END_REASONS.find((reason) => reason === wanted) ?? "SERVER_LOST");
    }
  }
}

function rowOf(
  { id, tenant, agentId, callId, command, startedAt }: StartedShell,
  server: string,
): NonNullable<OwnerChange["shellStart"]>["row"] {
  return {
    id,
    tenant,
    agentId,
    callId,
    command,
    server,
    host: hostname(),
    leaseUntil: null,
    state: "RUNNING",
    endWanted: null,
    endReason: null,
    exitCode: null,
    signal: null,
    startedAt,
    endedAt: null,
  };
}

export class RunningShell {
  readonly row: StartedShell;
  /** Resolves when the shell has ended, and its output is written. Never rejects. */
  readonly ended: Promise<ShellEnd>;
  readonly #group: ProcessGroup;
  readonly #output: Segments;
  readonly #timer: NodeJS.Timeout;
  #reason: ShellEndReason = "EXITED";
  readonly #lease: ProgramLease;

  constructor(
    row: StartedShell,
    group: ProcessGroup,
    { folder, mostMs, lease }: { readonly folder: string; readonly mostMs: number; readonly lease: ProgramLease },
  ) {
    this.row = row;
    this.#group = group;
    this.#output = new Segments(folder);
    this.#lease = lease;
    this.#timer = setTimeout(() => this.end("TIME_UP"), mostMs);
    this.ended = this.#run();
  }

  /** Kills the shell and its descendants. The first reason stays. */
  end(reason: ShellEndReason): void {
    const { exitCode, signalCode } = this.#group.process;
    if (this.#reason === "EXITED" && exitCode === null && signalCode === null) this.#reason = reason;
    this.#group.end();
  }

  async #run(): Promise<ShellEnd> {
    this.#group.process.stdin.end();
    let writing: Promise<void> = this.#output.begin().catch(() => {});
    const take = (chunk: Buffer): Promise<void> => (writing = writing.then(() => this.#write(chunk)));
    const nobodyKnows = { code: null, signal: null, notes: [] };
    const { code, signal, notes } = await untilEnd(this.#group, take).catch(() => nobodyKnows);
    clearTimeout(this.#timer);
    // The guard killed it, which is not reported otherwise.
    if (this.#reason === "EXITED" && signal === "SIGKILL" && this.#lease.isOver) this.#reason = "SERVER_LOST";
    for (const note of notes) await take(Buffer.from(`\n[${note}]\n`));
    await writing;
    await this.#output.close().catch(() => {});
    return { endReason: this.#reason, exitCode: code, signal };
  }

  /** A full disk must not stop the shell: unwritten output is missing. */
  async #write(chunk: Buffer): Promise<void> {
    await this.#output.write(chunk).catch(() => {});
  }
}
