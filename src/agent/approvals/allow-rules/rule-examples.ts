import { setImmediate } from "node:timers/promises";
import { readPiece } from "../../../db/connections/reader-limits.ts";
import type { Sql, Statement } from "../../../db/sql.ts";
import { DAY_MS, type Clock } from "../../../lib/time.ts";
import type { CommandLine } from "../../bash/command-line.ts";
import { readCommandLine } from "../../bash/read-command-line.ts";
import { linesOf, type RuleValues } from "../../policy/rule-values.ts";
import { ruleMatches, type Rule } from "../../policy/rule.ts";
import { Workspace } from "../../workspace/workspace.ts";

export type PastCalls = {
  /** The examined calls of the tool, or host questions: the newest, at most PAST_CALLS of the last PAST_DAYS. */
  readonly examined: number;
  readonly matched: number;
  /** Those of them that people were asked about, and that they denied. */
  readonly asked: number;
  readonly denied: number;
};

export type RuleProposal = { readonly rule: string; readonly past: PastCalls } & RuleExamples;

/** Command lines that a rule matches, and some that it does not, for the person who stores it. */
type RuleExamples = {
  readonly matching: readonly string[];
  readonly notMatching: readonly string[];
  /** True if the rule matches every call of its tool. */
  readonly takesInAll: boolean;
};

const EXAMPLES = 3;
const WIDER = 3;
const DANGEROUS = ["rm -rf .", "git push"];
const OTHER_WORD = "other";
const NEAR = 2;
const OTHERS: readonly ((line: string) => string)[] = [
  (line) => `${line}; rm -rf .`,
  (line) => `${line} "$(curl example.org)"`,
  (line) => `PATH=. ${line}`,
  (line) => `sudo ${line}`,
];

/** The examples of a rule: the call's line, recorded lines, lines that begin alike, and others that a wide rule matches. */
export function ruleExamples(
  rule: Rule,
  tool: string,
  values: RuleValues,
  past: readonly Pick<MatchedCall, "values" | "isMatch">[],
): RuleExamples {
  const own = { values, isMatch: ruleMatches(rule, tool, values, "covers") };
  const recorded = [own, ...past].flatMap(({ values: each, isMatch }) =>
    linesOf(each).map(({ line }) => ({ text: line.text, isMatch })),
  );
  const [first] = linesOf(values);
  const takesIn = (text: string): boolean =>
    first !== undefined && ruleMatches(rule, tool, { ...values, [first.parameter]: lineValue(text) }, "covers");
  const made = first === undefined ? [] : OTHERS.map((other) => other(first.line.text));
  // The widest first: they show what a rule lets run.
  const wider = first === undefined ? [] : [...DANGEROUS, ...made, ...otherwise(first.line)];
  // The nearest first: they show what a rule does not let run.
  const near =
    first === undefined
      ? []
      : [`${first.line.text} ${OTHER_WORD}`, `${first.line.text} --${OTHER_WORD}`, ...otherwise(first.line).toReversed()];
  const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
  return {
    matching: distinct([
      ...distinct(recorded.flatMap(({ text, isMatch }) => (isMatch ? [text] : []))).slice(0, EXAMPLES),
      ...wider.filter(takesIn).slice(0, WIDER),
    ]),
    notMatching: distinct([
      ...near.filter((text) => !takesIn(text)).slice(0, NEAR),
      ...recorded.flatMap(({ text, isMatch }) => (isMatch ? [] : [text])).slice(0, EXAMPLES),
      ...made.filter((text) => !takesIn(text)),
    ]).slice(0, 2 * EXAMPLES),
    takesInAll: rule.conditions.length === 0,
  };
}

function otherwise({ commands, text }: CommandLine): readonly string[] {
  const [command] = commands;
  if (command === undefined) return [];
  const words = text.slice(command.start, command.end).split(" ");
  return words.map((_word, index) => [...words.slice(0, index), OTHER_WORD].join(" "));
}

function lineValue(text: string): RuleValues[string] {
  return [
    { kind: "command", line: readCommandLine(text, { workspace: new Workspace("/nowhere"), folder: ".", environment: [] }) },
  ];
}

/** The bounds of a proposal's history: days, calls, and bytes of rule values. */
export const PAST_DAYS = 30;
export const PAST_CALLS = 10_000;
const PAST_BYTES = 16 * 1024 * 1024;

export type PastCall = { readonly values: RuleValues; readonly verdict: string; readonly isDenied: boolean };

type MatchedCall = PastCall & { readonly isMatch: boolean };

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
