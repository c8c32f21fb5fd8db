import { toolboxOf } from "../agent/calls/stages/discovery.ts";
import type { Template } from "../agent/loop/template.ts";
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
