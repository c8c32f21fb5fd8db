import type { ProcessGroups } from "../process-groups.ts";
import type { Sandbox } from "./sandbox.ts";

/** No box: programs run as the server's user, in process groups of their own. */
export function unboxed(groups: ProcessGroups): Sandbox {
  return {
    kind: "none",
    async start({ argv: [file, ...args], folder, env }, signal) {
      signal.throwIfAborted();
      return groups.start(file, args, { folder, env });
    },
  };
}
