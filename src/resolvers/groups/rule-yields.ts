import { CALL_COUNTS, NO_CALLS, type CallFigures } from "../../agent/calls/audit/groups/figures.ts";
import { callGroups } from "../../agent/calls/audit/groups/groups.ts";
import { matchesOfRules, type ExaminedRule, type MatchesOfRules } from "../../agent/calls/audit/rule-matches.ts";
import { isHostRule } from "../../agent/policy/hosts/host-rule.ts";
import { auditFilter } from "../tool-audit.ts";
import type { Context } from "../context.ts";
import { type ListedRule, permissionOf, rulesOf, templateNamed } from "../template.ts";
import { MOST_GROUPS, readRange, type GroupRange } from "./buckets.ts";

export type RuleYield = {
  readonly rule: ListedRule;
  /** Of the calls that a rule of this list and text decided. Null for a rule of hosts. */
  readonly figures: CallFigures | null;
  /** The calls that it matches; null for a rule of hosts, and if not requested. */
  readonly matches: ExaminedRule | null;
};

const NOT_ASKED: MatchesOfRules = { ofRule: new Map(), examined: 0, erased: 0, isPartial: false };

/** The yield of each rule of a template, in the order of its lists; null if the actor may not read it. */
export async function ruleYields(
  context: Context,
  templateId: string,
  range: Pick<GroupRange, "from" | "to">,
  { withMatches }: { readonly withMatches: boolean },
): Promise<readonly RuleYield[] | null> {
  const permission = permissionOf(context, templateNamed(context, templateId).configured);
  if (permission === null) return null;
  const { from, to } = readRange(range, MOST_GROUPS, new Date());
  const rules = rulesOf(permission);
  const filter = auditFilter(context, { templateIds: [templateId], rules: rules.map(decidedBy), created: { from, to } });
  const { reads } = context.services;
  const { groups, matches } = await context.expensive.run(context.actor, async () => ({
    ...(await callGroups(reads, filter, {
      by: ["RULE"],
      edges: null,
      order: { measure: "CALLS", direction: "desc" },
      most: MOST_GROUPS,
      counts: new Set(CALL_COUNTS),
      times: { duration: "MEAN", waited: "MEAN" },
      hasTotal: false,
    })),
    matches: withMatches ? await matchesOfRules(reads, { tenant: context.tenant, templateId, from, to }, permission) : null,
  }));
  const figures = new Map(groups.map((group) => [group.key.get("RULE")?.value, group.figures]));
  return rules.map((rule) => {
    const { ofRule, ...examined } = matches ?? NOT_ASKED;
    const matched = ofRule.get(rule.place);
    return {
      rule,
      figures: isHostRule(rule.rule) ? null : (figures.get(decidedBy(rule)) ?? NO_CALLS),
      matches: matched === undefined ? null : { ...matched, ...examined },
    };
  });
}

/** A rule as the explanations of calls name it. */
function decidedBy({ list, rule }: ListedRule): string {
  return `${list} ${rule}`;
}
