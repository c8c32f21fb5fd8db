import { toolboxOf } from "../agent/calls/stages/validation.ts";
import { readsTenant } from "../agent/actors/actor.ts";
import type { OwnPermission } from "../agent/policy/own-permission.ts";
import type { VersionedAgent } from "../agent/policy/held-template.ts";
import type { Agent } from "../db/generated/client.ts";
import type { Template } from "../agent/loop/scope.ts";
import type { Permission, PolicyBox } from "../agent/policy/permission.ts";
import type { TemplateVersionSnapshot } from "../events/snapshots.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { isJsonObject } from "../lib/json.ts";
import type { Context } from "./context.ts";

/** `configured` is null if the server does not have the template. */
export function templateNamed(
  { services }: Context,
  templateId: string,
): { readonly templateId: string; readonly configured: Template | null } {
  return { templateId, configured: services.templates.get(templateId) ?? null };
}

export function templates(context: Context): { readonly templateId: string; readonly configured: Template | null }[] {
  return [...context.services.templates.keys()].map((id) => templateNamed(context, id));
}

/** The version in a row of an agent; null for none. */
export function templateVersionOf(stored: unknown): TemplateVersionSnapshot | null {
  if (!isJsonObject(stored)) return null;
  const { digest, version } = stored;
  return typeof digest === "string" ? { digest, version: typeof version === "string" ? version : null } : null;
}

/** The facts by which the template of an agent is found, of its row. */
export function versionedAgent({
  tenant,
  templateId,
  templateVersion,
  permission,
}: Pick<Agent, "tenant" | "templateId" | "templateVersion" | "permission">): VersionedAgent {
  return {
    tenant,
    templateId,
    templateVersion: templateVersionOf(templateVersion),
    permission: permission as OwnPermission | null,
  };
}

export type ListedRule = { readonly list: "deny" | "allow" | "ask"; readonly rule: string; readonly place: string };

/** Null for actors who do not read the tenant, and for a template that is not configured. */
export function permissionOf({ actor }: Context, template: Template | null): Permission | null {
  return template === null || !readsTenant(actor) ? null : template.permission;
}

export function rulesOf({ deny, allow, ask, hosts }: Permission): readonly ListedRule[] {
  const index = ({ place }: { readonly place: string }): number => Number(place.slice(place.lastIndexOf(".") + 1));
  const listed = (
    list: ListedRule["list"],
    rules: readonly { readonly source: string; readonly place: string }[],
  ): ListedRule[] =>
    rules.toSorted((one, other) => index(one) - index(other)).map(({ source, place }) => ({ list, rule: source, place }));
  return [...listed("deny", [...deny, ...hosts.deny]), ...listed("allow", [...allow, ...hosts.allow]), ...listed("ask", ask)];
}

/** Null without a box, and for actors who do not read the tenant. */
export function boxOf({ actor }: Context, template: Template | null): PolicyBox | null {
  return template === null || !readsTenant(actor) ? null : template.box;
}

/** The places of a template's hooks in the configuration, in running order, for readers of the tenant. */
export function hooksOf({ actor }: Context, template: Template | null): readonly string[] {
  if (template === null || !readsTenant(actor)) return [];
  return Object.values(template.hooks).flatMap((hooks: readonly { readonly place: string }[]) => hooks.map(({ place }) => place));
}

export function toolsOf({ services }: Context, template: Template | null): Tool[] {
  return template === null ? [] : [...toolboxOf(services.tools, template).enabled.values()];
}

export function tools({ services }: Context): Tool[] {
  return [...services.tools.values()];
}

export type NamedModel = { readonly name: string; readonly displayName: string };

export function modelNamed({ services }: Context, name: string | null): NamedModel | null {
  const model = name === null ? undefined : services.models.get(name);
  return name === null || model === undefined ? null : { name, displayName: model.name };
}

export function models({ services }: Context): NamedModel[] {
  return [...services.models].map(([name, model]) => ({ name, displayName: model.name }));
}
