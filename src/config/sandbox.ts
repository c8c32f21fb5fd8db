import { realpathSync } from "node:fs";
import { posix, resolve } from "node:path";
import type { Availability } from "../agent/workspace/sandbox/available.ts";
import { parseListedHost, type HostRule } from "../agent/policy/hosts/host-rule.ts";
import type { Template } from "../agent/loop/scope.ts";
import { isInside } from "../lib/path-inside.ts";
import { closed as closedGroup, complete, TEXTS, withDefault, type Complete } from "../lib/setting.ts";
import { messageOf } from "../lib/text.ts";
import { CONTROL_GROUP_SETTINGS, controlGroupOf, type ControlGroupSettings } from "./control-group.ts";
import { ConfigurationError } from "./configuration-error.ts";

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
