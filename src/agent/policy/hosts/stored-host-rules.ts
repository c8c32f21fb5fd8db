import type { Sql, Statement } from "../../../db/sql.ts";
import { type StoredHostRule, isHostRule, NETWORK, parseHostRule } from "./host-rule.ts";

const FIND: Statement<
  { id: string; rule: string; createdBy: string },
  [tenant: string, templateId: string, agentId: string, isReplaced: boolean]
> = {
  name: "find_host_rules",
  text: `SELECT id, rule, created_by AS "createdBy" FROM allow_rule
    WHERE tenant = $1 AND template_id = $2 AND revoked_at IS NULL AND starts_with(rule, '${NETWORK}') AND (agent_id = $3 OR agent_id IS NULL AND NOT $4) ORDER BY created_at, id`,
};

/** An agent of which the stored rules are read. */
export type AgentOfRules = {
  readonly id: string;
  readonly tenant: string;
  readonly templateId: string;
  readonly permission: { readonly scope: "TIGHTEN" | "REPLACE" } | null;
};

/**
 * The rules about hosts that people have stored for an agent, and for its template unless the agent has a permission in its
 * template's place.
 */
export async function storedHostRules(
  sql: Sql,
  { id, tenant, templateId, permission }: AgentOfRules,
): Promise<readonly StoredHostRule[]> {
  const rows = await sql.query(FIND, [tenant, templateId, id, permission?.scope === "REPLACE"]);
  return rows.flatMap(({ id: ruleId, rule, createdBy }) => {
    if (!isHostRule(rule)) return [];
    const parsed = parseHostRule(rule, `allowRules.${ruleId}`);
    return parsed.ok ? [{ ...parsed.value, id: ruleId, createdBy }] : [];
  });
}
