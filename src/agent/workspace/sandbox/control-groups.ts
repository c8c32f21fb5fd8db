import { randomUUID } from "node:crypto";
import { readFileSync, constants } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { errorCode, messageOf } from "../../../lib/text.ts";

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

/** Thrown at the start if the configured folder does not allow control groups for boxes. */
export class ControlGroupsRefused extends Error {
  override readonly name = "ControlGroupsRefused";
}

export type GroupLimit = {
  readonly controller: "memory" | "pids";
  readonly file: string;
  readonly value: number;
  readonly events: readonly [file: string, event: string];
  readonly said: string;
};

export function groupLimits({ memory, processes }: Pick<BoxLimits, "memory" | "processes">): readonly GroupLimit[] {
  const [megabytes, count] = [Math.floor(memory / 1024 ** 2), processes].map((each) => each.toLocaleString("en-US"));
  return [
    {
      controller: "memory",
      file: "memory.max",
      value: memory,
      events: ["memory.events", "oom_kill"],
      said: `the programs of a call may use ${megabytes} MB of memory together, with what lies in /tmp: these used more, and the system ended them`,
    },
    {
      controller: "pids",
      file: "pids.max",
      value: processes,
      events: ["pids.events", "max"],
      said: `the programs of a call may have ${count} processes and threads: further ones were refused`,
    },
  ];
}

/** Optional files of a group with further limits: no swap, and the whole box ends at the limit of memory. */
const FURTHER = { "memory.swap.max": 0, "memory.oom.group": 1 };

const PREFIX = "box-";

export type ControlGroup = {
  /** Puts a process and its later descendants into the group. Does nothing if it has ended. */
  take(process: number): Promise<void>;
  /** Kills and removes the group. Returns the reached limits in words for the model. Never rejects. */
  close(): Promise<readonly string[]>;
};

/**
 * Makes a control group for each box, in an empty group of the server's own. The files are those of Linux's cgroup v2
 * (Documentation/admin-guide/cgroup-v2.rst of the kernel).
 */
export class ControlGroups {
  readonly #folder: string;
  readonly #limits: readonly GroupLimit[];

  constructor(folder: string, limits: readonly GroupLimit[]) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /** Enables limits, and removes the groups of a stopped server. Throws ControlGroupsRefused. */
  async open(): Promise<void> {
    const folder = this.#folder;
    try {
      const controllers = this.#limits.map(({ controller }) => `+${controller}`).join(" ");
      await write(join(folder, "cgroup.subtree_control"), controllers);
      // A refusal of the system shows at the start, and not at the first call.
      const [problem] = await (await this.make()).close();
      if (problem !== undefined) throw new Error(problem);
      const left = (await readdir(folder)).filter((name) => name.startsWith(PREFIX));
      await Promise.all(left.map((name) => remove(join(folder, name))));
    } catch (error) {
      throw new ControlGroupsRefused(`sandbox.cgroup: boxes cannot have control groups in ${folder} (${messageOf(error)})`);
    }
  }

  async make(): Promise<ControlGroup> {
    const group = await this.#makeFolder();
    return {
      take: (process) => write(join(group, "cgroup.procs"), process).catch(unless("ESRCH")),
      close: async () => {
        try {
          await write(join(group, "cgroup.kill"), 1);
          const isReached = await Promise.all(
            this.#limits.map(({ events: [file, event] }) => happened(join(group, file), event)),
          );
          await remove(group);
          return this.#limits.filter((_, index) => isReached[index]).map(({ said }) => said);
        } catch (error) {
          return [`the control group of this call could not be removed (${messageOf(error)})`];
        }
      },
    };
  }

  async #makeFolder(): Promise<string> {
    const group = join(this.#folder, `${PREFIX}${randomUUID()}`);
    await mkdir(group);
    try {
      for (const { file, value } of this.#limits) await write(join(group, file), value);
      for (const [file, value] of Object.entries(FURTHER)) await write(join(group, file), value).catch(unless("ENOENT"));
    } catch (error) {
      await remove(group);
      throw error;
    }
    return group;
  }
}

function write(file: string, value: string | number): Promise<void> {
  return writeFile(file, String(value), { flag: constants.O_WRONLY });
}

async function happened(file: string, event: string): Promise<boolean> {
  return new RegExp(`^${event} [1-9]`, "m").test(await readFile(file, "utf8"));
}

/** The time between two tries to remove a group, in ms, and their number. */
const TRY_MS = 2;
const TRIES = 500;

/** Removes a group, with retries while a process ends. A busy one is left to the next start. */
async function remove(group: string): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      return await rmdir(group);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return;
      if (errorCode(error) !== "EBUSY") throw error;
    }
    await setTimeout(TRY_MS);
  }
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (errorCode(error) !== code) throw error;
  };
}
