import { isDeepStrictEqual } from "node:util";
import type { PermissionSource } from "../agent/policy/permission-source.ts";
import type { Availability } from "../agent/workspace/sandbox/available.ts";
import type { SandboxDemand } from "../agent/workspace/sandbox/sandbox.ts";
import type { TriplaneConfig } from "./config.ts";
import type { Environment } from "./environment.ts";
import { presets } from "./presets.ts";
import type { TemplateConfig } from "./template-settings.ts";

type Named = { readonly name: string; readonly place: string; readonly template: TemplateConfig };

/** The start's lines about boxes: which exist, whose programs run in one, and the meaning of each preset there. */
export function sandboxLines(available: Availability, config: Pick<TriplaneConfig, "templates" | "tenants">): readonly string[] {
  const templates = templatesOf(config);
  return [...boxLines(available, templates), ...templates.flatMap((named) => presetLine(available, named))];
}

export function unboxedNotes(config: Pick<TriplaneConfig, "templates" | "tenants" | "sandbox">): readonly string[] {
  const templates = templatesOf(config);
  const unboxed = templates.filter(({ template: { permission, sandbox } }) => !isBoxed(sandbox) && boxOnly(permission));
  const notes = unboxed.map(({ place, template: { permission } }) => {
    const preset = presetOf(permission) === "workspace" ? "presets.workspace" : "autoAllowInBox";
    return `${place}: ${preset} lets calls run without asking in a box only, and the template has no \`sandbox: "required"\`: they are asked about, as with presets.askAll.`;
  });
  if (templates.some(({ template: { sandbox } }) => isBoxed(sandbox))) return notes;
  const settings = (["hosts", "cgroup"] as const).filter((name) => config.sandbox?.[name] !== undefined);
  const idle = settings.map(
    (name) => `sandbox.${name} is for programs in boxes, and no template has \`sandbox: "required"\`: it has no effect.`,
  );
  return [...notes, ...idle];
}

/** A note about templates that may share a folder, if one has a box and another runs command lines unasked without. */
export function sharedFolderNotes(
  config: Pick<TriplaneConfig, "templates" | "tenants" | "workspaceRoots" | "defaultWorkspace">,
): readonly string[] {
  const places = [config, ...Object.values(config.tenants ?? {})];
  const isShared =
    (config.workspaceRoots === undefined && config.tenants === undefined) ||
    places.some(({ workspaceRoots = [], defaultWorkspace }) => workspaceRoots.length > 0 || defaultWorkspace !== undefined);
  const templates = templatesOf(config);
  const boxed = templates.find(({ template }) => isBoxed(template.sandbox));
  const unboxed = templates.filter(
    ({ template }) => !isBoxed(template.sandbox) && (template.permission?.readOnlyCommands === true || runsUnasked(template)),
  );
  if (!isShared || boxed === undefined) return [];
  return unboxed.map(
    ({ place }) =>
      `${place} runs command lines without a box, and can be given the folder of ${boxed.place}, whose programs have one: what those write there, such as a repository, it reads and obeys outside. Give them folders of their own.`,
  );
}

/** Notes about templates whose programs run unasked as the server's user, and can read providers' keys. */
export function keyNotes(
  config: Pick<TriplaneConfig, "templates" | "tenants">,
  { anthropic, openai }: Pick<Environment, "anthropic" | "openai">,
): readonly string[] {
  const hasKey = anthropic !== null || (openai !== null && openai.apiKey !== null);
  return templatesOf(config)
    .filter(({ template }) => hasKey && !isBoxed(template.sandbox) && runsUnasked(template))
    .map(
      ({ place }) =>
        `${place}: programs run without asking and without a box, as the server's user: they can read its environment, with the keys of providers. Say \`sandbox: "required"\`.`,
    );
}

function runsUnasked({ permission, tools }: TemplateConfig): boolean {
  const names = (list: readonly string[] | undefined): boolean => list?.includes("bash_run") === true;
  if (permission === undefined || (tools !== undefined && !names(tools))) return false;
  if (names(permission.denyTools) || names(permission.deny)) return false;
  if (permission.allowTools !== undefined && !names(permission.allowTools)) return false;
  if (names(permission.autoAllowTools) || names(permission.allow)) return true;
  return permission.mode === "auto" && !names(permission.requireApprovalTools) && !names(permission.ask);
}

function boxLines(available: Availability, templates: readonly Named[]): readonly string[] {
  if (!available.isAvailable) return [`none, so programs of agents run as the server's user: ${available.reason}`];
  const { version, followsLinks } = available;
  const boxed = templates.filter(({ template: { sandbox } }) => isBoxed(sandbox)).map(({ name }) => name);
  if (boxed.length === 0) return [`bubblewrap ${version}: no template requires one`];
  const running = `bubblewrap ${version}: programs of ${boxed.join(", ")} run in boxes`;
  return followsLinks ? [running, OLD] : [running];
}

/** The cost of a bubblewrap that follows links at the places of its mounts. */
const OLD =
  "bubblewrap is below 0.12: in a workspace with protected or covered paths, such as any git repository, background programs (background: true) are refused, and programs wait for each other. docs/sandbox.md says how to build a newer one, also on Debian 12";

function presetLine(available: Availability, { name, template: { permission, sandbox } }: Named): readonly string[] {
  const preset = presetOf(permission);
  switch (preset) {
    case null:
      return [];
    case "workspace":
      return isBoxed(sandbox)
        ? [`${name} has presets.workspace, in a box: commands and changes of files in its workspace run without asking`]
        : [];
    case "askAll":
      return [`${name} has presets.askAll, ${placeOf(available, sandbox)}: it asks before each command and each change`];
    case "readOnly":
      return [
        `${name} has presets.readOnly, ${placeOf(available, sandbox)}: what is known to only read runs without asking, and it asks before all else`,
      ];
  }
}

function placeOf(available: Availability, sandbox: SandboxDemand | undefined): string {
  if (isBoxed(sandbox)) return "in a box";
  return available.isAvailable ? "without a box" : "without a box, since none can be made here";
}

function presetOf(permission: PermissionSource | undefined): keyof typeof presets | null {
  const names = ["readOnly", "askAll", "workspace"] as const satisfies readonly (keyof typeof presets)[];
  return names.find((name) => isDeepStrictEqual(permission, presets[name])) ?? null;
}

function boxOnly(permission: PermissionSource | undefined): boolean {
  return (permission?.autoAllowInBox ?? []).length > 0;
}

function isBoxed(sandbox: SandboxDemand | undefined): boolean {
  return sandbox === "required";
}

function templatesOf({ templates, tenants }: Pick<TriplaneConfig, "templates" | "tenants">): readonly Named[] {
  const everybodys = Object.entries(templates).map(([id, template]) => ({ name: id, place: `templates.${id}`, template }));
  const own = Object.entries(tenants ?? {}).flatMap(([tenant, offer]) =>
    Object.entries(offer.templates ?? {}).map(([id, template]) => ({
      name: `${id} of ${tenant}`,
      place: `tenants.${tenant}.templates.${id}`,
      template,
    })),
  );
  return [...everybodys, ...own];
}
