import type { Sql, Statement } from "../../db/sql.ts";
import type { StoredRule } from "./permission.ts";
import { parseRule } from "./rule.ts";
import type { Tool } from "../tools/tool.ts";

const FIND: Statement<{ id: string; rule: string; createdBy: string }, [tenant: string, templateId: string]> = {
  name: "find_allow_rules",
  text: `SELECT id, rule, created_by AS "createdBy" FROM allow_rule WHERE tenant = $1 AND template_id = $2 AND agent_id IS NULL AND revoked_at IS NULL ORDER BY created_at, id`,
};

/**
 * The rules that people have stored, for calls that are judged together. `known` is null if nothing said that a call needs
 * them: they are read, once, if the policy asks for a call all the same.
 */
export type RulesToRead = {
  readonly known: readonly StoredRule[] | null;
  readonly read: () => Promise<readonly StoredRule[]>;
};

/** The rules that people have stored for the agents of a template. One that does not parse, such as one of a tool that is gone, allows nothing. */
export async function storedRules(
  sql: Sql,
  tools: ReadonlyMap<string, Tool>,
  { tenant, templateId }: { readonly tenant: string; readonly templateId: string },
): Promise<readonly StoredRule[]> {
  const rows = await sql.query(FIND, [tenant, templateId]);
  return rows.flatMap(({ id, rule, createdBy }) => {
    const parsed = parseRule(rule, `allowRules.${id}`, tools);
    return parsed.ok ? [{ ...parsed.value, id, createdBy }] : [];
  });
}
