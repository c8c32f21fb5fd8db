import { setImmediate } from "node:timers/promises";
import { readPiece } from "../../../db/connections/reader-limits.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import { DAY_MS, type Clock } from "../../../lib/time.ts";
import { agentPolicy } from "../../policy/agent-policy.ts";
import { asListedNow } from "../../policy/commands/recorded-lines.ts";
import { judge } from "../../policy/judge.ts";
import type { OwnPermission, VersionOfAgent } from "../../policy/own-permission.ts";
import type { Policy, Verdict } from "../../policy/permission.ts";
import { isReading, type RuleValues } from "../../policy/rule-values.ts";
import { ruleMatches, type Rule } from "../../policy/rule.ts";
import type { ApprovalServices } from "../scope.ts";

/** The effect that a rule would have had on recorded calls of its tool, or on questions about hosts. */
export type PastCalls = {
  /** The first moment that is looked at. */
  readonly since: Date;
  readonly examined: number;
  /** True if the bounds of a read left older calls out. */
  readonly isPartial: boolean;
  readonly matched: number;
  /** Those of them that people were asked about, and that they denied. */
  readonly asked: number;
  readonly denied: number;
  /** Those of `asked` that would run by the rule today: further rules and hooks may ask about the rest. */
  readonly letThrough: number;
  /** The ids of some of them: denied ones first, then the newest. */
  readonly letThroughCalls: readonly string[];
};

/** The bounds of a proposal's history: days, calls, bytes of rule values, and calls of all templates that are looked at. */
export const PAST_DAYS = 30;
export const PAST_CALLS = 10_000;
const PAST_BYTES = 16 * 1024 * 1024;
const MOST_READ = 40_000;

export type PastCall = {
  readonly id: string;
  readonly agentId: string;
  readonly templateVersion: VersionOfAgent;
  readonly permission: OwnPermission | null;
  readonly values: RuleValues;
  readonly verdict: string;
  readonly hookVerdict: Verdict | null;
  readonly isDenied: boolean;
};

export type MatchedCall = PastCall & { readonly isMatch: boolean };

export type RecordedCalls<Call = PastCall> = {
  readonly since: Date;
  readonly calls: readonly Call[];
  readonly isPartial: boolean;
};

type Row = {
  readonly id: string;
  readonly createdAt: Date;
  readonly bytes: number;
  /** Null for a call of another template, or without values. */
  readonly call: Omit<PastCall, "id"> | null;
};

/** The most calls of one read; and the time, in ms, for comparisons before other work runs. */
const BATCH = 250;
const TURN_MS = 10;

/** The next calls of a tool are taken first and filtered by template after, so that a read is bounded. */
const READ: Statement<
  Row,
  [tenant: string, tool: string, templateId: string, since: Date, beforeAt: Date | null, beforeId: string | null, limit: number]
> = {
  name: "read_judged_lately",
  text: `SELECT t.id, t.created_at AS "createdAt", coalesce(octet_length(c.values::text), 0) AS bytes, CASE WHEN c.values IS NOT NULL THEN json_build_object('agentId', c.agent_id,
      'templateVersion', c.template_version, 'permission', c.permission, 'values', c.values, 'verdict', c.verdict, 'hookVerdict', c.hook_verdict, 'isDenied', c.is_denied) END AS call
    FROM (SELECT id, created_at FROM tool_call WHERE tenant = $1 AND name = $2 AND created_at > $4
        AND created_at <= coalesce($5::timestamptz, 'infinity') AND (created_at, id) < (coalesce($5::timestamptz, 'infinity'), coalesce($6, ''))
      ORDER BY created_at DESC, id DESC LIMIT $7) t
    LEFT JOIN LATERAL (SELECT w.agent_id, a.template_version, a.permission, w.rule_values AS values, w.verdict, w.hook_verdict,
        EXISTS (SELECT FROM approval p WHERE p.tool_call_id = w.id AND p.state = 'DENIED') AS is_denied
      FROM tool_call w JOIN agent a ON a.id = w.agent_id WHERE w.id = t.id AND a.template_id = $3 AND w.rule_values IS NOT NULL AND w.copied_from IS NULL) c ON true
    ORDER BY t.created_at DESC, t.id DESC`,
};

/**
 * The calls of a tool by a template's agents that were judged in the last PAST_DAYS, newest first. At most PAST_CALLS,
 * about PAST_BYTES of rule values, and MOST_READ calls of all templates. They are read in pieces, on the connections of
 * readers.
 */
export async function pastCalls(
  { reads, clock }: { readonly reads: Sql; readonly clock: Clock },
  { tenant, name, templateId }: { readonly tenant: string; readonly name: string; readonly templateId: string },
): Promise<RecordedCalls> {
  const since = new Date(clock.now().getTime() - PAST_DAYS * DAY_MS);
  const calls: PastCall[] = [];
  let bytes = 0;
  let read = 0;
  let last: Row | undefined;
  let isMore = true;
  while (isMore && calls.length < PAST_CALLS && bytes < PAST_BYTES && read < MOST_READ) {
    const [beforeAt, beforeId] = [last?.createdAt ?? null, last?.id ?? null];
    const limit = Math.min(BATCH, PAST_CALLS - calls.length);
    const rows = await readPiece(() => reads.query(READ, [tenant, name, templateId, since, beforeAt, beforeId, limit]));
    calls.push(...rows.flatMap(({ id, call }) => (call === null ? [] : [{ id, ...call }])));
    bytes += rows.reduce((sum, row) => sum + row.bytes, 0);
    read += rows.length;
    last = rows.at(-1);
    isMore = rows.length === limit;
  }
  return { since, calls, isPartial: isMore };
}

export async function matchedBy(rule: Rule, tool: string, calls: readonly PastCall[]): Promise<readonly MatchedCall[]> {
  return inTurns(calls, async (call) => ({ ...call, isMatch: ruleMatches(rule, tool, call.values, "covers") }));
}

/** Does the same for each call, and lets other work run in between. */
async function inTurns<Call, Result>(calls: readonly Call[], each: (call: Call) => Promise<Result>): Promise<readonly Result[]> {
  const results: Result[] = [];
  let turn = performance.now();
  for (const call of calls) {
    if (performance.now() - turn > TURN_MS) {
      await setImmediate();
      turn = performance.now();
    }
    results.push(await each(call));
  }
  return results;
}

const LET_THROUGH = 20;

/** The effect of a rule on recorded calls of a template: asked calls are judged again, with the rule. */
export async function effectOn(
  services: ApprovalServices,
  rule: Rule,
  { tenant, name, templateId }: { readonly tenant: string; readonly name: string; readonly templateId: string },
  { since, calls, isPartial }: RecordedCalls<MatchedCall>,
): Promise<PastCalls> {
  const matched = calls.filter(({ isMatch }) => isMatch);
  const asked = matched.filter(({ verdict }) => verdict === "ask");
  const tool = services.tools.get(name);
  const policies = new Map<string, Promise<Policy | null>>();
  const policyOf = (call: PastCall): Promise<Policy | null> => {
    const key = call.permission === null ? (call.templateVersion?.digest ?? "") : call.agentId;
    const known = policies.get(key) ?? policyWith(services, rule, { ...call, tenant, templateId });
    policies.set(key, known);
    return known;
  };
  const judged = await inTurns(asked, async (call) => {
    const policy = await policyOf(call);
    const readOnly = tool !== undefined && isReading(tool, call.values);
    const made = { agentId: call.agentId, name, readOnly, values: asListedNow(call.values) };
    return { ...call, runs: policy !== null && call.hookVerdict !== "ask" && judge(made, policy).verdict === "allow" };
  });
  const letThrough = judged.filter(({ runs }) => runs);
  const deniedFirst = letThrough.toSorted((one, other) => Number(other.isDenied) - Number(one.isDenied));
  return {
    since,
    examined: calls.length,
    isPartial,
    matched: matched.length,
    asked: asked.length,
    denied: asked.filter(({ isDenied }) => isDenied).length,
    letThrough: letThrough.length,
    letThroughCalls: deniedFirst.slice(0, LET_THROUGH).map(({ id }) => id),
  };
}

async function policyWith(
  services: ApprovalServices,
  rule: Rule,
  agent: Pick<PastCall, "templateVersion" | "permission"> & { readonly tenant: string; readonly templateId: string },
): Promise<Policy | null> {
  const template = await services.heldTemplate(agent);
  if ("missing" in template) return null;
  return agentPolicy(template, agent.permission, [{ ...rule, id: "proposal", createdBy: "a person" }], services);
}
