import { setImmediate } from "node:timers/promises";
import { readPiece } from "../../../db/connections/reader-limits.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import type { Permission } from "../../policy/permission.ts";
import type { RuleValues } from "../../policy/rule-values.ts";
import { ruleMatches, type Rule } from "../../policy/rule.ts";

/** The recorded calls that a rule matches, whatever decided them. */
export type RuleMatches = {
  readonly matched: number;
  /** Those that ended against it: denied by people (allow rules), run (deny rules), run without a question (ask rules). */
  readonly against: number;
};

/** The calls that rules were compared with. */
export type Examined = {
  readonly examined: number;
  /** Evaluated calls that cannot be compared: their contents are erased, or their agents deleted. */
  readonly erased: number;
  /** True if the bounds of a read left older calls out. */
  readonly isPartial: boolean;
};

/** `ofRule` is by the place of a rule. */
export type MatchesOfRules = Examined & { readonly ofRule: ReadonlyMap<string, RuleMatches> };

/** The most calls that rules are compared with, erased ones included, and about the most bytes of their values. */
export const MATCHED_CALLS = 10_000;
const MATCHED_BYTES = 16 * 1024 * 1024;
/** The calls of one read, and the time, in ms, for comparisons before other work runs. */
const BATCH = 500;
const TURN_MS = 10;

/** The answer about one rule. */
export type ExaminedRule = RuleMatches & Examined;

/** A stored rule, and the range of the calls to compare with. */
export type StoredRuleAsked = {
  readonly rule: Rule;
  readonly templateId: string;
  readonly from: Date | null;
  readonly to: Date | null;
};

/** Calls that stored allow rules match. The rules of a template are compared in one read. `inTurn` runs one read at a time. */
export async function matchesOfStoredRules(
  reads: Sql,
  tenant: string,
  asked: readonly StoredRuleAsked[],
  inTurn: <Result>(read: () => Promise<Result>) => Promise<Result>,
): Promise<readonly ExaminedRule[]> {
  const rangeOf = ({ templateId, from, to }: StoredRuleAsked): string => JSON.stringify([templateId, from, to]);
  const found = new Map<string, MatchesOfRules>();
  for (const [range, [first, ...more]] of Map.groupBy(asked, rangeOf)) {
    if (first === undefined) continue;
    const { templateId, from, to } = first;
    const allow = [first, ...more].map(({ rule }) => rule);
    const read = () => matchesOfRules(reads, { tenant, templateId, from, to }, { deny: [], allow, ask: [] });
    found.set(range, await inTurn(read));
  }
  const nothing: MatchesOfRules = { ofRule: new Map(), examined: 0, erased: 0, isPartial: false };
  return asked.map((each) => {
    const { ofRule, ...examined } = found.get(rangeOf(each)) ?? nothing;
    return { ...(ofRule.get(each.rule.place) ?? { matched: 0, against: 0 }), ...examined };
  });
}

type Range = { readonly tenant: string; readonly templateId: string; readonly from: Date | null; readonly to: Date | null };

type Row = {
  readonly id: string;
  readonly createdAt: Date;
  readonly name: string;
  readonly hasRun: boolean;
  readonly verdict: string;
  /** Null for a call that was refused before its evaluation, and for an erased one. */
  readonly values: RuleValues | null;
  readonly isErased: boolean;
  readonly bytes: number;
  readonly isDenied: boolean;
};

const READ: Statement<
  Row,
  [
    tenant: string,
    templateId: string,
    from: Date | null,
    to: Date | null,
    beforeAt: Date | null,
    beforeId: string | null,
    limit: number,
  ]
> = {
  name: "read_calls_of_rules",
  text: `SELECT c.id, c.created_at AS "createdAt", c.name, c.has_run AS "hasRun", coalesce(c.verdict, '') AS verdict, t.values, coalesce(octet_length(t.values::text), 0) AS bytes,
      c.verdict IS NOT NULL AND t.is_kept IS NOT TRUE AS "isErased",
      c.verdict = 'ask' AND EXISTS (SELECT FROM approval p WHERE p.tool_call_id = c.id AND p.state = 'DENIED') AS "isDenied"
    FROM (SELECT id, created_at, name, has_run, verdict FROM audit_call WHERE tenant = $1 AND template_id = $2 AND created_at >= coalesce($3::timestamptz, '-infinity')
        AND created_at < coalesce($4::timestamptz, 'infinity') AND created_at <= coalesce($5::timestamptz, 'infinity')
        AND (created_at, id) < (coalesce($5::timestamptz, 'infinity'), coalesce($6, '')) ORDER BY created_at DESC, id DESC LIMIT $7) c
    LEFT JOIN LATERAL (SELECT w.rule_values AS values, w.erased_at IS NULL AS is_kept FROM tool_call w WHERE w.id = c.id OFFSET 0) t ON true ORDER BY c.created_at DESC, c.id DESC`,
};

/** The newest calls of a template's agents in a range, at most MATCHED_CALLS, that each rule of a permission matches. */
export async function matchesOfRules(
  reads: Sql,
  range: Range,
  { deny, allow, ask }: Pick<Permission, "deny" | "allow" | "ask">,
): Promise<MatchesOfRules> {
  const rules = [
    ...deny.map((rule) =>
      counterOf(
        rule,
        (call) => isClosed(rule, call),
        ({ hasRun }) => hasRun,
      ),
    ),
    ...allow.map((rule) =>
      counterOf(
        rule,
        ({ name, values }) => ruleMatches(rule, name, values, "covers"),
        ({ isDenied }) => isDenied,
      ),
    ),
    ...ask.map((rule) =>
      counterOf(
        rule,
        ({ name, values }) => ruleMatches(rule, name, values, "reaches"),
        ({ hasRun, verdict }) => hasRun && verdict === "allow",
      ),
    ),
  ];
  let [examined, erased, bytes] = [0, 0, 0];
  let last: Row | undefined;
  let isMore = true;
  let turn = performance.now();
  while (isMore && examined + erased < MATCHED_CALLS && bytes < MATCHED_BYTES) {
    const { tenant, templateId, from, to } = range;
    const place = [last?.createdAt ?? null, last?.id ?? null] as const;
    const rows = await readPiece(() => reads.query(READ, [tenant, templateId, from, to, ...place, BATCH]));
    for (const { values, ...row } of rows) {
      if (row.isErased) erased += 1;
      if (values === null) continue;
      if (performance.now() - turn > TURN_MS) {
        await setImmediate();
        turn = performance.now();
      }
      examined += 1;
      bytes += row.bytes;
      for (const rule of rules) rule.see({ ...row, values });
    }
    last = rows.at(-1);
    isMore = rows.length === BATCH;
  }
  return { ofRule: new Map(rules.map(({ place, count }) => [place, count()])), examined, erased, isPartial: isMore };
}

type Judged = Pick<Row, "name" | "hasRun" | "verdict" | "isDenied"> & { readonly values: RuleValues };

/** A deny rule about a path closes the files that it names, and one about calls all that they could reach. */
function isClosed(rule: Rule, { name, values }: Judged): boolean {
  return ruleMatches(rule, name, values, rule.deniedPath === null ? "reaches" : "names");
}

function counterOf({ place }: Rule, isMatch: (call: Judged) => boolean, isAgainst: (call: Judged) => boolean) {
  let [matched, against] = [0, 0];
  return {
    place,
    see: (call: Judged): void => {
      if (!isMatch(call)) return;
      matched += 1;
      if (isAgainst(call)) against += 1;
    },
    count: (): RuleMatches => ({ matched, against }),
  };
}
