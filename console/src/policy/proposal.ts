import type { PermissionInput, PermissionsQuery } from "../generated/documents.ts";

type Permission = NonNullable<PermissionsQuery["templates"][number]["permission"]>;

/** The permission of a template in the form in which a change is proposed. Empty lists are left out. */
export function proposalOf(permission: Permission): PermissionInput {
  const rules = (list: string): string[] => permission.rules.filter((each) => each.list === list).map(({ rule }) => rule);
  const full: PermissionInput = {
    mode: permission.mode,
    deny: rules("DENY"),
    allow: rules("ALLOW"),
    ask: rules("ASK"),
    denyTools: permission.denyTools,
    autoAllowTools: permission.autoAllowTools,
    autoAllowInBox: permission.autoAllowInBox,
    requireApprovalTools: permission.requireApprovalTools,
    ...(permission.allowTools === null ? {} : { allowTools: permission.allowTools }),
    readOnlyCommands: permission.readOnlyCommands,
  };
  return Object.fromEntries(
    Object.entries(full).filter(([name, value]) =>
      Array.isArray(value) ? value.length > 0 || name === "allowTools" : value !== false,
    ),
  );
}

/** A written proposal; a text says what is wrong with it. The server checks its fields. */
export function parsedProposal(text: string): PermissionInput | string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : "a permission is a JSON object";
  } catch (problem) {
    return problem instanceof Error ? problem.message : String(problem);
  }
}

function isObject(value: unknown): value is PermissionInput {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
