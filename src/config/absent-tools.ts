import type { Template } from "../agent/loop/scope.ts";
import type { Permission } from "../agent/policy/permission.ts";
import { isOfServerTools } from "../agent/tools/tool.ts";
import type { McpServersRead } from "./mcp-servers.ts";
import { TOOLS_BY_SETTING } from "./presets.ts";
import type { Tenants } from "./tenants.ts";

type Named = { readonly place: string; readonly source: string; readonly name: string };

/** Notes about tools of MCP servers that templates name, and that no configured server can have. A disabled one is left out on purpose. */
export function absentToolNotes({ everybody, named }: Tenants, { servers, disabled }: McpServersRead): readonly string[] {
  const configured = [...servers, ...disabled];
  const offers = [[null, everybody] as const, ...named];
  const notes = offers.flatMap(([offered, { templates, tools }]) =>
    [...templates.values()]
      .flatMap(namedBy)
      .filter(({ name }) => isOfServerTools(name) && !tools.has(name))
      .filter(
        ({ name }) =>
          !configured.some(({ tenant, server }) => (tenant ?? offered) === offered && name.startsWith(`mcp__${server.name}__`)),
      )
      .map(({ place, source, name }) => `${place}: ${source} has no effect yet: no tool is named ${name} at present.`),
  );
  return [...new Set(notes)];
}

function namedBy({ tools, permission }: Template): readonly Named[] {
  const place = permission.place.replace(/\.permission$/, ".tools");
  return [...listed(place, tools ?? []), ...namedByPermission(permission)];
}

function namedByPermission(permission: Permission): readonly Named[] {
  const { place, deny, allow, ask } = permission;
  const rules = [...deny, ...allow, ...ask].map((rule) => ({
    place: rule.place,
    source: rule.source,
    name: rule.source.replace(/\(.*$/s, ""),
  }));
  const lists = (["allowTools", "denyTools", "autoAllowTools", "autoAllowInBox", "requireApprovalTools"] as const).flatMap(
    (list) => listed(`${place}.${list}`, permission[list] ?? []),
  );
  return [...rules, ...lists];
}

function listed(place: string, names: readonly string[]): readonly Named[] {
  return names.map((name, index) => ({ place: `${place}.${index}`, source: name, name }));
}

/** Notes about settings of templates that have no effect, since the list of tools lacks their tool. */
export function unusedSettingNotes({ everybody, named }: Tenants): readonly string[] {
  const notes = [everybody, ...named.values()].flatMap(({ templates }) => [...templates.values()].flatMap(unusedIn));
  return [...new Set(notes)];
}

/** Notes about trusted tools of memory that no template of the tenant can have at present. */
export function trustedToolNotes({ everybody, named }: Tenants, { servers, disabled }: McpServersRead): readonly string[] {
  const ofServers = [...servers, ...disabled].map(({ server }) => `mcp__${server.name}__`);
  const notes = [everybody, ...named.values()].flatMap(({ templates, tools }) =>
    [...templates.values()].flatMap((template) => {
      const place = template.permission.place.replace(/\.permission$/, ".memory.trustedTools");
      const isThere = (name: string): boolean =>
        tools.has(name) || Object.hasOwn(template.clientTools, name) || ofServers.some((own) => name.startsWith(own));
      return listed(place, template.memory?.trustedTools ?? [])
        .filter(({ name }) => !isThere(name))
        .map(({ place: at, name }) => `${at}: ${name} has no effect yet: no tool is named so at present.`);
    }),
  );
  return [...new Set(notes)];
}

function unusedIn(template: Template): readonly string[] {
  const { tools, permission } = template;
  if (tools === null) return [];
  const place = permission.place.replace(/\.permission$/, "");
  return [...TOOLS_BY_SETTING]
    .filter(([tool, { name }]) => template[name] !== null && !tools.includes(tool))
    .map(([tool, { name }]) => `${place}.${name} has no effect: ${place}.tools does not name ${tool}.`);
}
