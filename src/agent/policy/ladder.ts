import type { Trouble } from "../bash/command-line.ts";
import { isServerTool } from "../tools/tool.ts";
import { protects } from "../workspace/sandbox/protected-paths.ts";
import { isSecretPath } from "../workspace/secret-files.ts";
import {
  ACTS_OF_CALLS,
  type Act,
  type ActOf,
  type CallAct,
  ANSWERED,
  CARRIED,
  says,
  decided,
  decidingRule,
  firstRule,
  named,
  NOTHING,
  passed,
  type Decision,
  type NamedRule,
  type Said,
} from "./act.ts";
import { heldBack, runsAsReading, unprovenHeldBack, whyAsked, type CommandScope } from "./commands/judged-command.ts";
import { sensitivePart } from "./commands/secrets.ts";
import { hostText, hostRuleAllows, hostRuleDenies, isNear, type HostRule, type StoredHostRule } from "./hosts/host-rule.ts";
import { opensFile, readingRules, type Rule } from "./rule.ts";
import type { Consideration, Permission, PolicyCall } from "./permission.ts";
import { marksCommand, type RuleMatches } from "./rules-of-acts.ts";

/** All by which one permission judges an act. */
export type Scope = CommandScope & {
  /** True for a permission that holds besides that of the agent itself. */
  readonly isBound: boolean;
  readonly hosts: HostLists;
  /** The verdict of the mode on a call: the same for all of its acts. */
  readonly mode: (call: PolicyCall) => Pick<Decision, "verdict" | "reason">;
  readonly matches: RuleMatches;
};

/** The rules about hosts besides those of the permission: `sandbox.hosts`, and those that people have stored. */
export type HostLists = { readonly listedHosts: readonly HostRule[]; readonly storedHosts: readonly StoredHostRule[] };

/** The row that allows commands that only read. */
export const READ_ONLY_COMMANDS = "readOnlyCommands";

/** The answer of the ladder to an act: its decision, with the row that decided (counted from the strongest) and the rules and lists that said nothing before. */
export type Judged<Kind extends Act["kind"] = Act["kind"]> = {
  readonly act: ActOf<Kind>;
  readonly row: number;
  readonly passed: () => readonly Consideration[];
  readonly decision: Decision;
};

type Row = (act: Act, scope: Scope) => Said;

/** A row of the ladder, with the acts for which it speaks. */
function row<Kind extends Act["kind"]>(kinds: readonly Kind[], say: (act: ActOf<Kind>, scope: Scope) => Said): Row {
  const isOfKind = (act: Act): act is ActOf<Kind> => kinds.some((kind) => kind === act.kind);
  return (act, scope) => (isOfKind(act) ? say(act, scope) : NOTHING);
}

/** The order in which a permission is asked about an act (docs/permissions.md): the first row that decides wins. */
const LADDER: readonly Row[] = [
  row(["connect"], closedHosts),
  row([...ACTS_OF_CALLS, "open", "connect"], rulesThatDeny),
  row(ACTS_OF_CALLS, denyTools),
  row(ACTS_OF_CALLS, allowTools),
  row([...ACTS_OF_CALLS, "connect"], modeThatForbids),
  row(ACTS_OF_CALLS, changedTools),
  row(["command", "unproven"], heldBackParts),
  row(["file", "search"], namedBesideCommands),
  row([...ACTS_OF_CALLS, "connect"], allowRules),
  row(["connect"], listedHosts),
  row([...ACTS_OF_CALLS, "connect"], storedRules),
  row(["use"], memoryFromOutside),
  row(["command"], readingBesideRules),
  row(ACTS_OF_CALLS, autoAllowTools),
  row(ACTS_OF_CALLS, autoAllowInBox),
  row(["file", "command", "open"], sensitiveFiles),
  row(ACTS_OF_CALLS, askRules),
  row(["command", "unproven"], carriedByAnother),
  row(ACTS_OF_CALLS, requireApprovalTools),
  row(["use", "command"], readingCommands),
  row(ACTS_OF_CALLS, serverTools),
  row(ACTS_OF_CALLS, modes),
  row(["open"], () => says("allow", "no rule", "built in", "no rule closes it")),
  row(["connect"], unnamedHosts),
];

/**
 * The judgement of a permission on an act; null for one that is carried by another act of its call. An act that is asked about has the
 * parts of all rows that ask, up to the first that would allow it.
 */
export function judgeAct(act: Act, scope: Scope): Judged | null {
  const before: Said["passed"][] = [];
  const passed = (): readonly Consideration[] => before.flatMap((each) => each());
  let asked: Judged | null = null;
  for (const [index, say] of LADDER.entries()) {
    const said = say(act, scope);
    const { decision } = said;
    if (decision === CARRIED) return asked;
    if (asked === null) before.push(said.passed);
    if (decision === null) continue;
    if (decision.verdict !== "ask") return asked ?? { act, row: index, passed, decision };
    const first: Judged = asked ?? { act, row: index, passed, decision: { ...decision, parts: [] } };
    asked = { ...first, decision: { ...first.decision, parts: [...first.decision.parts, ...decision.parts] } };
  }
  if (asked === null) throw new Error(`a row decides every act, and none did for one of the kind ${act.kind}`);
  return asked;
}

function closedHosts({ host }: ActOf<"connect">): Said {
  if (!isNear(host)) return NOTHING;
  return says("deny", "private addresses", "built in", `${host.host} is not of the public internet, and stays closed`);
}

function rulesThatDeny(act: Act, scope: Scope): Said {
  const { permission } = scope;
  const decide = (rule: NamedRule, index: number): Decision => {
    const isOfAnother = "call" in act && "isForTool" in rule && !rule.isForTool(act.call.name);
    const reason = `the rule ${rule.source} forbids ${isOfAnother ? `what ${act.call.name} would reach` : "it"}`;
    const parts = partsOf(act, rule, `${rule.source} forbids it`);
    return decided("deny", `deny ${rule.source}`, rule.place, reason, decidingRule(rule, index), parts);
  };
  return act.kind === "connect"
    ? firstRule("deny", permission.hosts.deny, act, (rule) => hostRuleDenies(rule, act.host), decide)
    : firstRule("deny", permission.deny, act, (rule) => scope.matches.denies(rule, act), decide);
}

function denyTools({ call: { name } }: CallAct, { permission: { place, denyTools: names } }: Scope): Said {
  return named(names, "denyTools", place, name, "deny", `denyTools forbids ${name}`);
}

function allowTools({ call: { name } }: CallAct, { permission: { place, allowTools: names } }: Scope): Said {
  if (names === null) return NOTHING;
  const at = `${place}.allowTools`;
  return names.includes(name) ? passed("allowTools", at) : says("deny", "allowTools", at, `allowTools does not name ${name}`);
}

function modeThatForbids(act: CallAct | ActOf<"connect">, { permission: { place, mode } }: Scope): Said {
  const writes = act.kind !== "connect" && !act.call.readOnly;
  const isForbidden = mode.kind === "builtin" && (mode.name === "deny" || (mode.name === "readonly" && writes));
  if (!isForbidden) return NOTHING;
  const reason = `mode ${mode.name} forbids ${act.kind === "connect" ? "every host" : act.call.name}`;
  return says("deny", `mode ${mode.name}`, `${place}.mode`, reason);
}

function heldBackParts(act: ActOf<"command"> | ActOf<"unproven">, scope: Scope): Said {
  const parts = act.kind === "command" ? heldBack(scope, act) : unprovenHeldBack(scope, act);
  const [first] = parts;
  if (first === undefined) return NOTHING;
  // No deny rule stands behind files that are only covered.
  const by = first.rule === null ? "covered files that git would record" : "command lines that deny rules cannot be held to";
  return says("ask", by, "built in", first.reason, null, parts);
}

function allowRules(act: CallAct | ActOf<"connect">, scope: Scope): Said {
  const { permission } = scope;
  const decide = (rule: NamedRule, index: number): Decision =>
    decided("allow", `allow ${rule.source}`, rule.place, `the rule ${rule.source} allows it`, decidingRule(rule, index));
  return act.kind === "connect"
    ? firstRule("allow", permission.hosts.allow, act, (rule) => hostRuleAllows(rule, act.host), decide)
    : firstRule("allow", permission.allow, act, allowsAct(act, scope), decide);
}

function listedHosts({ host }: ActOf<"connect">, { hosts }: Scope): Said {
  const rule = hosts.listedHosts.find((each) => hostRuleAllows(each, host));
  if (rule === undefined) return NOTHING;
  return says("allow", "sandbox.hosts", rule.place, "the configuration names it", decidingRule(rule, 0));
}

function storedRules(act: CallAct | ActOf<"connect">, scope: Scope): Said {
  const rule =
    act.kind === "connect"
      ? scope.hosts.storedHosts.find((each) => hostRuleAllows(each, act.host))
      : readsFreely(act, scope)
        ? undefined
        : scope.stored.find(allowsAct(act, scope));
  if (rule === undefined) return NOTHING;
  const { id, source, place, createdBy } = rule;
  const reason = `${createdBy} ${act.kind === "connect" ? "allows" : "always allows"} ${source}`;
  const deciding = decidingRule(rule, 0, { id, createdBy });
  return says("allow", `always allow ${source}`, place, reason, deciding);
}

/** Says of rules if they allow an act. */
function allowsAct(act: CallAct, scope: Scope): (rule: Rule) => boolean {
  const sensitive = isSensitive(act, scope);
  return (rule) => scope.matches.allows(rule, act, scope, sensitive);
}

/** True for a sensitive act: every template asks about it unless a rule names it. */
function isSensitive(act: CallAct, scope: Scope): boolean {
  if (act.kind === "command") return scope.box === null && sensitivePart(scope.permission, act.command) !== null;
  return act.kind === "file" && (isSecret(act) || isProtected(act, scope));
}

function isSecret({ file }: ActOf<"file">): boolean {
  return file.names.some(isSecretPath);
}

function isProtected({ file }: ActOf<"file">, { box }: Scope): boolean {
  return box !== null && file.access === "write" && protects(box.protectedPaths, file.names);
}

function autoAllowTools(act: CallAct, scope: Scope): Said {
  const { place, autoAllowTools: names } = scope.permission;
  const { name } = act.call;
  const said = named(names, "autoAllowTools", place, name, "allow", `autoAllowTools names ${name}`);
  return said.decision !== null && isSensitive(act, scope) ? passed("autoAllowTools", `${place}.autoAllowTools`) : said;
}

/** Tools that the box bounds need no question: none for an agent whose programs run without a box. */
function autoAllowInBox(act: CallAct, scope: Scope): Said {
  const { permission, box } = scope;
  const { name } = act.call;
  if (box === null || !permission.autoAllowInBox.includes(name)) return NOTHING;
  const at = `${permission.place}.autoAllowInBox`;
  if (isSensitive(act, scope)) return passed("autoAllowInBox", at);
  const reason = `autoAllowInBox names ${name}, and programs run in a box`;
  return says("allow", "autoAllowInBox", at, reason);
}

/** Files that mostly hold secrets, and those that a box protects, of which every template asks. In a box a command reads empty ones. */
function sensitiveFiles(act: ActOf<"file"> | ActOf<"command"> | ActOf<"open">, scope: Scope): Said {
  const { permission, stored, box } = scope;
  switch (act.kind) {
    case "command": {
      const part = box === null ? sensitivePart(permission, act.command) : null;
      if (part === null) return NOTHING;
      return says("ask", "files with secrets, and out of the workspace", "built in", part.reason, null, [part]);
    }
    case "file":
      if (isProtected(act, scope)) return says("ask", "protected files", "built in", PROTECTED);
      return isSecret(act) ? says("ask", "files with secrets", "built in", SECRET) : NOTHING;
    case "open": {
      const isOpen = !act.names.some(isSecretPath) || opensFile(readingRules([...permission.allow, ...stored]), act.names);
      return isOpen ? NOTHING : says("ask", "files with secrets", "built in", SECRET);
    }
  }
}

const PROTECTED = "other programs take the file as orders, and no allow rule names it";
const SECRET = "the file mostly holds secrets, and no allow rule names it";

function askRules(act: CallAct, scope: Scope): Said {
  const { permission } = scope;
  const decide = (rule: Rule, index: number): Decision => {
    const parts = partsOf(act, rule, `${rule.source} asks for it`);
    return decided(
      "ask",
      `ask ${rule.source}`,
      rule.place,
      `the rule ${rule.source} asks for it`,
      decidingRule(rule, index),
      parts,
    );
  };
  return firstRule("ask", permission.ask, act, (rule) => scope.matches.asks(rule, act), decide);
}

/** A file or folder of a call with command lines: their commands answer for it, unless every template asks about it. */
function namedBesideCommands(act: ActOf<"file" | "search">, scope: Scope): Said {
  return act.isCarried && !isSensitive(act, scope) ? ANSWERED : NOTHING;
}

function carriedByAnother({ isCarried }: ActOf<"command" | "unproven">): Said {
  return isCarried ? ANSWERED : NOTHING;
}

function requireApprovalTools(act: CallAct, scope: Scope): Said {
  const { name } = act.call;
  const { place, requireApprovalTools: names } = scope.permission;
  const parts = (): readonly Trouble[] => whyActIsAsked(act, scope);
  return named(names, "requireApprovalTools", place, name, "ask", `requireApprovalTools names ${name}`, parts);
}

/** Commands that only read, if the template lets them run, and no other parameter names a file that is written. A line without commands runs none. */
function readingCommands(act: ActOf<"use"> | ActOf<"command">, scope: Scope): Said {
  const { permission } = scope;
  if (!permission.readOnlyCommands || !scope.matches.takesLines(act.call) || scope.matches.writesItself(act.call)) return NOTHING;
  const isReading = act.kind === "use" || runsAsReading(scope, act);
  return isReading ? onlyReading(permission) : passed(READ_ONLY_COMMANDS, `${permission.place}.readOnlyCommands`);
}

/** A command that only reads, in lines whose other commands rules allow. */
function readingBesideRules(act: ActOf<"command">, scope: Scope): Said {
  const { permission, matches } = scope;
  if (!permission.readOnlyCommands || act.whole === null || !matches.areTakenIn(act.call, scope)) return NOTHING;
  return runsAsReading(scope, { ...act, command: act.whole }) ? onlyReading(permission) : NOTHING;
}

function onlyReading({ place }: Permission): Said {
  return says("allow", READ_ONLY_COMMANDS, `${place}.readOnlyCommands`, "its command lines only read");
}

/** True for a command that runs without a stored rule, since it only reads. */
function readsFreely(act: CallAct, scope: Scope): boolean {
  if (act.kind !== "command" || act.whole === null) return false;
  const { permission, matches } = scope;
  const isAsked =
    permission.requireApprovalTools.includes(act.call.name) ||
    matches.writesItself(act.call) ||
    permission.ask.some((rule) => matches.asks(rule, act));
  return !isAsked && runsAsReading(scope, { ...act, command: act.whole });
}

/** A write to memory whose text may come from outside is asked about, unless a rule allows it. */
function memoryFromOutside({ call }: ActOf<"use">, scope: Scope): Said {
  if (call.fromOutside === undefined || scope.isBound || scope.mode(call).verdict === "deny") return NOTHING;
  return says("ask", "memory from outside", "built in", call.fromOutside);
}

/** A tool whose definition is not the accepted one is asked about, whatever allows it. */
function changedTools({ call }: CallAct, scope: Scope): Said {
  if (call.changed === undefined || scope.mode(call).verdict === "deny") return NOTHING;
  return says("ask", "changed definitions", "built in", call.changed);
}

/** Tools of MCP servers are asked about, whatever the mode allows. Those of a bound's agent are its own matter. */
function serverTools({ call }: CallAct, scope: Scope): Said {
  if (!isServerTool(call.name) || scope.isBound || scope.mode(call).verdict === "deny") return NOTHING;
  return says("ask", "tools of MCP servers", "built in", `${call.name} is a tool of an MCP server, and no rule allows it`);
}

function modes(act: CallAct, scope: Scope): Said {
  const { verdict, reason } = scope.mode(act.call);
  const { place, mode } = scope.permission;
  const parts = verdict === "ask" ? whyActIsAsked(act, scope) : [];
  return says(verdict, `mode ${mode.name}`, `${place}.mode`, reason, null, parts);
}

function unnamedHosts({ host }: ActOf<"connect">, { permission: { hosts } }: Scope): Said {
  return hosts.unnamed === null
    ? says("allow", "no rule", "built in", "no rule closes it")
    : says("ask", "hosts", hosts.unnamed, `no rule allows ${hostText(host)}`);
}

/** The reason why the command of an act, or the unreadable part of its line, is not allowed. */
function whyActIsAsked(act: CallAct, scope: Scope): readonly Trouble[] {
  if (act.kind === "unproven") return [act.trouble];
  return act.kind === "command" ? [whyAsked(scope, act)] : [];
}

/** The command of an act, where it is one that a rule speaks of. */
function partsOf(act: Act, rule: NamedRule, reason: string): readonly Trouble[] {
  if (act.kind !== "command" || !("isForTool" in rule) || !marksCommand(rule, act)) return [];
  return [{ start: act.command.start, end: act.command.end, reason }];
}
