import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** A program that runs, with its three streams. */
export type GroupedProcess = ChildProcessByStdio<Writable, Readable, Readable>;

/** A program and all that it starts, as one group. `end` kills whatever of it still runs. */
export type ProcessGroup = { readonly process: GroupedProcess; end(): void };

/** Where a program starts, and its whole environment. */
export type StartOptions = { readonly folder: string; readonly env: Readonly<Record<string, string>> };

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

/** Waits for the word to go, which never comes where the server dies first, and becomes the program. */
const STARTER = 'read -r go <&3 || exit 1; exec 3<&-; exec "$0" "$@"';

/**
 * Starts programs in process groups of their own, which never outlive this process. What leaves its group (setsid) is
 * beyond this: only a container or a sandbox ends that.
 */
export class ProcessGroups {
  readonly #groups = new Map<number, { readonly go: () => void; readonly end: () => void }>();
  #guard: ReturnType<typeof startGuard> | null = null;
  #isClosed = false;

  /** How many groups have not been ended. */
  get size(): number {
    return this.#groups.size;
  }

  /** Starts a program, without a shell. One that does not exist exits with 127. */
  start(file: string, args: readonly string[], { folder, env }: StartOptions): ProcessGroup {
    if (this.#isClosed) throw new Error("the server closes: nothing is started any more");
    const child = spawn("/bin/sh", ["-c", STARTER, file, ...args], {
      cwd: folder,
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    const gate = child.stdio[3] as Writable;
    // What a program that has ended does not read is nobody's accident.
    for (const stream of [gate, child.stdin]) stream.on("error", () => {});
    const { pid } = child;
    if (pid === undefined) return { process: child, end: () => {} };
    const end = (): void => this.#end(pid);
    this.#groups.set(pid, { go: () => gate.end("go\n"), end });
    (this.#guard ??= this.#startGuard()).say(`+ ${pid}`);
    return { process: child, end };
  }

  /** Kills everything that still runs. */
  close(): void {
    this.#isClosed = true;
    for (const { end } of this.#groups.values()) end();
    this.#guard?.end();
  }

  #startGuard(): ReturnType<typeof startGuard> {
    return startGuard(
      (pid) => this.#groups.get(pid)?.go(),
      () => {
        // Without its guard, nothing may go on that would outlive the server.
        this.#guard = null;
        for (const { end } of this.#groups.values()) end();
      },
    );
  }

  #end(pid: number): void {
    if (!this.#groups.delete(pid)) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      // The whole group has ended by itself.
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
    this.#guard?.say(`- ${pid}`);
  }
}

/** The guard's process: `onKnown` hears of each group that it knows, `onEnded` that it is gone. */
function startGuard(onKnown: (pid: number) => void, onEnded: () => void) {
  const guard = spawn("/bin/sh", ["-c", GUARD], { detached: true, stdio: ["pipe", "pipe", "ignore"], env: {} });
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
  guard.once("error", onEnded);
  for (const stream of [guard.stdin, guard.stdout]) if ("unref" in stream && typeof stream.unref === "function") stream.unref();
  return {
    say: (line: string) => void guard.stdin.write(`${line}\n`),
    end: () => void guard.stdin.end(),
  };
}
