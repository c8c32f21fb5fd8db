import { readFileSync } from "node:fs";

/** The limits of one box's programs. Those of memory and files are for each process. */
export type BoxLimits = {
  /** The writable memory of a process, in bytes, without reserved memory. */
  readonly memory: number;
  /** Processes and threads of the box. The system does not limit those of root. */
  readonly processes: number;
  readonly file: number;
  /** All files in `/tmp`, in bytes, and the same in `/dev/shm`: both are in memory. */
  readonly temporary: number;
};

const GIB = 1024 ** 3;

export const BOX_LIMITS: BoxLimits = { memory: 8 * GIB, processes: 4_096, file: 8 * GIB, temporary: GIB };

const BLOCK = 512;

/**
 * Shell commands that set a box's limits, for the shell and its descendants. Processes are counted in the box's user
 * namespace, so this limit must be set inside; `-u` is bash's option, `-p` that of other shells. The server's own
 * limits are not exceeded.
 */
export function limitCommands({ memory, processes, file }: BoxLimits, own: OwnLimits): string {
  const least = (limit: number, most: number): number => Math.floor(Math.min(limit, most));
  const count = least(processes, own.processes);
  return [
    "ulimit -c 0",
    `ulimit -f ${Math.floor(least(file, own.file) / BLOCK)}`,
    `ulimit -d ${Math.floor(least(memory, own.memory) / 1024)}`,
    `{ ulimit -u ${count} 2>/dev/null || ulimit -p ${count}; }`,
  ].join(" && ");
}

/**
 * Shell commands that limit files and memory of a program without a box, for each of its processes. A system without
 * the limit, or with a lower one, keeps its own.
 */
export function unboxedLimits({ memory, file }: Pick<BoxLimits, "memory" | "file">): string {
  const limits = [`-c 0`, `-f ${Math.floor(file / BLOCK)}`, `-d ${Math.floor(memory / 1024)}`];
  return limits.map((limit) => `ulimit ${limit} 2>/dev/null || :;`).join(" ");
}

export type OwnLimits = Pick<BoxLimits, "memory" | "processes" | "file">;

export function ownLimits(text = readFileSync("/proc/self/limits", "utf8")): OwnLimits {
  const hard = (name: string): number => {
    const [, value] = new RegExp(`^${name} +\\S+ +(\\S+)`, "m").exec(text) ?? [];
    return value === undefined || value === "unlimited" ? Infinity : Number(value);
  };
  return { memory: hard("Max data size"), processes: hard("Max processes"), file: hard("Max file size") };
}
