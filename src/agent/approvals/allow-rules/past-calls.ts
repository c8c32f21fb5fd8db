import { setImmediate } from "node:timers/promises";
import { readPiece } from "../../../db/connections/reader-limits.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import { DAY_MS, type Clock } from "../../../lib/clock.ts";
import { ruleMatches, type Rule } from "../../policy/rule.ts";
import type { RuleValues } from "../../policy/rule-values.ts";

/** The bounds of a proposal's history: days, calls, and bytes of rule values. */
export const PAST_DAYS = 30;
export const PAST_CALLS = 10_000;
const PAST_BYTES = 16 * 1024 * 1024;

export type PastCall = { readonly values: RuleValues; readonly verdict: string; readonly isDenied: boolean };

export type MatchedCall = PastCall & { readonly isMatch: boolean };

type Row = PastCall & { readonly id: string; readonly createdAt: Date; readonly bytes: number };

/** The most calls of one read; and the time, in ms, for comparisons before other work runs. */
const BATCH = 250;
const TURN_MS = 10;

const READ: Statement<
  Row,
  [tenant: string, tool: string, templateId: string, since: Date, beforeAt: Date | null, beforeId: string | null, limit: number]
> = {
  name: "read_judged_lately",
  text: `SELECT t.id, t.created_at AS "createdAt", t.rule_values AS values, octet_length(t.rule_values::text) AS bytes, t.explanation ->> 'verdict' AS verdict,
      EXISTS (SELECT FROM approval p WHERE p.tool_call_id = t.id AND p.state = 'DENIED') AS "isDenied"
    FROM tool_call t JOIN agent a ON a.id = t.agent_id
    WHERE t.tenant = $1 AND t.name = $2 AND a.template_id = $3 AND t.created_at > $4 AND t.rule_values IS NOT NULL AND t.copied_from IS NULL
      AND t.created_at <= coalesce($5::timestamptz, 'infinity') AND (t.created_at, t.id) < (coalesce($5::timestamptz, 'infinity'), coalesce($6, ''))
    ORDER BY t.created_at DESC, t.id DESC LIMIT $7`,
};

/**
 * The calls of a tool by a template's agents that were judged in the last PAST_DAYS, newest first. At most PAST_CALLS,
 * and about PAST_BYTES of rule values. They are read in pieces, on the connections of readers.
 */
export async function pastCalls(
  { reads, clock }: { readonly reads: Sql; readonly clock: Clock },
  { tenant, name, templateId }: { readonly tenant: string; readonly name: string; readonly templateId: string },
): Promise<readonly PastCall[]> {
  const since = new Date(clock.now().getTime() - PAST_DAYS * DAY_MS);
  const calls: PastCall[] = [];
  let bytes = 0;
  let last: Row | undefined;
  for (let isMore = true; isMore && calls.length < PAST_CALLS && bytes < PAST_BYTES;) {
    const [beforeAt, beforeId] = [last?.createdAt ?? null, last?.id ?? null];
    const limit = Math.min(BATCH, PAST_CALLS - calls.length);
    const rows = await readPiece(() => reads.query(READ, [tenant, name, templateId, since, beforeAt, beforeId, limit]));
    calls.push(...rows.map(({ values, verdict, isDenied }) => ({ values, verdict, isDenied })));
    bytes += rows.reduce((sum, row) => sum + row.bytes, 0);
    last = rows.at(-1);
    isMore = rows.length === limit;
  }
  return calls;
}

export async function matchedBy(rule: Rule, tool: string, calls: readonly PastCall[]): Promise<readonly MatchedCall[]> {
  const matched: MatchedCall[] = [];
  let turn = performance.now();
  for (const call of calls) {
    if (performance.now() - turn > TURN_MS) {
      await setImmediate();
      turn = performance.now();
    }
    matched.push({ ...call, isMatch: ruleMatches(rule, tool, call.values, "covers") });
  }
  return matched;
}
