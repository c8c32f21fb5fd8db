import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { startGuard, type ProcessGuard } from "./process-guard.ts";
import type { ProgramLease, ProgramsOf } from "./program-lease.ts";

/** A program that runs, with its three streams. */
export type GroupedProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** The deeds after the end of a program, in words for the model. */
export type ProgramEnd = { readonly notes: readonly string[] };

/**
 * A program and all that it starts, as one group. `end` kills whatever of it still runs. `ended` resolves, and never
 * rejects, after the program's end: in a box once nothing of the group runs and what it must not leave behind is gone.
 */
export type ProcessGroup = { readonly process: GroupedProcess; end(): void; readonly ended: Promise<ProgramEnd> };

/** A descriptor of a program beside its three streams: a stream, or Node's channel of messages. */
export type FurtherStream = "pipe" | "ipc";

/** The folder in which a program starts, and its whole environment. */
export type StartOptions = {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Further descriptors, from 4 on. */
  readonly streams?: readonly FurtherStream[];
  /** Commands of a shell that bound what the program may use, each with its end; none if omitted. */
  readonly limits?: string;
  /** The program is killed when it is over; omitted, the program may run as long as the server. */
  readonly lease?: ProgramLease;
};

/** Says why a program was killed, in words for the model. */
const CUT_OFF =
  "it was killed, because this server could not renew its lease in time: what it had done by then stands, so look before you repeat it";

/** Waits for the word to go, which never comes if the server dies first, sets limits, and becomes the program. */
const starter = (limits: string): string => `read -r go <&3 || exit 1; exec 3<&-; ${limits} exec "$0" "$@"`;

/**
 * Starts programs in process groups of their own, which never outlive this process, nor their lease, even if this process
 * stands still. What leaves its group (setsid) is beyond this: only a container or a sandbox ends that.
 */
export class ProcessGroups {
  readonly #groups = new Map<number, Group>();
  readonly #tickMs: number;
  readonly #onCutOff: (of: ProgramsOf) => void;
  #guard: ProcessGuard | null = null;
  #isClosed = false;

  /**
   * `tickMs`: the time between two looks of the guard for programs whose lease is over, 500 if omitted. `onCutOff` is called for each
   * program that the guard has killed.
   */
  constructor(tickMs = 500, onCutOff: (of: ProgramsOf) => void = () => {}) {
    this.#tickMs = tickMs;
    this.#onCutOff = onCutOff;
  }

  /** The number of groups that have not been ended. */
  get size(): number {
    return this.#groups.size;
  }

  /**
   * Starts a program, without a shell. One that does not exist exits with 127. If nothing can be started, since the
   * folder is gone or the system has no more processes, the process has an `error`, which may be left unheard.
   */
  start(file: string, args: readonly string[], { folder, env, streams = [], limits = "", lease }: StartOptions): ProcessGroup {
    if (this.#isClosed) throw new Error("the server closes: nothing more is started");
    const child = spawn("/bin/sh", ["-c", starter(limits), file, ...args], {
      cwd: folder,
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe", ...streams],
    }) as GroupedProcess;
    // Whoever does not listen must not take the server with them.
    child.on("error", () => {});
    const { pid } = child;
    const gate = child.stdio[3] as Writable | undefined;
    if (pid === undefined || gate === undefined)
      throw new Error(
        `${file} could not be started in ${folder}: the folder does not exist, or the system has no more processes or files`,
      );
    // What a program that has ended does not read is nobody's accident.
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
    // An id is given again to others once nothing of its group runs.
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

  /** Kills everything that still runs. */
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
        // Without its guard, nothing may go on that would outlive the server.
        this.#guard = null;
        for (const group of this.#groups.values()) this.#end(group);
      },
    );
  }

  /** Kills a group, once. One that is not this user's to kill, or has ended by itself, is let go. */
  #end(group: Group): void {
    if (!this.#forget(group)) return;
    try {
      process.kill(-group.pid, "SIGKILL");
    } catch {
      // Nothing of it runs, or it has become another user's: there is nothing more that could be done.
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

/** A group that has not been ended, by the id of its first process. */
type Group = { readonly pid: number; readonly go: () => void; readonly forgotten: () => void };

/** True if anything of a group still runs. */
function isRunning(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
