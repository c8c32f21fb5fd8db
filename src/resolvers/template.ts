import { toolboxOf } from "../agent/calls/stages/validation.ts";
import { readsTenant } from "../agent/actors/actor.ts";
import type { Template } from "../agent/loop/template.ts";
import type { Permission, PolicyBox } from "../agent/policy/permission.ts";
import type { Tool } from "../agent/tools/tool.ts";
import type { Context } from "./context.ts";

/** A template by its id; `configured` is null where the server no longer has it. */
export function templateNamed(
  { services }: Context,
  templateId: string,
): { readonly templateId: string; readonly configured: Template | null } {
  return { templateId, configured: services.templates.get(templateId) ?? null };
}

/** All templates of the configuration. */
export function templates(context: Context): { readonly templateId: string; readonly configured: Template | null }[] {
  return [...context.services.templates.keys()].map((id) => templateNamed(context, id));
}

/** A rule as the configuration has it, and its place there: explanations name both. */
export type ListedRule = { readonly list: "deny" | "allow" | "ask"; readonly rule: string; readonly place: string };

/** The permission of a template, for those who read the tenant; null for others, and where the server no longer has it. */
export function permissionOf({ actor }: Context, template: Template | null): Permission | null {
  return template === null || !readsTenant(actor) ? null : template.permission;
}

/** The rules of a permission, about calls and about hosts, list by list as they are written. */
export function rulesOf({ deny, allow, ask, hosts }: Permission): readonly ListedRule[] {
  const index = ({ place }: { readonly place: string }): number => Number(place.slice(place.lastIndexOf(".") + 1));
  const listed = (
    list: ListedRule["list"],
    rules: readonly { readonly source: string; readonly place: string }[],
  ): ListedRule[] =>
    rules.toSorted((one, other) => index(one) - index(other)).map(({ source, place }) => ({ list, rule: source, place }));
  return [...listed("deny", [...deny, ...hosts.deny]), ...listed("allow", [...allow, ...hosts.allow]), ...listed("ask", ask)];
}

/** The box of a template's programs, for those who read the tenant; null for others, and for none. */
export function boxOf({ actor }: Context, template: Template | null): PolicyBox | null {
  return template === null || !readsTenant(actor) ? null : template.box;
}

/** The places of a template's hooks in the configuration, in the order in which they run, for those who read the tenant. */
export function hooksOf({ actor }: Context, template: Template | null): readonly string[] {
  if (template === null || !readsTenant(actor)) return [];
  return Object.values(template.hooks).flatMap((hooks: readonly { readonly place: string }[]) => hooks.map(({ place }) => place));
}

/** The tools that agents of a template have. */
export function toolsOf({ services }: Context, template: Template | null): Tool[] {
  return template === null ? [] : [...toolboxOf(services.tools, template).enabled.values()];
}

/** All tools of the server. */
export function tools({ services }: Context): Tool[] {
  return [...services.tools.values()];
}

/** A model of the configuration: its name there, and what it is. */
export type NamedModel = { readonly name: string; readonly displayName: string };

/** The model of a name; null for none. */
export function modelNamed({ services }: Context, name: string | null): NamedModel | null {
  const model = name === null ? undefined : services.models.get(name);
  return name === null || model === undefined ? null : { name, displayName: model.name };
}

/** All models of the configuration. */
export function models({ services }: Context): NamedModel[] {
  return [...services.models].map(([name, model]) => ({ name, displayName: model.name }));
}
