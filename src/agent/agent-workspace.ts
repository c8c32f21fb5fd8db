import { closingRule, type Policy } from "./gate/policy.ts";
import type { AgentParts } from "./parts.ts";
import { Workspace } from "./tools/workspace.ts";

/** The folder of an agent, as the gate sees it: without what is the server's own. */
export function agentWorkspace({ closedFolders }: Pick<AgentParts, "closedFolders">, root: string): Workspace {
  return new Workspace(root, () => null, closedFolders);
}

/** The same as tools are given it: also without what the policy's deny rules close, whatever tool reaches for it. */
export function guardedWorkspace({ closedFolders }: Pick<AgentParts, "closedFolders">, root: string, policy: Policy): Workspace {
  return new Workspace(
    root,
    (names, access) => {
      const rule = closingRule(policy, names, access);
      return rule === null ? null : `the rule ${rule.source} forbids it`;
    },
    closedFolders,
  );
}
