import { dirname } from "node:path";
import { isInside } from "../../lib/path-inside.ts";
import { Workspace } from "../workspace/workspace.ts";
import { judgeOpening, judge } from "./judge.ts";
import type { Permission, Permissions, Policy, PolicyBox, StoredRule } from "./permission.ts";
import { readPermission, type PermissionSource, type Vocabulary } from "./permission-source.ts";
import { judgedFiles, type RuleValues, type RuleValue } from "./rule-values.ts";
import { READS } from "./rule.ts";
import type { RuleScope } from "./rule-text.ts";

/** A permission block of one agent's own: it holds besides its template's, or, if an administrator said so, instead. */
export type OwnPermission = { readonly scope: "TIGHTEN" | "REPLACE"; readonly source: PermissionSource };

/** The permissions of an agent: its template's and its own. */
export function agentPermissions(
  template: { readonly permission: Permission },
  own: OwnPermission | null,
  vocabulary: Vocabulary,
): Permissions {
  if (own === null) return { permission: template.permission, bounds: [] };
  const permission = ownPermission(own, vocabulary);
  return own.scope === "REPLACE" ? { permission, bounds: [] } : { permission: template.permission, bounds: [permission] };
}

/** The policy of an agent: its permissions, and the rules that people have stored, if its template's permission holds. */
export function agentPolicy(
  template: { readonly permission: Permission; readonly box: PolicyBox | null },
  own: OwnPermission | null,
  stored: readonly StoredRule[],
  vocabulary: Vocabulary,
): Policy {
  const rules = own?.scope === "REPLACE" ? [] : stored;
  return { ...agentPermissions(template, own, vocabulary), stored: rules, box: template.box };
}

/** The bounds that an agent's permissions set for its descendants: their rules for the whole tree. */
export function boundsOfDescendants({ permission, bounds }: Permissions): readonly Permission[] {
  const isOfTree = ({ scope }: { readonly scope: RuleScope }): boolean => scope === "tree";
  return [permission, ...bounds].map(({ place, deny, ask, hosts }) => ({
    place,
    mode: { kind: "builtin", name: "auto" },
    deny: deny.filter(isOfTree),
    allow: [],
    ask: ask.filter(isOfTree),
    hosts: { deny: hosts.deny.filter(isOfTree), allow: [] },
    allowTools: null,
    denyTools: [],
    autoAllowTools: [],
    autoAllowInBox: [],
    requireApprovalTools: [],
    readOnlyCommands: false,
  }));
}

/**
 * A bound says nothing of what it does not name. What the configuration no longer knows denies everything. What it denies, and asks
 * about, holds for the agent's descendants, too.
 */
function ownPermission({ scope, source }: OwnPermission, vocabulary: Vocabulary): Permission {
  const mode = source.mode ?? (scope === "TIGHTEN" ? "auto" : "default");
  const { permission, problems } = readPermission({ ...source, mode }, "agent.permission", vocabulary);
  if (problems.length > 0) return { ...permission, mode: { kind: "builtin", name: "deny" } };
  const bind = <Each extends { readonly scope: RuleScope }>(rules: readonly Each[]): readonly Each[] =>
    rules.map((rule) => ({ ...rule, scope: "tree" }));
  const { deny, ask, hosts } = permission;
  return { ...permission, deny: bind(deny), ask: bind(ask), hosts: { ...hosts, deny: bind(hosts.deny) } };
}

/** The folders and files of the server, of which agents may work in none but their own. */
export type ServerFolders = {
  /**
   * Real paths of folders and files that are the server's own: its data, configuration, environment and sources. Tools do
   * not reach them, even if they lie in an agent's workspace.
   */
  readonly closedFolders: readonly string[];
  readonly ownWorkspaces: string;
};

/** The folder of an agent, as the gate sees it: without what is the server's own. */
export function agentWorkspace(places: ServerFolders, root: string): Workspace {
  return new Workspace(root, () => null, closedIn(root, places));
}

/**
 * The closed places of a workspace. A place that the workspace itself lies in is open as far as the workspace goes, for
 * agents that were created in one before that was refused; but no workspace opens the server's data, save those below it
 * that are agents' own.
 */
function closedIn(root: string, { closedFolders, ownWorkspaces }: ServerFolders): readonly string[] {
  const data = dirname(ownWorkspaces);
  const isOpen = (place: string): boolean => isInside(place, root) && (isInside(ownWorkspaces, root) || !isInside(data, place));
  return closedFolders.filter((place) => !isOpen(place));
}

/**
 * The same as tools are given it: also without what the policy's deny rules close, whatever tool reaches for it. The paths
 * of the call, whose values rules saw, lead where they led when the call was judged.
 */
export function guardedWorkspace(
  places: ServerFolders,
  root: string,
  permissions: Permissions,
  values: RuleValues | null,
): Workspace {
  return new Workspace(
    root,
    (names, access) => {
      const { verdict, reason } = judgeOpening(permissions, names, access);
      return verdict === "deny" ? reason : null;
    },
    closedIn(root, places),
    judgedFiles(values ?? {}),
  );
}

/** True if an agent may read every file that a call names, without asking. Of searches and command lines that is not known. */
export function mayReadAll(values: RuleValues, agentId: string, policy: Policy): boolean {
  const mayRead = (value: RuleValue): boolean =>
    judge({ agentId, name: READS, readOnly: true, values: { path: [value] } }, policy).verdict === "allow";
  return Object.values(values)
    .flat()
    .every((value) => value.kind === "text" || (value.kind === "file" && mayRead({ ...value, access: "read" })));
}
