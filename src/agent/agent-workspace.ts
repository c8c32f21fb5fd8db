import { isInside } from "../lib/inside.ts";
import { closingRule, type Policy } from "./gate/policy.ts";
import type { AgentParts } from "./parts.ts";
import { Workspace } from "./tools/workspace.ts";

/** The folder of an agent, as the gate sees it: without what is the server's own. */
export function agentWorkspace({ closedPlaces }: Pick<AgentParts, "closedPlaces">, root: string): Workspace {
  return new Workspace(root, () => null, closedIn(root, closedPlaces));
}

/** The closed places of a workspace. A place that the workspace itself lies in stays open as far as the workspace goes. */
function closedIn(root: string, closedPlaces: readonly string[]): readonly string[] {
  return closedPlaces.filter((place) => !isInside(place, root));
}

/** The same as tools are given it: also without what the policy's deny rules close, whatever tool reaches for it. */
export function guardedWorkspace({ closedPlaces }: Pick<AgentParts, "closedPlaces">, root: string, policy: Policy): Workspace {
  return new Workspace(
    root,
    (names, access) => {
      const rule = closingRule(policy, names, access);
      return rule === null ? null : `the rule ${rule.source} forbids it`;
    },
    closedIn(root, closedPlaces),
  );
}
