import { realpathSync, existsSync, readFileSync } from "node:fs";
import { posix, resolve, join } from "node:path";
import { Type } from "typebox";
import type { Template } from "../agent/loop/scope.ts";
import { parseListedHost, type HostRule } from "../agent/policy/hosts/host-rule.ts";
import type { Availability } from "../agent/workspace/sandbox/available.ts";
import type { BoxLimits } from "../agent/workspace/sandbox/control-groups.ts";
import { isInside } from "../lib/path-inside.ts";
import { closed as closedGroup, complete, TEXTS, withDefault, type Complete, TEXT } from "../lib/setting.ts";
import { messageOf, errorCode } from "../lib/text.ts";
import { ConfigurationError } from "./configuration-error.ts";

export const CONTROL_GROUP_SETTINGS = {
  /** The folder of a control group that is delegated to this server alone, without processes. Must be given. */
  folder: TEXT,
  /** The memory of one box's programs together, with `/tmp`, in MB, up to 2^30. 8,192 if omitted. */
  memoryMb: withDefault(Type.Integer({ minimum: 1, maximum: 2 ** 30 }), 8_192),
  /** Processes and threads of one box, up to 4,194,304, Linux's limit. 4,096 if omitted. */
  processes: withDefault(Type.Integer({ minimum: 1, maximum: 4_194_304 }), 4_096),
};

type ControlGroupSettings = { readonly folder: string; readonly limits: Pick<BoxLimits, "memory" | "processes"> };

/** The checked settings. Throws ConfigurationError, with advice, if the folder supports no control groups. */
function controlGroupOf(
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

export const SANDBOX_SETTINGS = {
  /**
   * Folders and files, relative to the configuration's folder, that programs may read in addition to their workspace
   * and the system's programs. None if omitted.
   */
  read: withDefault(TEXTS, []),
  /** Paths relative to a workspace that programs may not change, in addition to those of docs/sandbox.md. None if omitted. */
  protect: withDefault(TEXTS, []),
  /**
   * Hosts that programs reach without a question, as `packages.example.com`, `*.example.org` or `example.org:8080`;
   * without a port those of http and https. All others are asked about. Without a network if omitted.
   */
  hosts: withDefault(TEXTS, null),
  /**
   * The parent control group (cgroup) of boxes' own groups, whose limits hold for all programs of a box together. None
   * if omitted.
   */
  cgroup: withDefault(closedGroup(CONTROL_GROUP_SETTINGS), null),
};

export type SandboxSettings = Omit<WrittenSandbox, "hosts" | "cgroup"> & {
  readonly hosts: readonly HostRule[] | null;
  readonly controlGroup: ControlGroupSettings | null;
};

type WrittenSandbox = Complete<typeof SANDBOX_SETTINGS>;

/** Throws ConfigurationError if a setting is invalid, or would open the server's own files. */
export function sandboxOf(
  path: string,
  folder: string,
  { read, protect, hosts, cgroup }: WrittenSandbox,
  closed: readonly string[],
): SandboxSettings {
  return {
    read: read.map((place, index) => readable(`${path}: sandbox.read.${index}`, resolve(folder, place), closed)),
    protect: protect.map((place, index) => protectable(`${path}: sandbox.protect.${index}`, place)),
    hosts: hosts?.map((host, index) => listable(`${path}: sandbox.hosts.${index}`, host)) ?? null,
    controlGroup: cgroup === null ? null : controlGroupOf(`${path}: sandbox.cgroup`, complete(CONTROL_GROUP_SETTINGS, cgroup)),
  };
}

function readable(field: string, place: string, closed: readonly string[]): string {
  let real: string;
  try {
    real = realpathSync(place);
  } catch (error) {
    throw new ConfigurationError(`${field}: ${place} cannot be read (${messageOf(error)})`);
  }
  const opened = closed.find((own) => isInside(real, own) || isInside(own, real));
  if (opened !== undefined)
    throw new ConfigurationError(
      `${field}: ${place} would open ${opened}, which is the server's own: name what programs need of it`,
    );
  return real;
}

function listable(field: string, written: string): HostRule {
  const rule = parseListedHost(written, field);
  if (!rule.ok) throw new ConfigurationError(`${field}: ${JSON.stringify(written)}: ${rule.refusal}`);
  return rule.value;
}

function protectable(field: string, place: string): string {
  const plain = posix.normalize(place).replace(/\/$/, "");
  if (posix.isAbsolute(plain) || plain === "." || plain.split("/").includes(".."))
    throw new ConfigurationError(
      `${field}: ${JSON.stringify(place)} must be a path from the workspace's root, inside of the workspace`,
    );
  if (/[*?[\]{}]/.test(plain))
    throw new ConfigurationError(`${field}: ${JSON.stringify(place)} is a pattern: name each path by itself`);
  return plain;
}

/** Throws ConfigurationError if a template requires a box, and this machine makes none. */
export function refuseUnboxed(path: string, templates: Iterable<Template>, available: Availability): void {
  if (available.isAvailable) return;
  for (const { id, sandbox } of templates)
    if (sandbox === "required")
      throw new ConfigurationError(
        `${path}: templates.${id}.sandbox is "required", and programs cannot run in a box here: ${available.reason}`,
      );
}
