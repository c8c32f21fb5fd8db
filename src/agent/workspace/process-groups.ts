import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Deadline } from "../../lib/time.ts";
import { startGuard, type ProcessGuard } from "./process-guard.ts";

/** The share of a lease after which programs are killed without a renewal, so that none runs when others may take over. */
export const ALIVE_SHARE = 0.8;

export const TICK_SHARE = 0.05;

export type ProgramsOf = { readonly tenant: string; readonly agent: string; readonly shell?: string };

/**
 * The right of programs to run, while the lease of their agent or background shell certainly holds. The server's guard
 * kills them without a timely renewal, also while the server is stopped.
 */
export class ProgramLease {
  readonly #listeners = new Set<(until: Deadline) => void>();
  readonly of: ProgramsOf;
  #until: Deadline;

  constructor(until: Deadline, of: ProgramsOf) {
    this.#until = until;
    this.of = of;
  }

  get until(): Deadline {
    return this.#until;
  }

  get isOver(): boolean {
    return this.#until.isOver;
  }

  renew(until: Deadline): void {
    this.#until = until;
    for (const listener of this.#listeners) listener(until);
  }

  onRenewed(listener: (until: Deadline) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

export type GroupedProcess = ChildProcessByStdio<Writable, Readable, Readable>;

export type ProgramEnd = { readonly notes: readonly string[] };

/**
 * A program and its descendants as one group. `end` kills those that still run. `ended` resolves after the program's
 * end, and never rejects: in a box once the whole group has ended and its leftovers are removed.
 */
export type ProcessGroup = { readonly process: GroupedProcess; end(): void; readonly ended: Promise<ProgramEnd> };

export type FurtherStream = "pipe" | "ipc";

export type StartOptions = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly streams?: readonly FurtherStream[];
  readonly limits?: string;
  /** The program is killed when the lease expires; without one it may run as long as the server. */
  readonly lease?: ProgramLease;
};

const CUT_OFF =
  "it was killed, because this server could not renew its lease in time: what it had done by then stands, so look before you repeat it";

/** Waits for the start signal, which never comes if the server ends first, sets limits, and becomes the program. */
const starter = (limits: string): string => `read -r go <&3 || exit 1; exec 3<&-; ${limits} exec "$0" "$@"`;

/**
 * Starts programs in their own process groups, which never outlive this process or their lease, even if this process is
 * stopped. Programs that leave their group (setsid) are ended only by a container or a sandbox.
 */
export class ProcessGroups {
  readonly #groups = new Map<number, Group>();
  readonly #tickMs: number;
  readonly #onCutOff: (of: ProgramsOf) => void;
  #guard: ProcessGuard | null = null;
  #isClosed = false;

  /**
   * `tickMs`: the time between two checks of the guard for expired leases, 500 if omitted. `onCutOff` is called for
   * each program that the guard has killed.
   */
  constructor(tickMs = 500, onCutOff: (of: ProgramsOf) => void = () => {}) {
    this.#tickMs = tickMs;
    this.#onCutOff = onCutOff;
  }

  get size(): number {
    return this.#groups.size;
  }

  /**
   * Starts a program, without a shell. A missing program exits with 127. If the start fails (missing folder, no more
   * processes), the process emits `error`, which needs no listener.
   */
  start(file: string, args: readonly string[], { folder, env, streams = [], limits = "", lease }: StartOptions): ProcessGroup {
    if (this.#isClosed) throw new Error("the server closes: nothing more is started");
    const child = spawn("/bin/sh", ["-c", starter(limits), file, ...args], {
      cwd: folder,
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe", ...streams],
    }) as GroupedProcess;
    // Without a listener, the error would end the server.
    child.on("error", () => {});
    const { pid } = child;
    const gate = child.stdio[3] as Writable | undefined;
    if (pid === undefined || gate === undefined)
      throw new Error(
        `${file} could not be started in ${folder}: the folder does not exist, or the system has no more processes or files`,
      );
    // A program that ends without reading its input is no error.
    for (const stream of [gate, child.stdin]) stream.on("error", () => {});
    const renewing = lease?.onRenewed((until) => this.#guard?.renew(pid, until.leftMs));
    const group: Group = { pid, go: () => gate.end("go\n"), forgotten: () => renewing?.() };
    this.#groups.set(pid, group);
    try {
      (this.#guard ??= this.#startGuard()).hold(pid, lease?.until.leftMs ?? Infinity);
    } catch (error) {
      this.#end(group);
      throw error;
    }
    // An id is reused once its group has ended.
    child.once("exit", () => {
      if (!isRunning(pid)) this.#forget(group);
    });
    const ended = new Promise<ProgramEnd>((resolve) =>
      child.once("exit", (_code, signal) => {
        const isCutOff = signal === "SIGKILL" && lease?.isOver === true;
        if (isCutOff) this.#onCutOff(lease.of);
        resolve({ notes: isCutOff ? [CUT_OFF] : [] });
      }),
    );
    return { process: child, end: () => this.#end(group), ended };
  }

  close(): void {
    this.#isClosed = true;
    for (const group of this.#groups.values()) this.#end(group);
    this.#guard?.end();
  }

  #startGuard(): ProcessGuard {
    return startGuard(
      this.#tickMs,
      (pid) => this.#groups.get(pid)?.go(),
      () => {
        // Without its guard, no program may run that would outlive the server.
        this.#guard = null;
        for (const group of this.#groups.values()) this.#end(group);
      },
    );
  }

  /** Kills a group, once. One that has ended, or belongs to another user, is dropped. */
  #end(group: Group): void {
    if (!this.#forget(group)) return;
    try {
      process.kill(-group.pid, "SIGKILL");
    } catch {
      // It has ended, or belongs to another user.
    }
  }

  #forget(group: Group): boolean {
    if (this.#groups.get(group.pid) !== group) return false;
    this.#groups.delete(group.pid);
    group.forgotten();
    this.#guard?.drop(group.pid);
    return true;
  }
}

type Group = { readonly pid: number; readonly go: () => void; readonly forgotten: () => void };

function isRunning(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
