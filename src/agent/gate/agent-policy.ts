import type { Permission, Policy, StandingRule } from "./policy.ts";
import { readPermission, type PermissionSource, type Vocabulary } from "./permission-source.ts";

/** A permission block of one agent's own: it holds besides its template's, or, where an administrator said so, instead. */
export type OwnPermission = { readonly scope: "TIGHTEN" | "REPLACE"; readonly source: PermissionSource };

/** What an agent is judged by: its template's permission, its own, and the rules that people have stored. */
export function agentPolicy(
  template: { readonly permission: Permission },
  own: OwnPermission | null,
  standing: readonly StandingRule[],
  vocabulary: Vocabulary,
): Policy {
  if (own === null) return { permission: template.permission, bounds: [], standing };
  const permission = ownPermission(own, vocabulary);
  return own.scope === "REPLACE"
    ? { permission, bounds: [], standing: [] }
    : { permission: template.permission, bounds: [permission], standing };
}

/** A bound says nothing of what it does not name. What the configuration does not know any more denies everything. */
function ownPermission({ scope, source }: OwnPermission, vocabulary: Vocabulary): Permission {
  const mode = source.mode ?? (scope === "TIGHTEN" ? "auto" : "default");
  const { permission, problems } = readPermission({ ...source, mode }, "agent.permission", vocabulary);
  return problems.length === 0 ? permission : { ...permission, mode: { kind: "builtin", name: "deny" } };
}
