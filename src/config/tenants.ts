import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { Type } from "typebox";
import { BUDGET_SETTINGS, MOST_BUDGETS, type Budget } from "../agent/budgets/budget.ts";
import { TOOL_LIMIT_SETTINGS, type ToolLimits } from "../agent/calls/slots.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { AnsweringFolders, folderHung } from "../agent/workspace/answering-folders.ts";
import type { WorkspaceFolders } from "../agent/workspace/roots.ts";
import { isInside } from "../lib/path-inside.ts";
import { closed, named, TEXT, withDefault, type Complete, type Written } from "../lib/setting.ts";
import { messageOf } from "../lib/text.ts";
import type { Authentication } from "../server/authenticate.ts";
import { budgetsOf } from "./budgets.ts";
import { realFolder } from "./closed-folders.ts";
import { ConfigurationError, Problems } from "./configuration-error.ts";
import { MCP_SERVERS } from "./mcp-servers.ts";
import { MODEL } from "./models.ts";
import { TEMPLATE_SETTINGS } from "./template-settings.ts";
import { offerOf, type Offer, type OfferSource } from "./templates.ts";

export const TOOLS = Type.Unsafe<readonly Tool[]>({
  type: "array",
  items: { type: "object", required: ["name", "bind"], problem: "is no tool: make it with defineTool" },
});

/** Additional parts of one tenant. Names must differ from common ones. */
export const TENANT_SETTINGS = {
  /**
   * Folders in which the tenant's agents may work, relative to the configuration's folder. Folders of different tenants
   * may not be nested. None if omitted: then each agent has its own folder.
   */
  workspaceRoots: withDefault(Type.Immutable(Type.Array(TEXT, { minItems: 1 })), null),
  /** The folder of the tenant's agents without a requested one. An empty one of each agent's own if omitted. */
  defaultWorkspace: withDefault(TEXT, null),
  /** Templates of the tenant, by id. None if omitted. */
  templates: withDefault(named(closed(TEMPLATE_SETTINGS), 0), {}),
  /** Models of the tenant, by name. None if omitted. */
  models: withDefault(named(MODEL, 0), {}),
  /** Tools of the tenant, also for templates without a list of tools. None if omitted. */
  tools: withDefault(TOOLS, []),
  /** MCP servers of the tenant, by name (docs/mcp.md). None if omitted. */
  mcpServers: withDefault(MCP_SERVERS, {}),
  /** The spending limits of all agents of the tenant (docs/budgets.md). None if omitted. */
  budgets: withDefault(Type.Immutable(Type.Array(closed(BUDGET_SETTINGS), { maxItems: MOST_BUDGETS })), []),
  /**
   * The limits of tool calls for the tenant's agents together on one server, within the server's. The server's if
   * omitted, also single ones.
   */
  toolLimits: withDefault(closed(TOOL_LIMIT_SETTINGS), null),
};

export type TenantSettings = Offer &
  TenantFolders & { readonly toolLimits: ToolLimits | null; readonly budgets: readonly Budget[] };

export type Tenants = {
  readonly everybody: TenantSettings;
  readonly named: ReadonlyMap<string, TenantSettings>;
  readonly notes: readonly string[];
};

export function tenantOf({ everybody, named: own }: Tenants, tenant: string): TenantSettings {
  return own.get(tenant) ?? everybody;
}

/** The settings of all tenants. Throws ConfigurationError with the place of a problem. */
export async function tenantsOf(
  source: OfferSource,
  authentication: Authentication,
  shared: Offer & WrittenFolders & { readonly toolLimits: ToolLimits; readonly budgets: readonly Budget[] },
  written: Readonly<Record<string, Complete<typeof TENANT_SETTINGS>>>,
): Promise<Tenants> {
  const { path, folder } = source;
  const problems = new Problems();
  const given = await problems.ofLater(() => foldersOf(`${path}: `, folder, shared));
  problems.of(() => refuseOpenFolders(path, authentication, shared, Object.values(written)));
  const common = given ?? { workspaceRoots: null, defaultWorkspace: null };
  const everybody: TenantSettings = {
    templates: shared.templates,
    keptTemplate: shared.keptTemplate,
    models: shared.models,
    tools: shared.tools,
    ...common,
    workspaceRoots: common.workspaceRoots ?? (authentication.kind === "local" ? null : []),
    toolLimits: null,
    budgets: [...shared.budgets, ...ofTemplates(shared)],
  };
  const notes = strangeTenants(authentication, Object.keys(written));
  const own = new Map<string, TenantSettings>();
  for (const [tenant, config] of Object.entries(written)) {
    const place = `tenants.${tenant}.`;
    const offer = await problems.ofLater(() => offerOf(source, place, config, shared));
    const budgets = problems.of(() => budgetsOf(`${path}: ${place}budgets`, config.budgets, null));
    const folders = await problems.ofLater(() => foldersOf(`${path}: ${place}`, folder, config));
    if (offer === null || folders === null || budgets === null) continue;
    problems.of(() => refuseData(`${path}: tenants.${tenant}`, realFolder(source.environment.dataFolder), folders));
    notes.push(...offer.notes);
    own.set(tenant, {
      ...offer,
      workspaceRoots: joined(common.workspaceRoots, folders.workspaceRoots) ?? everybody.workspaceRoots,
      defaultWorkspace: folders.defaultWorkspace ?? common.defaultWorkspace,
      budgets: [...shared.budgets, ...budgets, ...ofTemplates(offer)],
      toolLimits: config.toolLimits && limitsOf(config.toolLimits, shared.toolLimits),
    });
  }
  problems.of(() => refuseNested(path, own));
  return problems.none({ everybody, named: own, notes });
}

function ofTemplates({ templates }: Offer): readonly Budget[] {
  return [...templates.values()].flatMap(({ budgets }) => budgets);
}

/** Throws if folders would be open to several tenants, or if none is named although actors may connect. */
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

/** The actors, in words, if they may belong to several tenants; otherwise null. */
export function severalTenants(authentication: Authentication): string | null {
  if (authentication.kind === "local") return null;
  if (authentication.kind === "custom") return "actors of every tenant that authenticate names";
  const tenants = tenantsIn(authentication);
  return tenants.length > 1 ? `the tenants ${tenants.join(", ")}` : null;
}

/** The tenant without settings, if it is known that there is only one; otherwise null. */
export function onlyUnnamedTenant(authentication: Authentication, { named: own }: Pick<Tenants, "named">): string | null {
  if (authentication.kind === "custom") return null;
  const present = authentication.kind === "local" ? ["local"] : tenantsIn(authentication);
  const [first = null, ...more] = present.filter((tenant) => !own.has(tenant));
  return more.length === 0 ? first : null;
}

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

type TenantFolders = Pick<WorkspaceFolders, "workspaceRoots" | "defaultWorkspace">;

type WrittenFolders = { readonly workspaceRoots: readonly string[] | null; readonly defaultWorkspace: string | null };

/**
 * The real paths of the folders at `place`, relative to the configuration's folder. Throws ConfigurationError if one is
 * no folder.
 */
async function foldersOf(place: string, folder: string, written: WrittenFolders): Promise<TenantFolders> {
  const real = (name: string, path: string): Promise<string> => realFolderOf(`${place}${name}`, resolve(folder, path));
  const { workspaceRoots: roots, defaultWorkspace } = written;
  return {
    workspaceRoots: roots && (await Promise.all(roots.map((root, index) => real(`workspaceRoots.${index}`, root)))),
    defaultWorkspace: defaultWorkspace === null ? null : await real("defaultWorkspace", defaultWorkspace),
  };
}

/**
 * Throws ConfigurationError if a tenant's folder lies inside of another tenant's: its agents would be reachable. Two
 * may share one.
 */
function refuseNested(path: string, tenants: ReadonlyMap<string, TenantFolders>): void {
  const places = [...tenants].flatMap(([tenant, { workspaceRoots, defaultWorkspace }]) =>
    [...(workspaceRoots ?? []), ...(defaultWorkspace === null ? [] : [defaultWorkspace])].map((folder) => ({ tenant, folder })),
  );
  for (const inner of places)
    for (const outer of places)
      if (inner.tenant !== outer.tenant && inner.folder !== outer.folder && isInside(outer.folder, inner.folder))
        throw new ConfigurationError(
          `${path}: tenants.${outer.tenant} may work in ${outer.folder}, in which ${inner.folder} of tenants.${inner.tenant} lies: give each tenant folders apart from the others'`,
        );
}

/** Throws ConfigurationError if a folder lies in the data folder, which has folders of all tenants' agents. */
function refuseData(place: string, dataFolder: string, { workspaceRoots, defaultWorkspace }: TenantFolders): void {
  const folders = [...(workspaceRoots ?? []), ...(defaultWorkspace === null ? [] : [defaultWorkspace])];
  const inside = folders.find((folder) => isInside(dataFolder, folder));
  if (inside !== undefined)
    throw new ConfigurationError(
      `${place}: ${inside} is in the data folder ${dataFolder}, which is all tenants': name another folder`,
    );
}

/** A start does not wait for a hanging file system. */
const answering = new AnsweringFolders();

async function realFolderOf(field: string, folder: string): Promise<string> {
  if (!(await answering.answers(folder))) throw new ConfigurationError(`${field}: ${folderHung(folder)}`);
  const real = await realpath(folder).catch((error: unknown) => {
    throw new ConfigurationError(`${field}: ${folder} is not a folder that can be read (${messageOf(error)})`);
  });
  if ((await stat(real)).isDirectory()) return real;
  throw new ConfigurationError(`${field}: ${folder} is a file: name a folder`);
}
