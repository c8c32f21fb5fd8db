import { dirname } from "node:path";
import { isInside } from "../../lib/path-inside.ts";
import { Workspace } from "../workspace/workspace.ts";
import { judgeOpening, judge } from "./judge.ts";
import type { PolicyTemplate, TreeTemplate } from "./held-template.ts";
import type { Ancestor, OwnPermission } from "./own-permission.ts";
import type { AgentAbove, Permission, Permissions, Policy, PolicyBox, StoredRule } from "./permission.ts";
import { readPermission, type Vocabulary } from "./permission-source.ts";
import { judgedFiles, type RuleValues, type RuleValue } from "./rule-values.ts";
import { READS } from "./rule.ts";
import type { RuleScope } from "./rule-text.ts";

/** The permissions of an agent: its template's, its own, and the limits of its ancestors. */
export function agentPermissions(
  template: Omit<PolicyTemplate, "box">,
  own: OwnPermission | null,
  vocabulary: Vocabulary,
): Permissions {
  return permissionsOf(template, own, [], vocabulary);
}

/** The policy of an agent: its permissions, and the rules that people have stored, if its template's permission holds. */
export function agentPolicy(
  template: PolicyTemplate,
  own: OwnPermission | null,
  stored: readonly StoredRule[],
  vocabulary: Vocabulary,
): Policy {
  const rules = own?.scope === "REPLACE" ? [] : stored;
  return { ...permissionsOf(template, own, rules, vocabulary), stored: rules, box: boxOf(template) };
}

function permissionsOf(
  { permission: given, presentPermission, above }: Omit<PolicyTemplate, "box">,
  own: OwnPermission | null,
  stored: readonly StoredRule[],
  vocabulary: Vocabulary,
): Permissions {
  const limits = (own?.ancestors ?? []).flatMap((ancestor, level) =>
    boundsOf(ancestor, { template: above[level], inBox: isBoxed(above.slice(0, level + 1)) }, vocabulary),
  );
  const blocks = own === null ? [] : [own.source, ...(own.more ?? [])].map((source) => ownPermission(own, source, vocabulary));
  const [replaced] = own?.scope === "REPLACE" ? blocks : [];
  if (replaced !== undefined) return { permission: replaced, bounds: limits };
  const present = presentPermission === null ? [] : [boundOfPresent(given, presentPermission, stored)];
  return { permission: given, bounds: [...present, ...blocks, ...limits] };
}

/**
 * The permission of the present version of a template, as it binds an agent that keeps an earlier version. Its rules and
 * lists deny and ask as they do for other agents; its mode binds only if it is another than the kept one. It says nothing
 * of hosts that it does not name.
 */
function boundOfPresent(kept: Permission, present: Permission, stored: readonly StoredRule[]): Permission {
  const mode = present.mode.name === kept.mode.name ? ({ kind: "builtin", name: "auto" } as const) : present.mode;
  return { ...present, mode, allow: [...present.allow, ...stored], hosts: { ...present.hosts, unnamed: null } };
}

/** Below an agent whose programs run in a box, everybody's do. */
function boxOf({ box, above }: PolicyTemplate): PolicyBox | null {
  return [box, ...above.map((each) => each.box)].find((each) => each !== null) ?? null;
}

/** True if the programs of the last of these agents run in a box: its template or one above requires that. */
function isBoxed(above: readonly TreeTemplate[]): boolean {
  return above.some(({ box }) => box !== null);
}

/** The limits that an ancestor sets, in a box or not. One whose template is unknown denies everything. */
function boundsOf(
  { permission, ...above }: Ancestor,
  { template, inBox }: { readonly template: TreeTemplate | undefined; readonly inBox: boolean },
  vocabulary: Vocabulary,
): readonly Permission[] {
  if (template === undefined) {
    const place = `the missing template ${above.templateId} of agent ${above.agentId}`;
    const denied = readPermission({ mode: "deny" }, place, vocabulary).permission;
    return boundsOfDescendants({ permission: denied, bounds: [] }, above, inBox);
  }
  return boundsOfDescendants(permissionsOf({ ...template, above: [] }, permission, [], vocabulary), above, inBox);
}

/**
 * The bounds that an agent's permissions set for its descendants: its mode, its allow rules, and its deny and ask rules
 * for the whole tree. Lists of tools bind only the agent itself. If it is in a box, its unnamed hosts are asked about.
 */
export function boundsOfDescendants(
  { permission, bounds }: Permissions,
  { agentId, templateId }: AgentAbove,
  inBox: boolean,
): readonly Permission[] {
  const isOfTree = ({ scope }: { readonly scope: RuleScope }): boolean => scope === "tree";
  const placed = <Each extends { readonly place: string }>(rules: readonly Each[]): readonly Each[] =>
    rules.map((rule) => Object.assign({}, rule, { place: placeOf(rule.place, agentId) }));
  const bound = (each: Permission): Permission => ({
    ...each,
    above: { agentId, templateId },
    place: placeOf(each.place, agentId),
    deny: placed(each.deny.filter(isOfTree)),
    allow: placed(each.allow),
    ask: placed(each.ask.filter(isOfTree)),
    hosts: {
      deny: placed(each.hosts.deny.filter(isOfTree)),
      allow: placed(each.hosts.allow),
      unnamed: inBox && each.hosts.unnamed !== null ? placeOf(each.hosts.unnamed, agentId) : null,
    },
    allowTools: null,
    denyTools: [],
    requireApprovalTools: [],
  });
  return [permission, ...bounds].map(bound);
}

/** The place of a limit of another agent, as explanations name it. */
function placeOf(place: string, agentId: string): string {
  return `${place} of the ancestor ${agentId}`;
}

/**
 * A bound says nothing of what it does not name. What the configuration no longer knows denies everything. What it denies, and asks
 * about, holds for the agent's descendants, too. The block of a child is that of its parent's template.
 */
function ownPermission(
  { scope, ancestors = [] }: Pick<OwnPermission, "scope" | "ancestors">,
  source: OwnPermission["source"],
  vocabulary: Vocabulary,
): Permission {
  const mode = source.mode ?? (scope === "TIGHTEN" ? "auto" : "default");
  const parent = ancestors.at(-1);
  const place = parent === undefined ? "agent.permission" : `templates.${parent.templateId}.subagents.overrides.permission`;
  const { permission: read, problems } = readPermission({ ...source, mode }, place, vocabulary);
  const above = parent === undefined ? null : { agentId: parent.agentId, templateId: parent.templateId };
  const permission = { ...read, above };
  if (problems.length > 0) return { ...permission, mode: { kind: "builtin", name: "deny" } };
  const bind = <Each extends { readonly scope: RuleScope }>(rules: readonly Each[]): readonly Each[] =>
    rules.map((rule) => ({ ...rule, scope: "tree" }));
  const { deny, ask, hosts } = permission;
  return {
    ...permission,
    deny: bind(deny),
    ask: bind(ask),
    hosts: { ...hosts, deny: bind(hosts.deny), unnamed: scope === "TIGHTEN" ? null : hosts.unnamed },
  };
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
