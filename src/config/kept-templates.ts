import { Type, type TSchema } from "typebox";
import type { Template } from "../agent/loop/scope.ts";
import type { StoredVersion } from "../agent/loop/template-versions.ts";
import type { Missing } from "../agent/policy/held-template.ts";
import { readPermission, type PermissionProblem, type Vocabulary } from "../agent/policy/permission-source.ts";
import { formCheck } from "../lib/form.ts";
import { isJsonObject } from "../lib/json.ts";
import { protectedPaths } from "../agent/workspace/sandbox/protected-paths.ts";
import { completeTemplate, TEMPLATE_SETTINGS, type TemplateConfig } from "./template-settings.ts";

export type KeptSource = { readonly protect: readonly string[]; readonly vocabulary: Vocabulary };

/** The client tools that a version names are the present ones: their declarations are not read again. */
const { hooks: _hooks, name: _name, description: _description, metadata: _metadata, ...DATA } = TEMPLATE_SETTINGS;
const SETTINGS: Readonly<Record<string, TSchema>> = { ...DATA, clientTools: Type.Optional(Type.Object({})) };

const problemsOf = formCheck(Type.Object({ ...SETTINGS }), "the version");

/**
 * An earlier version of a template: its data as it was stored, with the present code. Of the present settings, those that
 * tighten hold as well. Missing if this server cannot hold to the stored permission. `onNote` is called with each rule of a
 * tool that is not there.
 */
export function keptTemplate(
  { protect, vocabulary }: KeptSource,
  present: Template,
  version: StoredVersion,
  onNote: (note: string) => void,
): Template | Missing {
  const { digest } = version;
  const short = digest.slice(0, 12);
  const unreadable = (problems: readonly string[]): Missing => ({
    missing: `a part of the version ${short} of the template ${present.id} (${problems.slice(0, SHOWN).join("; ")})`,
  });
  const data = knownSettings(version.data);
  const problems = problemsOf(data);
  if (problems.length > 0) return unreadable(problems);
  const config = data as TemplateConfig;
  const place = `templates.${present.id}@${short}.permission`;
  const { permission, problems: ofPermission } = readPermission(config.permission ?? {}, place, {
    ...vocabulary,
    onAbsent: (rule, at) => onNote(`${at}: ${rule} names no tool that is there: no call fits it`),
  });
  const grave = ofPermission.filter(isGrave);
  if (grave.length > 0) return unreadable(grave.map(({ field, message }) => `${["permission", ...field].join(".")}: ${message}`));
  const kept = completeTemplate(config);
  const override = kept.subagents?.overrides.permission;
  const sandbox = present.sandbox === "required" ? present.sandbox : kept.sandbox;
  return {
    ...kept,
    id: present.id,
    name: present.name,
    description: present.description,
    metadata: present.metadata,
    onTemplateChange: present.onTemplateChange,
    data: isJsonObject(version.data) ? version.data : {},
    digest,
    permission,
    presentPermission: present.permission,
    hooks: present.hooks,
    // Agents begin with them, and no version is kept by then.
    schedules: present.schedules,
    budgets: present.budgets,
    childPermissions: [...(override === undefined ? [] : [override]), ...present.childPermissions],
    above: [],
    sandbox,
    box: sandbox === "none" ? null : { protectedPaths: protectedPaths(protect) },
    selfApproval: kept.selfApproval && present.selfApproval,
    approvalQuorum: Math.max(kept.approvalQuorum, present.approvalQuorum),
    exposeThinking: kept.exposeThinking && present.exposeThinking,
  };
}

/** The problems that an error names. */
const SHOWN = 3;

/** The settings that this release knows. */
function knownSettings(data: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(data) ? Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(SETTINGS, name))) : {};
}

/** Only limits must be understood. */
function isGrave({ field: [list] }: PermissionProblem): boolean {
  return list === undefined || list === "deny" || list === "ask" || list === "mode";
}
