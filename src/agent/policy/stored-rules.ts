import type { RulesVersion } from "../../db/commit/change.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { StoredRule } from "./permission.ts";
import { parseRule } from "./parse-rule.ts";
import type { Tool } from "../tools/tool.ts";

type Row = Omit<RulesVersion, "until"> & {
  readonly until: Date | null;
  readonly rules: readonly { readonly id: string; readonly rule: string; readonly createdBy: string }[];
};

/** The rules and their versions as they stand together. */
const FIND: Statement<Row, [tenant: string, templateId: string, agentId: string | null]> = {
  name: "find_allow_rules",
  text: `SELECT coalesce((SELECT version FROM rule_version WHERE tenant = $1 AND agent_id = ''), 0) AS "ofTenant",
      coalesce((SELECT version FROM rule_version WHERE tenant = $1 AND agent_id = $3), 0) AS "ofAgent", r.*
    FROM (SELECT coalesce(json_agg(json_build_object('id', id, 'rule', rule, 'createdBy', created_by) ORDER BY created_at, id), '[]') AS rules, min(expires_at) AS until
      FROM allow_rule WHERE tenant = $1 AND template_id = $2 AND agent_id IS NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > policy_time())) r`,
};

/** The rules that people have stored, and the version that they were read from. */
export type StoredRules = { readonly rules: readonly StoredRule[]; readonly version: RulesVersion };

/**
 * The rules that people have stored, for calls that are judged together. `known` is null if nothing said that a call needs
 * them: they are read, once, if the policy asks for a call all the same.
 */
export type RulesToRead = { readonly known: StoredRules | null; readonly read: () => Promise<StoredRules> };

/** The agent for which stored rules are read; `id` is null where only the rules of its template matter. */
type RuledAgent = { readonly tenant: string; readonly templateId: string; readonly id: string | null };

/** The rules that people have stored for the agents of a template. Expired rules, and those that do not parse (of a tool that is gone), are left out. */
export async function storedRules(sql: Sql, tools: ReadonlyMap<string, Tool>, agent: RuledAgent): Promise<StoredRules> {
  const [row] = await sql.query(FIND, [agent.tenant, agent.templateId, agent.id]);
  const rules = (row?.rules ?? []).flatMap(({ id, rule, createdBy }) => {
    const parsed = parseRule(rule, `allowRules.${id}`, tools);
    return parsed.ok ? [{ ...parsed.value, id, createdBy }] : [];
  });
  const { ofTenant = 0, ofAgent = 0, until = null } = row ?? {};
  return { rules, version: { ofTenant, ofAgent, until: until?.toISOString() ?? null } };
}
