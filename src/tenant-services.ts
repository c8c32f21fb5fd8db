import { sep } from "node:path";
import { askInBackground } from "./agent/approvals/hosts/ask-host.ts";
import { TenantBudgets } from "./agent/budgets/tenant-budgets.ts";
import { ToolSlots } from "./agent/calls/slots.ts";
import { knownParts, type PartNames } from "./agent/loop/lease.ts";
import type { AgentServices, ServerServices } from "./agent/loop/scope.ts";
import { Manuals } from "./agent/loop/manuals.ts";
import { TemplateVersions } from "./agent/loop/template-versions.ts";
import { measured, MODEL_OUTCOMES } from "./agent/models/measured.ts";
import type { Model } from "./agent/models/model.ts";
import { ShapeChecks } from "./agent/tools/shapes/shape-checks.ts";
import { ToolRegistry } from "./agent/tools/tool-registry.ts";
import { allowedFolders } from "./agent/workspace/roots.ts";
import type { Settings } from "./config/settings.ts";
import type { Tenants, TenantSettings } from "./config/tenants.ts";
import { ApprovalKind, ApprovalState } from "./db/generated/enums.ts";
import { CACHE_MISS_REASONS } from "./events/cache-miss.ts";
import { DONE_REASONS } from "./db/commit/change.ts";
import { TOOL_OUTCOMES } from "./deliveries/operator-reports.ts";
import type { Meters } from "./telemetry/meters.ts";

export function partsOf(
  { tenants, agentHooks }: Settings,
  ownWorkspaces: string,
  models: ReadonlyMap<string, Model> = new Map(),
): string {
  const namesOf = (own: TenantSettings): PartNames => ({
    templates: [...own.templates.keys()],
    models: [...own.models.keys(), ...models.keys()],
    hooks: [...agentHooks.keys()],
    folders: allowedFolders({ ...own, ownWorkspaces })?.map((folder) => (folder.endsWith(sep) ? folder : folder + sep)) ?? null,
  });
  return knownParts(namesOf(tenants.everybody), new Map([...tenants.named].map(([tenant, own]) => [tenant, namesOf(own)])));
}

/** The services of each tenant: its own configuration, and the shared services of this server. Its models are measured. */
export function servicesByTenant(
  shared: Omit<ServerServices, "of">,
  { everybody, named }: Tenants,
  models: ReadonlyMap<string, Model> | undefined,
): ServerServices["of"] {
  const versions = new TemplateVersions(shared.sql, shared.logger);
  const manuals = new Manuals(shared.sql);
  const servicesOf = ({ toolLimits, keptTemplate, budgets, ...own }: TenantSettings): AgentServices => {
    const heldTemplate = versions.of({ templates: own.templates, keptTemplate });
    return {
      ...shared,
      ...own,
      heldTemplate,
      budgets: new TenantBudgets(budgets, shared.rememberedBudgets),
      manuals,
      hasModel: (name) => own.models.has(name) || models?.has(name) === true,
      modelOfTemplate: (templateId) => own.templates.get(templateId)?.model,
      tools: new ToolRegistry(own.tools.values()),
      mcpServers: new Map(),
      shapes: new ShapeChecks(),
      askInBackground: (program, host) => askInBackground({ ...shared, heldTemplate }, program, host),
      models: new Map(
        [...own.models, ...(models ?? [])].map(([name, model]) => [name, measured(name, model, shared.meters, shared.logger)]),
      ),
      slots: toolLimits === null ? shared.slots : new ToolSlots(toolLimits, shared.slots),
    };
  };
  const others = servicesOf(everybody);
  const own = new Map([...named].map(([tenant, tenantSettings]) => [tenant, servicesOf(tenantSettings)]));
  beginMeters(shared.meters, [others, ...own.values()]);
  return (tenant) => own.get(tenant) ?? others;
}

function beginMeters(meters: Meters, of: readonly Pick<AgentServices, "models" | "tools">[]): void {
  meters.begin({
    models: of.flatMap(({ models }) => [...models.keys()]),
    priced: of.flatMap(({ models }) => [...models].flatMap(([name, { price }]) => (price === null ? [] : [name]))),
    tools: of.flatMap(({ tools }) => [...tools.keys()]),
    modelOutcomes: MODEL_OUTCOMES,
    cacheMissReasons: CACHE_MISS_REASONS,
    toolOutcomes: TOOL_OUTCOMES,
    turnReasons: DONE_REASONS,
    approvalKinds: Object.keys(ApprovalKind),
    approvalOutcomes: Object.keys(ApprovalState).filter((state) => state !== ApprovalState.PENDING),
  });
}
