import type { Template } from "../agent/loop/template.ts";
import type { Model } from "../agent/models/model.ts";
import type { CustomMode } from "../agent/policy/permission.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import type { Environment } from "./environment.ts";
import type { HooksConfig } from "./hooks.ts";
import { modelsOf, type ModelConfig } from "./models.ts";
import { templateOf, type TemplateConfig } from "./templates.ts";

/** The things that agents are made of, by name. */
export type Offer = {
  readonly templates: ReadonlyMap<string, Template>;
  readonly models: ReadonlyMap<string, Model>;
  readonly tools: ReadonlyMap<string, Tool>;
};

/** An offer as it is written: of everybody, or of one tenant. */
type WrittenOffer = {
  readonly templates: Readonly<Record<string, TemplateConfig>>;
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly tools: readonly Tool[];
};

/** The parts of a configuration that hold for each offer: templates among them, which each offer makes of its own tools and models. */
export type OfferSource = {
  readonly path: string;
  /** The configuration's folder. */
  readonly folder: string;
  readonly environment: Environment;
  /** Hears of each file that is read. */
  readonly onRead: (path: string) => void;
  readonly hooks: HooksConfig;
  readonly modes: ReadonlyMap<string, CustomMode>;
  /** Paths that boxes protect besides those that they always do. */
  readonly protect: readonly string[];
  /** The templates that are everybody's. */
  readonly templates: Readonly<Record<string, TemplateConfig>>;
};

/**
 * An offer: what is written besides what is shared, and notes for the operator. Templates that are everybody's are made for
 * each offer: a rule in them speaks of the offer's own tools too. `place` stands before its names in messages, as in
 * `tenants.acme.`. Throws ConfigurationError if something is wrong, or has the name of something that is there already.
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
  // What is wrong with a model is told once, and not again by each template that names it.
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
