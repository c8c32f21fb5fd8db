import { dirname } from "node:path";
import { isInside } from "../lib/inside.ts";
import { closingRule, type Policy } from "./gate/policy.ts";
import type { AgentParts } from "./parts.ts";
import { Workspace } from "./tools/workspace.ts";

/** The folder of an agent, as the gate sees it: without what is the server's own. */
export function agentWorkspace(places: Places, root: string): Workspace {
  return new Workspace(root, () => null, closedIn(root, places));
}

type Places = Pick<AgentParts, "closedPlaces" | "ownWorkspaces">;

/**
 * The closed places of a workspace. A place that the workspace itself lies in is open as far as the workspace goes, for
 * agents that were created in one before that was refused; but no workspace opens the server's data, save those below it
 * that are agents' own.
 */
function closedIn(root: string, { closedPlaces, ownWorkspaces }: Places): readonly string[] {
  const data = dirname(ownWorkspaces);
  const isOpen = (place: string): boolean => isInside(place, root) && (isInside(ownWorkspaces, root) || !isInside(data, place));
  return closedPlaces.filter((place) => !isOpen(place));
}

/** The same as tools are given it: also without what the policy's deny rules close, whatever tool reaches for it. */
export function guardedWorkspace(places: Places, root: string, policy: Policy): Workspace {
  return new Workspace(
    root,
    (names, access) => {
      const rule = closingRule(policy, names, access);
      return rule === null ? null : `the rule ${rule.source} forbids it`;
    },
    closedIn(root, places),
  );
}
