import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Tool } from "../agent/tools/tool.ts";
import type { Json } from "../lib/json.ts";
import type { Written } from "../lib/setting.ts";
import type { TriplaneConfig } from "./config.ts";
import type { TENANT_SETTINGS } from "./tenants.ts";

/**
 * A digest of each part of the configuration that has a say in rights, or in how long events are kept, by its place:
 * `templates.assistant`, `actors.petra`. Listeners (`on`) are among them, since they may decide.
 */
export type ConfigurationParts = Readonly<Record<string, string>>;

/** The parts as they hold for a tenant: of the actors, those of the tenant. */
export function configurationParts(config: TriplaneConfig): (tenant: string) => ConfigurationParts {
  const { hooks, on, authenticate, operations, retention, sandbox } = config;
  const shared = {
    ...digests("", { hooks, on, authenticate, operations, retention, sandbox }),
    ...digests("agentHooks.", config.agentHooks ?? {}),
    ...digests("permissionModes.", config.permissionModes ?? {}),
    ...offered(config),
  };
  const actors = config.actors ?? [];
  const tenants = config.tenants ?? {};
  return (tenant) => {
    const own = Map.groupBy(
      actors.filter((actor) => actor.tenant === tenant),
      ({ id }) => id,
    );
    const besides = Object.hasOwn(tenants, tenant) ? (tenants[tenant] ?? {}) : {};
    const roots = [...(config.workspaceRoots ?? []), ...(besides.workspaceRoots ?? [])];
    const folders = roots.length === 0 ? besides : { ...besides, workspaceRoots: roots };
    return { ...shared, ...offered(folders), ...digests("actors.", Object.fromEntries(own)) };
  };
}

/** What everybody is offered, or a tenant besides. Names of both are apart. */
function offered({ templates, tools, workspaceRoots, defaultWorkspace }: Written<typeof TENANT_SETTINGS>): ConfigurationParts {
  return {
    ...digests("", { workspaceRoots, defaultWorkspace }),
    ...digests("templates.", templates ?? {}),
    ...digests("tools.", Object.fromEntries((tools ?? []).map((tool) => [tool.name, declared(tool)]))),
  };
}

/** The beginning of a digest of a whole configuration: servers that were given the same have the same. */
export function configurationDigest(config: TriplaneConfig): string {
  return digestOf(written(config)).slice(0, 12);
}

/** One digest of all parts. */
export function digestOf(parts: Json): string {
  return createHash("sha256")
    .update(canonicalize(parts) ?? "")
    .digest("hex");
}

function digests(prefix: string, parts: Readonly<Record<string, unknown>>): ConfigurationParts {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [`${prefix}${name}`, digestOf(written(value))]));
}

/** The declaration of a tool: rules and people judge its calls by it, and its hooks may deny them. */
function declared({
  name,
  description,
  inputSchema,
  readOnly,
  idempotent,
  cacheable,
  risk,
  paths,
  commands,
  hooks,
}: Tool): object {
  // A tool that is not cacheable, or has no command lines, is declared without them: a new version alone changes no digest.
  const more = { ...(cacheable && { cacheable }), ...(Object.keys(commands).length > 0 && { commands }) };
  return { name, description, inputSchema, readOnly, idempotent, ...more, risk, paths, hooks };
}

/** The value as JSON: the operator's own code by its text. What a tool is bound by is Triplane's, and another text in a bundle. */
function written(value: unknown): Json {
  const text = JSON.stringify(value, (key, part: unknown) => {
    if (typeof part === "function") return key === "bind" ? undefined : String(part);
    if (part instanceof Map || part instanceof Set) return [...(part as Iterable<unknown>)];
    if (part instanceof RegExp) return String(part);
    return part;
  });
  return JSON.parse(text ?? "null") as Json;
}
