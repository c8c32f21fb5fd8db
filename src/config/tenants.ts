import { Type } from "typebox";
import { TOOL_LIMIT_SETTINGS, type ToolLimits } from "../agent/calls/slots.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { closed, named, TEXT, withDefault, type Complete, type Written } from "../lib/setting.ts";
import type { Authentication } from "../server/authenticate.ts";
import { realFolder } from "./closed-folders.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import { foldersOf, refuseData, refuseNested, type TenantFolders, type WrittenFolders } from "./folders.ts";
import { MODEL } from "./models.ts";
import { offerOf, type Offer, type OfferSource } from "./offers.ts";
import { TEMPLATE_SETTINGS } from "./templates.ts";

/** The form of a list of tools. */
export const TOOLS = Type.Unsafe<readonly Tool[]>({
  type: "array",
  items: { type: "object", required: ["name", "bind"], problem: "is no tool: make it with defineTool" },
});

/** The things that one tenant has besides what is everybody's. Nothing may have the name of something that is everybody's. */
export const TENANT_SETTINGS = {
  /** Folders in which the tenant's agents may work, from the configuration's folder. None of one tenant may lie inside of another's. None if omitted: then each agent works in a folder of its own. */
  workspaceRoots: withDefault(Type.Immutable(Type.Array(TEXT, { minItems: 1 })), null),
  /** The folder in which the tenant's agents work for whom none is named. An empty one of each agent's own if omitted. */
  defaultWorkspace: withDefault(TEXT, null),
  /** Templates of the tenant, by id. None if omitted. */
  templates: withDefault(named(closed(TEMPLATE_SETTINGS), 0), {}),
  /** Models of the tenant, by name. None if omitted. */
  models: withDefault(named(MODEL, 0), {}),
  /** Tools of the tenant: templates that name no tools have them too. None if omitted. */
  tools: withDefault(TOOLS, []),
  /** The limits of the tool calls that the tenant's agents together may run on one server, within those of the server. Those of the server if omitted, also one by one. */
  toolLimits: withDefault(closed(TOOL_LIMIT_SETTINGS), null),
};

/** A tenant as it is configured, complete. */
export type TenantSettings = Offer & TenantFolders & { readonly toolLimits: ToolLimits | null };

/** The settings of every tenant. */
export type Tenants = {
  /** What a tenant has of whom the configuration says nothing. */
  readonly everybody: TenantSettings;
  readonly named: ReadonlyMap<string, TenantSettings>;
  readonly notes: readonly string[];
};

/** The settings of a tenant. */
export function tenantOf({ everybody, named: own }: Tenants, tenant: string): TenantSettings {
  return own.get(tenant) ?? everybody;
}

/** The settings of tenants, of what is everybody's and what is written for each. Throws ConfigurationError with the place of what is wrong. */
export async function tenantsOf(
  source: OfferSource,
  authentication: Authentication,
  shared: Offer & WrittenFolders & { readonly toolLimits: ToolLimits },
  written: Readonly<Record<string, Complete<typeof TENANT_SETTINGS>>>,
): Promise<Tenants> {
  const { path, folder } = source;
  const problems = new Problems();
  const given = await problems.ofLater(() => foldersOf(`${path}: `, folder, shared));
  problems.of(() => refuseOpenFolders(path, authentication, shared, Object.values(written)));
  const common = given ?? { workspaceRoots: null, defaultWorkspace: null };
  const everybody: TenantSettings = {
    templates: shared.templates,
    models: shared.models,
    tools: shared.tools,
    ...common,
    workspaceRoots: common.workspaceRoots ?? (authentication.kind === "local" ? null : []),
    toolLimits: null,
  };
  const notes = strangeTenants(authentication, Object.keys(written));
  const own = new Map<string, TenantSettings>();
  for (const [tenant, config] of Object.entries(written)) {
    const place = `tenants.${tenant}.`;
    const offer = await problems.ofLater(() => offerOf(source, place, config, shared));
    const folders = await problems.ofLater(() => foldersOf(`${path}: ${place}`, folder, config));
    if (offer === null || folders === null) continue;
    problems.of(() => refuseData(`${path}: tenants.${tenant}`, realFolder(source.environment.dataFolder), folders));
    notes.push(...offer.notes);
    own.set(tenant, {
      ...offer,
      workspaceRoots: joined(common.workspaceRoots, folders.workspaceRoots) ?? everybody.workspaceRoots,
      defaultWorkspace: folders.defaultWorkspace ?? common.defaultWorkspace,
      toolLimits: config.toolLimits && limitsOf(config.toolLimits, shared.toolLimits),
    });
  }
  problems.of(() => refuseNested(path, own));
  return problems.none({ everybody, named: own, notes });
}

/** Throws if folders would be open to more than one tenant, or none is named although actors may connect. */
function refuseOpenFolders(
  path: string,
  authentication: Authentication,
  { workspaceRoots, defaultWorkspace }: WrittenFolders,
  tenants: readonly WrittenFolders[],
): void {
  if (authentication.kind === "local") return;
  const several = severalTenants(authentication);
  if (several !== null) {
    for (const [field, given] of Object.entries({ workspaceRoots, defaultWorkspace }))
      if (given !== null)
        throw new ConfigurationError(
          `${path}: ${field} would be open to ${several}: write tenants.TENANT.${field} for each that has one`,
        );
  } else if (workspaceRoots === null && tenants.every((tenant) => tenant.workspaceRoots === null))
    throw new ConfigurationError(
      `${path}: workspaceRoots is required if actors may connect: name the folders in which agents may work`,
    );
}

/** Those who may come, in words, if they may be of more than one tenant; otherwise null. */
export function severalTenants(authentication: Authentication): string | null {
  if (authentication.kind === "local") return null;
  if (authentication.kind === "custom") return "actors of every tenant that authenticate names";
  const tenants = tenantsIn(authentication);
  return tenants.length > 1 ? `the tenants ${tenants.join(", ")}` : null;
}

/** Of tenants that nobody can be of, such as misspelled ones. */
function strangeTenants(authentication: Authentication, written: readonly string[]): string[] {
  if (authentication.kind === "custom") return [];
  const known = authentication.kind === "local" ? ["local"] : tenantsIn(authentication);
  return written
    .filter((tenant) => !known.includes(tenant))
    .map((tenant) => `tenants.${tenant}: no actor is of this tenant; those that are known are ${known.join(", ")}.`);
}

function tenantsIn({ actors }: Extract<Authentication, { kind: "tokens" }>): string[] {
  return [...new Set(actors.map(({ tenant }) => tenant))];
}

/** Limits of a tenant: those that are not written are the server's. */
function limitsOf(written: Written<typeof TOOL_LIMIT_SETTINGS>, { running, waiting, waitMs }: ToolLimits): ToolLimits {
  return {
    running: written.running ?? running,
    waiting: written.waiting ?? waiting,
    waitMs: written.waitMs ?? waitMs,
  };
}

function joined<Value>(some: readonly Value[] | null, more: readonly Value[] | null): readonly Value[] | null {
  return some === null || more === null ? (some ?? more) : [...some, ...more];
}
