import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../../lib/text.ts";
import type { ProcessGroups } from "../process-groups.ts";
import { BOX_LIMITS, unboxedLimits, type BoxLimits } from "./control-groups.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * Without a box: programs run as the server's user, in separate process groups, with a box's limits for files and
 * memory. Their TMPDIR is removed at their end.
 */
export function unboxed(groups: ProcessGroups, bounds: Pick<BoxLimits, "memory" | "file"> = BOX_LIMITS): Sandbox {
  const limits = unboxedLimits(bounds);
  return {
    kind: "none",
    async start({ argv: [file, ...args], folder, env, lease }, signal) {
      signal.throwIfAborted();
      const temporary = await mkdtemp(join(tmpdir(), "triplane-"));
      try {
        signal.throwIfAborted();
        const group = groups.start(file, args, { folder, env: { TMPDIR: temporary, ...env }, limits, lease });
        const ended = group.ended.then(async ({ notes }) => ({ notes: [...notes, ...(await removed(temporary))] }));
        return { ...group, ended };
      } catch (error) {
        await rm(temporary, { recursive: true });
        throw error;
      }
    },
  };
}

async function removed(folder: string): Promise<readonly string[]> {
  try {
    await rm(folder, { recursive: true, force: true });
    return [];
  } catch (error) {
    return [`its TMPDIR could not be removed (${messageOf(error)}): remove what it left in ${folder}`];
  }
}
