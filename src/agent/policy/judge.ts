import { messageOf } from "../../lib/text.ts";
import type { FoundCommand, Trouble } from "../bash/command-line.ts";
import { currentOwnCode } from "../tools/own-code.ts";
import type { Access } from "../workspace/workspace.ts";
import type { Act, CallAct, DecidingRule, Decision } from "./act.ts";
import { readHost } from "./hosts/host-rule.ts";
import { judgeAct, READ_ONLY_COMMANDS, type HostLists, type Judged, type Scope } from "./ladder.ts";
import {
  isStricter,
  type ExplainedPart,
  type Explanation,
  type Permission,
  type PermissionMode,
  type Permissions,
  type Policy,
  type PolicyCall,
  type Verdict,
  VERDICTS,
} from "./permission.ts";
import { linesOf, type NamedLine } from "./rule-values.ts";
import type { Rule } from "./rule.ts";
import { RuleMatches } from "./rules-of-acts.ts";

/** The judgement of a policy on a call: each act of it goes through the ladder of each permission, and the strictest decision wins. */
export function judge(call: PolicyCall, policy: Policy): Explanation {
  const lines = linesOf(call.values);
  return judgeActs(actsOf(call, lines), policy, NO_HOSTS, lines);
}

/** The acts of a call: those of its command lines first, then the files and searches that it names. */
export function actsOf(call: PolicyCall, lines: readonly NamedLine[] = linesOf(call.values)): readonly CallAct[] {
  const isCarried = lines.length > 0;
  const named = Object.entries(call.values).flatMap(([place, list]) =>
    list.flatMap((value): readonly CallAct[] => {
      if (value.kind === "file") return [{ kind: "file", call, place, file: value, isCarried }];
      return value.kind === "search" ? [{ kind: "search", call, place, search: value, isCarried }] : [];
    }),
  );
  const run = lines.flatMap((line) => actsOfLine(call, line));
  // Lines without commands run nothing: the use of their tool answers for the files beside them.
  return run.length === 0 && (isCarried || named.length === 0) ? [{ kind: "use", call }, ...named] : [...run, ...named];
}

function actsOfLine(call: PolicyCall, line: NamedLine): readonly CallAct[] {
  const { trouble, hidden, chosen, commands } = line.line;
  const unread = trouble ?? hidden;
  const hiding = hidden ?? chosen;
  const wholes = commands.filter(({ isWhole }) => isWhole);
  const isAnswered = wholes.length > 0 || unread !== null;
  const unproven = (part: Trouble | null, hides: boolean, isCarried: boolean): readonly CallAct[] =>
    part === null ? [] : [{ kind: "unproven", call, line, trouble: part, hides, isCarried }];
  return [
    ...unproven(unread, unread === hiding, false),
    ...unproven(hiding === unread ? null : hiding, true, isAnswered),
    ...commands.map((command): CallAct => {
      const whole = command.isWhole ? command : (wholes.find((other) => isInside(command, other)) ?? null);
      return { kind: "command", call, line, command, whole, isCarried: !command.isWhole && isAnswered };
    }),
  ];
}

function isInside(inner: FoundCommand, outer: FoundCommand): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/** All by which it is decided which hosts an agent may reach. */
export type HostPolicy = Permissions & HostLists;

/** The judgement on a connection to a host. */
export function judgeConnection({ permission, bounds, ...hosts }: HostPolicy, host: string, port: number): Explanation {
  const known = readHost(host, port);
  if (known !== null) return judgeActs([{ kind: "connect", host: known }], { permission, bounds, stored: [], box: null }, hosts);
  const said = { verdict: "deny", decidedBy: "no host", place: "built in" } as const;
  const considered = [{ rule: said.decidedBy, place: said.place, verdict: said.verdict }];
  return { ...said, reason: `${JSON.stringify(`${host}:${port}`)} is no host with a port`, considered };
}

/**
 * The judgement on opening a file, by all of its names from the workspace's root: denied by what a deny rule closes, asked for a file
 * with secrets that no allow rule for reading names.
 */
export function judgeOpening(
  policy: Permissions & Partial<Pick<Policy, "stored">>,
  names: readonly string[],
  access: Access,
): Explanation {
  return judgeActs([{ kind: "open", names, access }], { stored: [], ...policy, box: null }, NO_HOSTS);
}

/** The strictest that hooks said of a call; null if none said anything. */
export function hookVerdict({ considered }: Explanation): Verdict | null {
  return considered.reduce<Verdict | null>(
    (strictest, { rule, verdict }) =>
      rule !== "hook" || verdict === "no match" || (strictest !== null && !isStricter(verdict, strictest)) ? strictest : verdict,
    null,
  );
}

/**
 * True if a permission asks for calls besides those that name files with secrets, or protected ones, and command lines. If it
 * does not, the rules that people have stored seldom change another verdict.
 */
export function mayAsk({ mode, ask, requireApprovalTools }: Permission): boolean {
  const isSettled = mode.kind === "builtin" && mode.name !== "approval" && mode.name !== "default";
  return !isSettled || ask.length > 0 || requireApprovalTools.length > 0;
}

export function denyRules({ permission, bounds }: Permissions): readonly Rule[] {
  return [permission, ...bounds].flatMap(({ deny }) => deny);
}

const NO_HOSTS: HostLists = { listedHosts: [], storedHosts: [] };

function judgeActs(acts: readonly Act[], policy: Policy, hosts: HostLists, lines: readonly NamedLine[] = []): Explanation {
  const { permission, bounds, stored, box } = policy;
  const first = explained(acts, scopeOf({ permission, stored, box, hosts, isBound: false }), lines);
  return bounds
    .map((bound) => ofAbove(explained(acts, scopeOf({ permission: bound, stored: [], box, hosts, isBound: true }), lines), bound))
    .reduce((one, other) => stricter(one, other, lines), first);
}

/** The explanation of a limit of an agent above, with that agent in its reason. */
function ofAbove(explanation: Explanation, { above }: Permission): Explanation {
  const { verdict, reason } = explanation;
  if (above === null || verdict === "allow") return explanation;
  const said = verdict === "ask" ? "asked" : "denied";
  return {
    ...explanation,
    reason: `${said} by the permission of ${above.templateId} (ancestor, agent ${above.agentId}): ${reason}`,
  };
}

/** The scope, in which the mode is asked once about a call: it may be the operator's own code. */
function scopeOf(scope: Omit<Scope, "mode" | "matches">): Scope {
  const { mode } = scope.permission;
  let known: ReturnType<Scope["mode"]> | null = null;
  let matches: RuleMatches | null = null;
  return {
    ...scope,
    mode: (call) => (known ??= modeVerdict(mode, call)),
    get matches() {
      return (matches ??= new RuleMatches());
    },
  };
}

function modeVerdict(mode: PermissionMode, call: PolicyCall): Pick<Decision, "verdict" | "reason"> {
  const said = (verdict: Verdict): Pick<Decision, "verdict" | "reason"> => ({
    verdict,
    reason: `mode ${mode.name} ${verdict === "allow" ? "allows" : verdict === "ask" ? "asks for" : "forbids"} ${call.name}`,
  });
  if (mode.kind === "custom") return customVerdict(call, mode, said);
  if (mode.name === "default") return said(call.readOnly ? "allow" : "ask");
  return said(({ auto: "allow", readonly: "allow", approval: "ask", deny: "deny" } as const)[mode.name]);
}

/** The explanation of one permission: the decision of the strictest act and strongest row, with the parts of all acts that it is as strict about. */
function explained(acts: readonly Act[], scope: Scope, lines: readonly NamedLine[]): Explanation {
  const judged = acts.flatMap((act) => judgeAct(act, scope) ?? []).toSorted(byStrictness);
  const [deciding] = judged;
  if (deciding === undefined) throw new Error("an act of every call is carried by no other");
  const { verdict } = deciding.decision;
  if (verdict === "allow") return allowed(judged, lines);
  const parts = distinct(
    judged
      .filter(({ decision }) => decision.verdict === verdict)
      .flatMap(({ act, decision }) =>
        "line" in act
          ? decision.parts.map(({ start, end, reason }) => ({ parameter: act.line.at, start, end, verdict, reason }))
          : [],
      ),
  );
  return located(explanationOf(deciding, deciding.decision.reason), parts, lines);
}

/** The strictest first, then the strongest row, then the first rule of its list. */
function byStrictness(one: Judged, other: Judged): number {
  if (one.decision.verdict !== other.decision.verdict) return isStricter(one.decision.verdict, other.decision.verdict) ? -1 : 1;
  return one.row - other.row || (one.decision.rule?.index ?? 0) - (other.decision.rule?.index ?? 0);
}

/**
 * The explanation of acts that are all allowed: by the weakest row that one of them needs. Commands that only read need none beside others,
 * and a rule that a person stored is named before those of the configuration.
 */
function allowed(judged: readonly Judged[], lines: readonly NamedLine[]): Explanation {
  const needed = judged.filter(({ decision }) => decision.decidedBy !== READ_ONLY_COMMANDS);
  const weakest = needed.at(-1) ?? judged[0];
  if (weakest === undefined) throw new Error("a call has an act");
  const byRule = needed.filter(({ decision }) => decision.rule !== null);
  const deciding =
    weakest.decision.rule === null
      ? weakest
      : (byRule.find(({ decision }) => decision.rule?.stored != null) ?? byRule[0] ?? weakest);
  const { rule, reason } = deciding.decision;
  const stored = rule?.stored ?? byRule.find(({ decision }) => decision.rule?.stored != null)?.decision.rule?.stored;
  return {
    ...(rule === null ? explanationOf(deciding, reason) : allowedByRules(deciding, rule, byRule, lines)),
    ...(stored == null ? {} : { allowRuleId: stored.id }),
  };
}

/** The explanation of a call whose acts rules take in, each of them some. */
function allowedByRules(
  deciding: Judged,
  rule: DecidingRule,
  byRule: readonly Judged[],
  lines: readonly NamedLine[],
): Explanation {
  const others = new Map(
    byRule.flatMap(({ decision }) =>
      decision.rule === null || decision.rule.place === rule.place ? [] : [[decision.rule.place, decision.rule]],
    ),
  );
  const also = [...others.values()].map(({ source, place }) => ({ rule: `allow ${source}`, place, verdict: "allow" }) as const);
  const commands = also.length === 0 ? null : rulesOfCommands(byRule, lines);
  const { reason } = deciding.decision;
  if (rule.stored === null && rule.isOfCommands)
    return explanationOf(deciding, `${TAKEN_IN}${commands === null ? `, as ${rule.source}` : `: ${commands}`}`, also);
  if (commands !== null && commands !== "") return explanationOf(deciding, `${reason}: ${commands}`, also);
  const sources = [rule, ...others.values()].map(({ source }) => source);
  return explanationOf(deciding, sources.length === 1 ? reason : `the rules ${sources.join(" and ")} allow it`, also);
}

const TAKEN_IN = "allow rules take in all of its commands";

function explanationOf({ passed, decision }: Judged, reason: string, also: Explanation["considered"] = []): Explanation {
  const { verdict, decidedBy, place } = decision;
  return { verdict, decidedBy, place, reason, considered: [...passed(), ...also, { rule: decidedBy, place, verdict }] };
}

/** The most commands whose rules are named. */
const NAMED = 20;

/** The commands that rules allow, each with its rule, in words, line by line. */
function rulesOfCommands(judged: readonly Judged[], lines: readonly NamedLine[]): string {
  const said = judged
    .flatMap(({ act, decision: { rule } }) => (act.kind === "command" && !act.isCarried && rule !== null ? [{ act, rule }] : []))
    .toSorted(
      ({ act: one }, { act: other }) =>
        lines.indexOf(one.line) - lines.indexOf(other.line) || one.command.start - other.command.start,
    )
    .map(({ act, rule }) => `characters ${act.command.start + 1} to ${act.command.end} of ${act.line.at} by ${rule.source}`);
  return [...said.slice(0, NAMED), ...(said.length > NAMED ? [`and ${said.length - NAMED} more`] : [])].join("; ");
}

/** The explanation with the parts of command lines that kept the call from being allowed: the one that decided in its reason. */
function located(explanation: Explanation, parts: readonly ExplainedPart[], lines: readonly NamedLine[]): Explanation {
  const [first] = parts;
  if (first === undefined) return explanation;
  const where = `characters ${first.start + 1} to ${first.end} of ${first.parameter}`;
  const reason = explanation.reason.includes(first.reason) ? where : `${where}: ${first.reason}`;
  return { ...explanation, reason: `${explanation.reason} (${reason})`, parts: inOrder(parts, lines) };
}

/** The stricter of the explanations of two permissions, with what both considered. If they say the same, it has the parts of both. */
function stricter(one: Explanation, other: Explanation, lines: readonly NamedLine[]): Explanation {
  const deciding = isStricter(other.verdict, one.verdict) ? other : one;
  const both = one.verdict === other.verdict ? [...(one.parts ?? []), ...(other.parts ?? [])] : [];
  const parts = both.length === 0 ? {} : { parts: inOrder(distinct(both), lines) };
  return { ...deciding, ...parts, considered: [...one.considered, ...other.considered] };
}

/** The most parts that are shown. */
const PARTS = 50;

/** The first parts, each place once. */
function distinct(parts: readonly ExplainedPart[]): readonly ExplainedPart[] {
  const known = new Map<string, ExplainedPart>();
  for (const part of parts) {
    const key = `${part.parameter} ${part.start} ${part.end}`;
    if (!known.has(key)) known.set(key, part);
  }
  return [...known.values()].slice(0, PARTS);
}

/** The parts as they stand in the input: line by line, and from left to right. */
function inOrder(parts: readonly ExplainedPart[], lines: readonly NamedLine[]): readonly ExplainedPart[] {
  const line = ({ parameter }: ExplainedPart): number => lines.findIndex(({ at }) => at === parameter);
  return parts.toSorted((one, other) => line(one) - line(other) || one.start - other.start);
}

/** The verdict of a mode of the operator's own, which is trusted with nothing: one that fails, or answers something else, denies. */
function customVerdict(
  call: PolicyCall,
  { name, judge }: PermissionMode & { kind: "custom" },
  said: (verdict: Verdict) => { verdict: Verdict; reason: string },
): { verdict: Verdict; reason: string } {
  try {
    const verdict: unknown = judge(structuredClone(call));
    // An asynchronous mode cannot be waited for, and must not bring the server down with what it throws later.
    if (verdict instanceof Promise) verdict.catch(() => {});
    const known = VERDICTS.find((candidate) => candidate === verdict);
    if (known !== undefined) return said(known);
    return { verdict: "deny", reason: `mode ${name} answered neither allow, ask nor deny` };
  } catch (error) {
    currentOwnCode()?.threw(error, `the mode ${name}`);
    return { verdict: "deny", reason: `mode ${name} failed (${messageOf(error)}), and what it cannot judge does not run` };
  }
}
