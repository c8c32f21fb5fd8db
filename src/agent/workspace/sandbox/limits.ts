import { readFileSync } from "node:fs";

/** The limits of what the programs of one box may use. Each process has those of memory and files for itself. */
export type BoxLimits = {
  /** The memory that a process may write to, in bytes; memory that is only reserved does not count. */
  readonly memory: number;
  /** Processes and threads of the box. The system sets the user root no such limit. */
  readonly processes: number;
  /** The largest file, in bytes. */
  readonly file: number;
  /** All files in `/tmp`, in bytes, and as many in `/dev/shm`: both lie in memory. */
  readonly temporary: number;
};

const GIB = 1024 ** 3;

/** The limits of every box. */
export const BOX_LIMITS: BoxLimits = { memory: 8 * GIB, processes: 4_096, file: 8 * GIB, temporary: GIB };

/** The unit of the shell's limit of files, in bytes. */
const BLOCK = 512;

/**
 * The commands of a shell that set the limits of a box, for itself and all that it starts. The processes of a box are
 * counted in the box's own user namespace, so this limit must be set inside of the box; `-u` is bash's name of it, `-p`
 * that of other shells. What the server itself may not exceed stays as it is.
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
 * The commands of a shell that set limits of files and memory for a program without a box, each of whose processes has them for
 * itself. A system that has no such limit, or a lower one, keeps its own.
 */
export function unboxedLimits({ memory, file }: Pick<BoxLimits, "memory" | "file">): string {
  const limits = [`-c 0`, `-f ${Math.floor(file / BLOCK)}`, `-d ${Math.floor(memory / 1024)}`];
  return limits.map((limit) => `ulimit ${limit} 2>/dev/null || :;`).join(" ");
}

/** The limits that the server itself has: none can be raised. */
export type OwnLimits = Pick<BoxLimits, "memory" | "processes" | "file">;

/** The limits of this process, as the system tells them. */
export function ownLimits(text = readFileSync("/proc/self/limits", "utf8")): OwnLimits {
  const hard = (name: string): number => {
    const [, value] = new RegExp(`^${name} +\\S+ +(\\S+)`, "m").exec(text) ?? [];
    return value === undefined || value === "unlimited" ? Infinity : Number(value);
  };
  return { memory: hard("Max data size"), processes: hard("Max processes"), file: hard("Max file size") };
}
