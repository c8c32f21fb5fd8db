import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../../lib/text.ts";
import type { ProcessGroups } from "../process-groups.ts";
import type { Sandbox } from "./sandbox.ts";

/** No box: programs run as the server's user, in process groups of their own. What they leave in their TMPDIR goes with them. */
export function unboxed(groups: ProcessGroups): Sandbox {
  return {
    kind: "none",
    async start({ argv: [file, ...args], folder, env }, signal) {
      signal.throwIfAborted();
      const temporary = await mkdtemp(join(tmpdir(), "triplane-"));
      try {
        signal.throwIfAborted();
        const group = groups.start(file, args, { folder, env: { TMPDIR: temporary, ...env } });
        const ended = group.ended.then(async ({ notes }) => ({ notes: [...notes, ...(await removed(temporary))] }));
        return { ...group, ended };
      } catch (error) {
        await rm(temporary, { recursive: true });
        throw error;
      }
    },
  };
}

/** Removes the folder, and says so to the model if it stays. */
async function removed(folder: string): Promise<readonly string[]> {
  try {
    await rm(folder, { recursive: true, force: true });
    return [];
  } catch (error) {
    return [`its TMPDIR could not be removed (${messageOf(error)}): remove what it left in ${folder}`];
  }
}
