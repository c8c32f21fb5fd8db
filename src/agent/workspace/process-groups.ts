import { spawn, type ChildProcessByStdio } from "node:child_process";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

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
};

/**
 * Kills the groups that it was told of when its input ends: that is when the server has died, however it died. It says
 * each group back, so that none runs before it is known.
 */
const GUARD = `groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group "; echo "$group" ;;
    -) groups="\${groups%% $group *} \${groups##* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done`;

/** Waits for the word to go, which never comes if the server dies first, sets limits, and becomes the program. */
const starter = (limits: string): string => `read -r go <&3 || exit 1; exec 3<&-; ${limits} exec "$0" "$@"`;

/**
 * Starts programs in process groups of their own, which never outlive this process. What leaves its group (setsid) is
 * beyond this: only a container or a sandbox ends that.
 */
export class ProcessGroups {
  readonly #groups = new Map<number, Group>();
  #guard: ReturnType<typeof startGuard> | null = null;
  #isClosed = false;

  /** The number of groups that have not been ended. */
  get size(): number {
    return this.#groups.size;
  }

  /**
   * Starts a program, without a shell. One that does not exist exits with 127. If nothing can be started, since the
   * folder is gone or the system has no more processes, the process has an `error`, which may be left unheard.
   */
  start(file: string, args: readonly string[], { folder, env, streams = [], limits = "" }: StartOptions): ProcessGroup {
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
    const group: Group = { pid, go: () => gate.end("go\n") };
    this.#groups.set(pid, group);
    try {
      (this.#guard ??= this.#startGuard()).say(`+ ${pid}`);
    } catch (error) {
      this.#end(group);
      throw error;
    }
    // An id is given again to others once nothing of its group runs.
    child.once("exit", () => {
      if (!isRunning(pid)) this.#forget(group);
    });
    const ended = new Promise<ProgramEnd>((resolve) => child.once("exit", () => resolve({ notes: [] })));
    return { process: child, end: () => this.#end(group), ended };
  }

  /** Kills everything that still runs. */
  close(): void {
    this.#isClosed = true;
    for (const group of this.#groups.values()) this.#end(group);
    this.#guard?.end();
  }

  #startGuard(): ReturnType<typeof startGuard> {
    return startGuard(
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
    this.#guard?.say(`- ${group.pid}`);
    return true;
  }
}

/** A group that has not been ended, by the id of its first process. */
type Group = { readonly pid: number; readonly go: () => void };

/** True if anything of a group still runs. */
function isRunning(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The guard's process: `onKnown` hears of each group that it knows, `onEnded` that it is gone. */
function startGuard(onKnown: (pid: number) => void, onEnded: () => void) {
  const guard = spawn("/bin/sh", ["-c", GUARD], { detached: true, stdio: ["pipe", "pipe", "ignore"], env: {} });
  guard.once("error", onEnded);
  guard.unref();
  guard.stdin.on("error", () => {});
  guard.stdout.setEncoding("utf8");
  let open = "";
  guard.stdout.on("data", (chunk: string) => {
    const lines = (open + chunk).split("\n");
    open = lines.pop() ?? "";
    lines.forEach((line) => onKnown(Number(line)));
  });
  guard.once("exit", onEnded);
  for (const stream of [guard.stdin, guard.stdout]) if (stream instanceof Socket) stream.unref();
  return {
    say: (line: string) => void guard.stdin.write(`${line}\n`),
    end: () => void guard.stdin.end(),
  };
}
