import type { Template } from "../agent/loop/scope.ts";
import type { Model } from "../agent/models/model.ts";
import type { CustomMode } from "../agent/policy/permission.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import type { Environment } from "./environment.ts";
import type { HooksConfig } from "./hooks.ts";
import { modelsOf, type ModelConfig } from "./models.ts";
import { templateOf, type TemplateConfig } from "./templates.ts";

export type Offer = {
  readonly templates: ReadonlyMap<string, Template>;
  readonly models: ReadonlyMap<string, Model>;
  readonly tools: ReadonlyMap<string, Tool>;
};

type WrittenOffer = {
  readonly templates: Readonly<Record<string, TemplateConfig>>;
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly tools: readonly Tool[];
};

/** The common parts of every offer. Its templates are built again in each offer, with the offer's own tools and models. */
export type OfferSource = {
  readonly path: string;
  readonly folder: string;
  readonly environment: Environment;
  readonly onRead: (path: string) => void;
  readonly hooks: HooksConfig;
  readonly modes: ReadonlyMap<string, CustomMode>;
  readonly protect: readonly string[];
  readonly templates: Readonly<Record<string, TemplateConfig>>;
};

/**
 * An offer: its written parts and the common ones, with notes for the operator. Common templates are built for each
 * offer, since their rules apply to the offer's own tools too. `place` precedes its names in messages, as in
 * `tenants.acme.`. Throws ConfigurationError for a problem, or for a name that exists already.
 */
export async function offerOf(
  { path, folder, environment, onRead, hooks, modes, protect, templates }: OfferSource,
  place: string,
  written: WrittenOffer,
  shared: Omit<Offer, "templates">,
): Promise<Offer & { readonly notes: readonly string[] }> {
  const problems = new Problems();
  problems.of(() => refuseTaken(`${path}: ${place}templates`, Object.keys(written.templates), new Set(Object.keys(templates))));
  problems.of(() => refuseTaken(`${path}: ${place}models`, Object.keys(written.models), shared.models));
  const tools = problems.of(() => toolsOf(`${path}: ${place}tools`, written.tools, shared.tools));
  const known = tools ?? shared.tools;
  const own = await problems.ofLater(() =>
    modelsOf(`${path}: ${place}models`, written.models, { folder, environment, onRead, tools: known }),
  );
  const models = new Map([...shared.models, ...(own?.models ?? [])]);
  // A problem of a model is reported once, not for each template that names it.
  const modelNames = [...new Set([...models.keys(), ...Object.keys(written.models)])];
  const vocabulary = { tools: known, modes };
  const made = (from: string, configs: Readonly<Record<string, TemplateConfig>>): (readonly [string, Template])[] =>
    Object.entries(configs).flatMap(([id, config]) => {
      const source = { path, id, place: `${from}templates.${id}`, config, hooks, protect, modelNames, vocabulary };
      const template = problems.of(() => templateOf(source));
      return template === null ? [] : [[id, template]];
    });
  const all = new Map([...made("", templates), ...made(place, written.templates)]);
  const whole = problems.none({ own, tools });
  return { templates: all, models, tools: whole.tools, notes: whole.own.notes };
}

function toolsOf(field: string, own: readonly Tool[], shared: ReadonlyMap<string, Tool>): Map<string, Tool> {
  const tools = new Map(shared);
  for (const [index, tool] of own.entries()) {
    if (tools.has(tool.name))
      throw new ConfigurationError(`${field}.${index} is named ${tool.name}, as another tool is: rename it`);
    tools.set(tool.name, tool);
  }
  return tools;
}

function refuseTaken(field: string, names: readonly string[], taken: { has(name: string): boolean }): void {
  const name = names.find((own) => taken.has(own));
  if (name !== undefined) throw new ConfigurationError(`${field}.${name} is named as one that is everybody's: rename it`);
}
