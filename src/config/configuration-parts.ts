import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Tool } from "../agent/tools/tool.ts";
import type { Json } from "../lib/json.ts";
import type { TriplaneConfig } from "./config.ts";

/** A digest of each part of the configuration that has a say in rights, by its place: `templates.assistant`, `actors.petra`. */
export type ConfigurationParts = Readonly<Record<string, string>>;

/** The parts as they hold for a tenant: of the actors, those of the tenant. */
export function configurationParts(config: TriplaneConfig): (tenant: string) => ConfigurationParts {
  const { hooks, workspaceRoots, defaultWorkspace, authenticate, operations } = config;
  const shared = {
    ...digests("", { hooks, workspaceRoots, defaultWorkspace, authenticate, operations }),
    ...digests("templates.", config.templates),
    ...digests("agentHooks.", config.agentHooks ?? {}),
    ...digests("permissionModes.", config.permissionModes ?? {}),
    ...digests("tools.", Object.fromEntries((config.tools ?? []).map((tool) => [tool.name, declared(tool)]))),
  };
  const actors = config.actors ?? [];
  return (tenant) => {
    const own = Map.groupBy(
      actors.filter((actor) => actor.tenant === tenant),
      ({ id }) => id,
    );
    return { ...shared, ...digests("actors.", Object.fromEntries(own)) };
  };
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

/** The declaration of a tool: rules and people judge its calls by it. */
function declared({ name, description, inputSchema, readOnly, idempotent, risk, paths }: Tool): object {
  return { name, description, inputSchema, readOnly, idempotent, risk, paths };
}

/** The value as JSON: the operator's own code by its text. */
function written(value: unknown): Json {
  const text = JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part === "function") return String(part);
    if (part instanceof Map || part instanceof Set) return [...(part as Iterable<unknown>)];
    if (part instanceof RegExp) return String(part);
    return part;
  });
  return JSON.parse(text ?? "null") as Json;
}
