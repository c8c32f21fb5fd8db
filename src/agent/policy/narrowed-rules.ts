import type { Sql, Statement } from "../../db/sql.ts";
import type { Tool } from "../tools/tool.ts";
import { asListedNow } from "./commands/recorded-lines.ts";
import { judge } from "./judge.ts";
import type { Permission, PolicyBox, StoredRule } from "./permission.ts";
import { storedRules } from "./stored-rules.ts";
import { isReading, type RuleValues } from "./rule-values.ts";

/** The newest calls of each tenant that are looked at. */
const LOOKED_AT = 2_000;

type Row = {
  readonly id: string;
  readonly rule: string;
  readonly tenant: string;
  readonly templateId: string;
  readonly agentId: string;
  readonly name: string;
  readonly values: RuleValues;
};

const FIND: Statement<Row, [lookedAt: number]> = {
  name: "find_calls_of_allow_rules",
  text: `SELECT r.id, r.rule, r.tenant, r.template_id AS "templateId", t.agent_id AS "agentId", t.name, t.rule_values AS values
    FROM (SELECT DISTINCT tenant FROM allow_rule WHERE revoked_at IS NULL AND agent_id IS NULL) tenants
    CROSS JOIN LATERAL (SELECT agent_id, name, rule_values, explanation FROM tool_call WHERE tenant = tenants.tenant ORDER BY created_at DESC, id DESC LIMIT $1) t
    JOIN allow_rule r ON r.id = t.explanation ->> 'allowRuleId' AND r.tenant = tenants.tenant
    WHERE r.revoked_at IS NULL AND t.rule_values IS NOT NULL`,
};

/** What a tenant offers, as far as stored rules are judged by it. */
type Offer = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly templates: ReadonlyMap<string, { readonly permission: Permission; readonly box: PolicyBox | null }>;
};

/**
 * The rules that people have stored which take in fewer command lines than they did: calls that such a rule allowed, among the
 * newest of its tenant, would be asked about now. Each with what to do.
 */
export async function narrowedRules(sql: Sql, offerOf: (tenant: string) => Offer): Promise<readonly string[]> {
  const rows = await sql.query(FIND, [LOOKED_AT]);
  // Several rules may have allowed a call, each some of its commands.
  const known = new Map<string, readonly StoredRule[]>();
  const narrowed = new Map<string, { readonly row: Row; readonly reason: string }>();
  for (const row of rows) {
    const { tools, templates } = offerOf(row.tenant);
    const template = templates.get(row.templateId);
    const tool = tools.get(row.name);
    if (template === undefined || tool === undefined || narrowed.has(row.id)) continue;
    const key = JSON.stringify([row.tenant, row.templateId]);
    const stored = known.get(key) ?? (await storedRules(sql, tools, { ...row, id: null })).rules;
    known.set(key, stored);
    const policy = { permission: template.permission, bounds: [], stored, box: template.box };
    const call = { agentId: row.agentId, name: row.name, readOnly: isReading(tool, row.values) };
    if (judge({ ...call, values: row.values }, policy).verdict !== "allow") continue;
    const now = judge({ ...call, values: asListedNow(row.values) }, policy);
    if (now.verdict !== "allow") narrowed.set(row.id, { row, reason: now.parts?.[0]?.reason ?? now.reason });
  }
  return [...narrowed.values()].map(
    ({ row, reason }) =>
      `the stored rule ${row.rule} of ${row.templateId} (tenant ${row.tenant}) takes in less than it did: ${reason}. Revoke it, and store one that names the options`,
  );
}
