import { protects } from "../workspace/sandbox/protected-paths.ts";
import { isSecretPath } from "../workspace/secret-files.ts";
import type { Access } from "../workspace/workspace.ts";
import {
  isStricter,
  type Consideration,
  type Explanation,
  type Permission,
  type PermissionMode,
  type Permissions,
  type Policy,
  type PolicyCall,
  type Verdict,
} from "./permission.ts";
import { speaksOf } from "../tools/path-places.ts";
import { heldBack, heldBackBy, sensitiveParts } from "./commands/held-back.ts";
import { allowedCommands, reachesFiles, type CommandScope } from "./commands/line-verdict.ts";
import { rulesOfCommands, stricter, withParts, type Rest } from "./commands/explained-parts.ts";
import { customVerdict } from "./custom-mode.ts";
import { deniesPath, ruleMatches, type Rule } from "./rule.ts";
import { filesIn, linesOf, writesItself, type NamedFile, type NamedLine } from "./rule-values.ts";

/** The judgement of a policy's lists and modes on a call: the strictest of its permissions decides. */
export function judge(call: PolicyCall, policy: Policy): Explanation {
  const { permission, bounds, stored, box } = policy;
  const lines = linesOf(call.values);
  return bounds
    .map((bound) => evaluate({ call, permission: bound, stored: [], box, lines }))
    .reduce((one, other) => stricter(one, other, lines), evaluate({ call, permission, stored, box, lines }));
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

/** The deny rule of a policy that closes a file of these names for this access; null if none does. */
export function denyingRule({ permission, bounds }: Permissions, names: readonly string[], access: Access): Rule | null {
  for (const { deny } of [permission, ...bounds]) for (const rule of deny) if (deniesPath(rule, names, access)) return rule;
  return null;
}

/** All deny rules of a policy. */
export function denyRules({ permission, bounds }: Permissions): readonly Rule[] {
  return [permission, ...bounds].flatMap(({ deny }) => deny);
}

/** A call that is judged by one permission, with the rules that people have stored and the parameters that name files about which every template asks. */
type Asked = CommandScope & { readonly sensitive: readonly string[] };

/** The decision of a layer, still without what was considered before it. */
type Decision = Omit<Explanation, "considered">;

/** The verdict of a layer: the rules and lists of it that say nothing of the call, and its decision, if it has one. */
type Said = { readonly passed: readonly Consideration[]; readonly decision: Decision | null };

/** The order in which a permission is asked (docs/permissions.md): the first layer that decides wins, and the mode always does. */
const LAYERS: readonly ((asked: Asked) => Said)[] = [
  rulesThatDeny,
  denyTools,
  allowTools,
  modeThatForbids,
  heldBackCommands,
  allowRules,
  storedRules,
  allowedLines,
  autoAllowTools,
  autoAllowInBox,
  sensitiveFiles,
  askRules,
  requireApprovalTools,
  readingLines,
  mode,
];

function evaluate(scope: CommandScope): Explanation {
  const asked = { ...scope, sensitive: sensitiveParameters(scope) };
  const considered: Consideration[] = [];
  for (const layer of LAYERS) {
    const { passed, decision } = layer(asked);
    considered.push(...passed);
    if (decision === null) continue;
    considered.push({ rule: decision.decidedBy, place: decision.place, verdict: decision.verdict });
    const explanation = { ...decision, considered };
    if (scope.lines.length === 0) return explanation;
    return withParts(explanation, scope, layer === mode && decision.verdict === "ask" ? "is asked about" : restOf(asked));
  }
  throw new Error("the mode of a permission decides every call");
}

/** The answer of a permission to the commands of a call about which nothing else is to be said. */
function restOf(asked: Asked): Rest {
  const free = { ...asked, sensitive: [] };
  if ([autoAllowTools, autoAllowInBox].some((layer) => layer(free).decision !== null)) return "runs";
  const decision = requireApprovalTools(free).decision ?? mode(free).decision;
  return decision?.verdict === "allow" ? "runs, but for ask rules" : "is asked about";
}

function rulesThatDeny({ call, permission: { deny } }: Asked): Said {
  return firstRule(
    deny,
    "deny",
    call,
    // What a rule closes is left out of a search; what it says of other parameters as well can only be asked beforehand.
    (rule) =>
      ruleMatches(rule, call.name, call.values, rule.deniedPath === null ? "reaches" : "names") || reachesDenied(rule, call),
    (rule) => decided("deny", `deny ${rule.source}`, rule.place, denyReason(rule, call.name)),
  );
}

function denyTools({ call: { name }, permission: { place, denyTools: names } }: Asked): Said {
  return named(names, "denyTools", place, name, "deny", `denyTools forbids ${name}`);
}

function allowTools({ call: { name }, permission: { place, allowTools: names } }: Asked): Said {
  if (names === null) return NOTHING;
  const at = `${place}.allowTools`;
  return names.includes(name)
    ? passed("allowTools", at)
    : { passed: [], decision: decided("deny", "allowTools", at, `allowTools does not name ${name}`) };
}

function modeThatForbids({ call: { name, readOnly }, permission: { place, mode: given } }: Asked): Said {
  const isForbidden = given.kind === "builtin" && (given.name === "deny" || (given.name === "readonly" && !readOnly));
  if (!isForbidden) return NOTHING;
  return { passed: [], decision: decided("deny", `mode ${given.name}`, `${place}.mode`, `mode ${given.name} forbids ${name}`) };
}

function heldBackCommands(asked: Asked): Said {
  if (asked.lines.length === 0) return NOTHING;
  const [part] = heldBack(asked);
  return part === undefined ? NOTHING : { passed: [], decision: decided("ask", heldBackBy(part), "built in", part.reason) };
}

/** Allow rules that take in the commands of a call's lines together, each of them some. What only reads may be among them. */
function allowedLines(asked: Asked): Said {
  if (asked.lines.length === 0) return NOTHING;
  const verdicts = allowedCommands(asked);
  const deciding = verdicts.flatMap(({ rule }) => (rule === null ? [] : [rule]));
  const stored = asked.stored.find((rule) => deciding.includes(rule));
  const rule = stored ?? deciding[0];
  if (rule === undefined || verdicts.some(({ verdict }) => verdict !== "allow")) return NOTHING;
  const { source, place } = rule;
  const others = [...new Set(deciding)].filter((each) => each !== rule);
  const also = others.map((each) => ({ rule: `allow ${each.source}`, place: each.place, verdict: "allow" }) as const);
  const each = others.length === 0 ? "" : `: ${rulesOfCommands(verdicts)}`;
  if (stored === undefined) {
    const reason = `allow rules take in all of its commands${each === "" ? `, as ${source}` : each}`;
    return { passed: also, decision: decided("allow", `allow ${source}`, place, reason) };
  }
  const decision = decided("allow", `always allow ${source}`, place, `${stored.createdBy} always allows ${source}${each}`);
  return { passed: also, decision: { ...decision, allowRuleId: stored.id } };
}

/** Lines of commands that only read, if the template lets them run, and no other parameter names a file that is written. */
function readingLines(asked: Asked): Said {
  const { call, permission, lines } = asked;
  if (!permission.readOnlyCommands || lines.length === 0 || writesItself(call.values)) return NOTHING;
  const at = `${permission.place}.readOnlyCommands`;
  return allowedCommands(asked).every(({ verdict }) => verdict === "allow")
    ? { passed: [], decision: decided("allow", "readOnlyCommands", at, "its command lines only read") }
    : passed("readOnlyCommands", at);
}

function allowRules({ call, permission: { allow }, sensitive }: Asked): Said {
  return firstRule(
    allow,
    "allow",
    call,
    (rule) => !speaksOfCommands(rule) && mayAllow(rule, sensitive) && ruleMatches(rule, call.name, call.values, "covers"),
    (rule) => decided("allow", `allow ${rule.source}`, rule.place, `the rule ${rule.source} allows it`),
  );
}

function storedRules({ call, stored, sensitive }: Asked): Said {
  const rule = stored.find(
    (each) => !speaksOfCommands(each) && mayAllow(each, sensitive) && ruleMatches(each, call.name, call.values, "covers"),
  );
  if (rule === undefined) return NOTHING;
  const { source, place, createdBy, id } = rule;
  const decision = decided("allow", `always allow ${source}`, place, `${createdBy} always allows ${source}`);
  return { passed: [], decision: { ...decision, allowRuleId: id } };
}

function autoAllowTools({ call: { name }, permission: { place, autoAllowTools: names }, sensitive }: Asked): Said {
  const said = named(names, "autoAllowTools", place, name, "allow", `autoAllowTools names ${name}`);
  return said.decision !== null && sensitive.length > 0 ? passed("autoAllowTools", `${place}.autoAllowTools`) : said;
}

/** Tools that the box bounds need no question: none for an agent whose programs run without a box. */
function autoAllowInBox({ call: { name }, permission: { place, autoAllowInBox: names }, sensitive, box }: Asked): Said {
  if (box === null || !names.includes(name)) return NOTHING;
  const at = `${place}.autoAllowInBox`;
  if (sensitive.length > 0) return passed("autoAllowInBox", at);
  return {
    passed: [],
    decision: decided("allow", "autoAllowInBox", at, `autoAllowInBox names ${name}, and programs run in a box`),
  };
}

function sensitiveFiles(asked: Asked): Said {
  const [part] = asked.lines.length === 0 ? [] : sensitiveParts(asked);
  if (part !== undefined)
    return { passed: [], decision: decided("ask", "files with secrets, and out of the workspace", "built in", part.reason) };
  if (protectedParameters(asked).length > 0)
    return {
      passed: [],
      decision: decided(
        "ask",
        "protected files",
        "built in",
        "other programs take the file as orders, and no allow rule names it",
      ),
    };
  if (asked.sensitive.length === 0) return NOTHING;
  const reason = "the file mostly holds secrets, and no allow rule names it";
  return { passed: [], decision: decided("ask", "files with secrets", "built in", reason) };
}

function askRules({ call, lines, permission: { ask } }: Asked): Said {
  return firstRule(
    ask,
    "ask",
    call,
    (rule) => ruleMatches(rule, call.name, call.values, "reaches") || commandsReach(rule, lines),
    (rule) => decided("ask", `ask ${rule.source}`, rule.place, `the rule ${rule.source} asks for it`),
  );
}

function requireApprovalTools({ call: { name }, permission: { place, requireApprovalTools: names } }: Asked): Said {
  return named(names, "requireApprovalTools", place, name, "ask", `requireApprovalTools names ${name}`);
}

function mode({ call, permission: { place, mode: given } }: Asked): Said {
  const said = (verdict: Verdict): { verdict: Verdict; reason: string } => ({
    verdict,
    reason: `mode ${given.name} ${verdict === "allow" ? "allows" : verdict === "ask" ? "asks for" : "forbids"} ${call.name}`,
  });
  const { verdict, reason } = given.kind === "custom" ? customVerdict(call, given, said) : said(builtinVerdict(call, given.name));
  return { passed: [], decision: decided(verdict, `mode ${given.name}`, `${place}.mode`, reason) };
}

const NOTHING: Said = { passed: [], decision: null };

function passed(rule: string, place: string): Said {
  return { passed: [{ rule, place, verdict: "no match" }], decision: null };
}

function decided(verdict: Verdict, decidedBy: string, place: string, reason: string): Decision {
  return { verdict, decidedBy, place, reason };
}

/** The first of the rules that matches decides; those before it that are for the tool say nothing. */
function firstRule(
  rules: readonly Rule[],
  list: "deny" | "allow" | "ask",
  { name }: PolicyCall,
  isMatch: (rule: Rule) => boolean,
  decide: (rule: Rule) => Decision,
): Said {
  const index = rules.findIndex(isMatch);
  const deciding = rules[index];
  const before = (deciding === undefined ? rules : rules.slice(0, index)).filter((rule) => rule.isForTool(name));
  return {
    passed: before.map((rule) => ({ rule: `${list} ${rule.source}`, place: rule.place, verdict: "no match" })),
    decision: deciding === undefined ? null : decide(deciding),
  };
}

/** A list of tools decides if it names the tool. */
function named(names: readonly string[], list: string, place: string, tool: string, verdict: Verdict, reason: string): Said {
  const index = names.indexOf(tool);
  if (index >= 0) return { passed: [], decision: decided(verdict, list, `${place}.${list}.${index}`, reason) };
  return names.length === 0 ? NOTHING : passed(list, `${place}.${list}`);
}

/** True if a rule speaks of command lines: those are taken in command by command. */
function speaksOfCommands({ conditions }: Rule): boolean {
  return conditions.some(({ command }) => command !== null);
}

/** True if a command of the call names, or could come upon, a file of which the rule speaks. */
function commandsReach(rule: Rule, lines: readonly NamedLine[]): boolean {
  return lines.some(({ line }) => line.commands.some((command) => reachesFiles(rule, command)));
}

/** True if a rule may allow a call: a rule for a file with secrets, or for a protected one, must name its path. */
function mayAllow({ conditions }: Rule, sensitive: readonly string[]): boolean {
  return sensitive.every((name) => conditions.some(({ parameter }) => speaksOf(parameter, name)));
}

/**
 * The parameters by which a call names files that mostly hold secrets, or writes files that a box protects. A search of a tool
 * leaves files with secrets out by itself; a command does not. In a box it reads empty ones.
 */
function sensitiveParameters(scope: CommandScope): string[] {
  const named = [...parametersOf(scope, ({ names }) => names.some(isSecretPath)), ...protectedParameters(scope)];
  return scope.lines.length === 0 ? named : [...named, ...new Set(sensitiveParts(scope).map(({ parameter }) => parameter))];
}

/** The parameters by which a call writes files that the agent's box protects from programs. */
function protectedParameters({ box, ...scope }: CommandScope): string[] {
  if (box === null) return [];
  return parametersOf({ box, ...scope }, ({ names, access }) => access === "write" && protects(box.protectedPaths, names));
}

/** The parameters with a path of such a file. */
function parametersOf({ call }: CommandScope, isIt: (file: NamedFile) => boolean): string[] {
  return Object.entries(call.values).flatMap(([parameter, list]) =>
    list.some((value) => value.kind === "file" && isIt(value)) ? [parameter] : [],
  );
}

/** True if the call names a file that the rule closes, through whatever tool. */
function reachesDenied(rule: Rule, { values }: PolicyCall): boolean {
  if (rule.deniedPath === null) return false;
  return Object.values(values).some((list) =>
    list.some((value) => filesIn(value).some(({ names, access }) => deniesPath(rule, names, access))),
  );
}

function denyReason(rule: Rule, tool: string): string {
  return rule.isForTool(tool) ? `the rule ${rule.source} forbids it` : `the rule ${rule.source} forbids what ${tool} would reach`;
}

/** The verdict of a mode that is built in. */
function builtinVerdict({ readOnly }: PolicyCall, name: Exclude<PermissionMode, { kind: "custom" }>["name"]): Verdict {
  if (name === "default") return readOnly ? "allow" : "ask";
  return ({ auto: "allow", readonly: "allow", approval: "ask", deny: "deny" } as const)[name];
}
