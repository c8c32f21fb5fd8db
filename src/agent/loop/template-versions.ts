import { LRUCache } from "lru-cache";
import type { Sql, Statement } from "../../db/sql.ts";
import type { Json } from "../../lib/json.ts";
import { byteLength } from "../../lib/text.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { HeldTemplate, Missing, VersionedAgent } from "../policy/held-template.ts";
import type { VersionOfAgent } from "../policy/own-permission.ts";
import type { Template } from "./scope.ts";

/** The data of a version, as a turn stored it. */
export type StoredVersion = { readonly digest: string; readonly data: Json };

/** The templates of a tenant, and earlier versions of them with the present code. */
export type ConfiguredTemplates = {
  readonly templates: ReadonlyMap<string, Template>;
  readonly keptTemplate: (present: Template, version: StoredVersion, onNote: (note: string) => void) => Template | Missing;
};

type Row = { readonly data: Json };

const READ: Statement<Row, [tenant: string, digest: string]> = {
  name: "read_template_version",
  text: "SELECT data FROM template_version WHERE tenant = $1 AND digest = $2",
};

/** The memory for versions that agents of this server keep, in bytes of their data. */
const MEMORY = 32 * 1024 * 1024;

/**
 * Finds the template of an agent. With `onTemplateChange: "keep"` that is the version of the agent's latest turn, as long as
 * its data is stored. Versions are read once, and remembered.
 */
export class TemplateVersions {
  readonly #sql: Sql;
  readonly #logger: Pick<Logger, "warn">;
  readonly #kept = new LRUCache<string, { readonly template: Template | Missing }>({ maxSize: MEMORY });

  constructor(sql: Sql, logger: Pick<Logger, "warn">) {
    this.#sql = sql;
    this.#logger = logger;
  }

  /** For the agents of tenants with these templates. */
  of(configured: ConfiguredTemplates): HeldTemplate<Template> {
    return async (agent) => {
      const template = await this.#find(configured, agent);
      const ancestors = agent.permission?.ancestors ?? [];
      if ("missing" in template || ancestors.length === 0) return template;
      const above: Template[] = [];
      for (const { templateId, templateVersion = null } of ancestors) {
        const found = await this.#find(configured, { tenant: agent.tenant, templateId, templateVersion });
        if ("missing" in found) return { missing: `${found.missing} of an ancestor` };
        above.push(found);
      }
      return { ...template, above };
    };
  }

  async #find(
    { templates, keptTemplate }: ConfiguredTemplates,
    { tenant, templateId, templateVersion }: Omit<VersionedAgent, "permission">,
  ): Promise<Template | Missing> {
    const present = templates.get(templateId);
    if (present === undefined) return { missing: `the template ${templateId}` };
    if (!isKept(present, templateVersion)) return present;
    const { digest } = templateVersion;
    const key = JSON.stringify([tenant, templateId, digest]);
    const known = this.#kept.get(key);
    if (known !== undefined) return known.template;
    const [row] = await this.#sql.query(READ, [tenant, digest]);
    if (row === undefined) return present;
    const template = keptTemplate(present, { digest, data: row.data }, (note) => this.#logger.warn(note, { tenant }));
    this.#kept.set(key, { template }, { size: byteLength(JSON.stringify(row.data)) + key.length });
    return template;
  }
}

function isKept({ onTemplateChange, digest }: Template, version: VersionOfAgent): version is Exclude<VersionOfAgent, null> {
  return onTemplateChange === "keep" && version !== null && version.digest !== digest;
}
