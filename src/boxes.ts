import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Network } from "./agent/workspace/network/reach.ts";
import type { ProcessGroups } from "./agent/workspace/process-groups.ts";
import { BubblewrapSandbox } from "./agent/workspace/sandbox/bubblewrap.ts";
import { ControlGroups, groupLimits, BOX_LIMITS } from "./agent/workspace/sandbox/control-groups.ts";
import { closedFolders } from "./config/closed-folders.ts";
import { ConfigurationError } from "./config/configuration-error.ts";
import type { Settings } from "./config/settings.ts";
import { messageOf } from "./lib/text.ts";

/** Makes the folder for programs' files. Throws ConfigurationError if it cannot be made. */
export async function madeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new ConfigurationError(`TRIPLANE_PROGRAMS_DIR: ${folder} is no folder, and cannot be made one (${messageOf(error)})`);
  }
}

/** Null if this machine supports no sandbox. */
export function boxOf(
  { available, sandbox, environment }: Settings,
  groups: ProcessGroups,
  network?: Network,
): BubblewrapSandbox | null {
  if (!available.isAvailable) return null;
  const folder = join(environment.programsFolder, "sandbox");
  const { read, protect, controlGroup } = sandbox;
  const limits = { ...BOX_LIMITS, ...controlGroup?.limits };
  const controlGroups = controlGroup === null ? null : new ControlGroups(controlGroup.folder, groupLimits(limits));
  const settings = { folder, read, protect, closed: closedFolders(environment), limits, controlGroups };
  return new BubblewrapSandbox(groups, available, settings, network);
}
