import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import type { BoxLimits } from "../agent/workspace/sandbox/control-groups.ts";
import { TEXT, withDefault, type Complete } from "../lib/setting.ts";
import { errorCode, messageOf } from "../lib/text.ts";
import { ConfigurationError } from "./configuration-error.ts";

export const CONTROL_GROUP_SETTINGS = {
  /** The folder of a control group that is delegated to this server alone, without processes. Must be given. */
  folder: TEXT,
  /** The memory of one box's programs together, with `/tmp`, in MB, up to 2^30. 8,192 if omitted. */
  memoryMb: withDefault(Type.Integer({ minimum: 1, maximum: 2 ** 30 }), 8_192),
  /** Processes and threads of one box, up to 4,194,304, Linux's limit. 4,096 if omitted. */
  processes: withDefault(Type.Integer({ minimum: 1, maximum: 4_194_304 }), 4_096),
};

export type ControlGroupSettings = { readonly folder: string; readonly limits: Pick<BoxLimits, "memory" | "processes"> };

/** The checked settings. Throws ConfigurationError, with advice, if the folder supports no control groups. */
export function controlGroupOf(
  field: string,
  { folder, memoryMb, processes }: Complete<typeof CONTROL_GROUP_SETTINGS>,
): ControlGroupSettings {
  const refuse = (problem: string): never => {
    throw new ConfigurationError(`${field}.folder: ${folder} ${problem} (docs/sandbox.md#a-control-group)`);
  };
  const read = (name: string): readonly string[] => {
    try {
      return readFileSync(join(folder, name), "utf8").split(/\s+/).filter(Boolean);
    } catch (error) {
      if (errorCode(error) === "ENOENT") return refuse(whyNoGroup(folder, name));
      return refuse(`cannot be read: ${messageOf(error)}`);
    }
  };
  const controllers = read("cgroup.controllers");
  const missing = ["memory", "pids"].filter((controller) => !controllers.includes(controller));
  if (missing.length > 0)
    refuse(
      `cannot limit programs, since it has no controllers ${missing.join(", ")}: delegate them, as with Delegate=memory pids of systemd`,
    );
  if (read("cgroup.procs").length > 0)
    refuse("has processes, and so cannot give limits to groups below it: start the server in a group below it");
  return { folder: realpathSync(folder), limits: { memory: memoryMb * 1024 ** 2, processes } };
}

function whyNoGroup(folder: string, name: string): string {
  if (!existsSync(folder)) return "does not exist";
  if (existsSync(join(folder, "cgroup.procs"))) return "is a folder of cgroup v1, which cannot be used: boxes need cgroup v2";
  return `is no folder of cgroup v2: it has no file ${name}`;
}
