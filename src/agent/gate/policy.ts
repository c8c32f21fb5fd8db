import { messageOf } from "../../lib/text.ts";
import type { Access } from "../tools/tool.ts";
import { closesPath, ruleMatches, type Rule } from "./rule.ts";
import { namesOf, type RuleValues } from "./rule-values.ts";
import { isSecretPath } from "./secret-files.ts";

/** What a rule, a list, a mode or a hook says of a call. */
export const VERDICTS = ["allow", "ask", "deny"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One thing that was asked what it says of a call, and its answer. */
export type Consideration = {
  readonly rule: string;
  /** Where it stands in the configuration, for example `templates.assistant.permission.deny.0`. */
  readonly place: string;
  readonly verdict: Verdict | "no match";
};

/** Why a call was allowed, asked or denied: what was considered, in order, and which of it decided. */
export type Explanation = {
  readonly verdict: Verdict;
  readonly decidedBy: string;
  readonly place: string;
  /** In words, for people and for the model. */
  readonly reason: string;
  readonly considered: readonly Consideration[];
  /** The stored rule that decided, where one did. */
  readonly allowRuleId?: string;
};

/** A call as policies see it: the values are normalised. */
export type PolicyCall = {
  readonly agentId: string;
  readonly name: string;
  readonly readOnly: boolean;
  readonly values: RuleValues;
};

/** The operator's own mode: decides what no list decides. One that throws denies. */
export type CustomMode = (call: PolicyCall) => Verdict;

/**
 * What happens to a call that no list decides: `auto` runs it, `approval` asks, `readonly` denies what is not
 * read-only, `deny` denies everything, `default` runs read-only tools and asks for the rest.
 */
export const BUILTIN_MODES = ["auto", "approval", "readonly", "deny", "default"] as const;
export type BuiltinMode = (typeof BUILTIN_MODES)[number];
export type PermissionMode =
  | { readonly kind: "builtin"; readonly name: BuiltinMode }
  | { readonly kind: "custom"; readonly name: string; readonly judge: CustomMode };

/** A rule that a person has stored with "always allow this". */
export type StandingRule = Rule & { readonly id: string; readonly createdBy: string };

/** What agents may do without asking, after asking, and not at all. */
export type Permission = {
  /** Where it stands: `templates.assistant.permission`. */
  readonly place: string;
  readonly mode: PermissionMode;
  readonly deny: readonly Rule[];
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  /** Where given, every other tool is denied. */
  readonly allowTools: readonly string[] | null;
  readonly denyTools: readonly string[];
  readonly autoAllowTools: readonly string[];
  readonly requireApprovalTools: readonly string[];
};

/**
 * All that an agent's calls are judged by. `bounds` are further permissions that hold as well and can only tighten;
 * `standing` are the rules that people have stored for its template.
 */
export type Policy = {
  readonly permission: Permission;
  readonly bounds: readonly Permission[];
  readonly standing: readonly StandingRule[];
};

const STRICTNESS: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** What the lists and modes of a policy say of a call: the strictest of its permissions decides. */
export function judge(call: PolicyCall, policy: Policy): Explanation {
  return policy.bounds
    .map((bound) => judgeBy(call, bound, []))
    .reduce(stricter, judgeBy(call, policy.permission, policy.standing));
}

/** The stricter of two explanations, with what both considered. */
function stricter(one: Explanation, other: Explanation): Explanation {
  const deciding = STRICTNESS[other.verdict] > STRICTNESS[one.verdict] ? other : one;
  return { ...deciding, considered: [...one.considered, ...other.considered] };
}

/** Whether `verdict` is stricter than `than`. */
export function isStricter(verdict: Verdict, than: Verdict): boolean {
  return STRICTNESS[verdict] > STRICTNESS[than];
}

/** The strictest that hooks said of a call; null where none said anything. */
export function hookVerdict({ considered }: Explanation): Verdict | null {
  return considered.reduce<Verdict | null>(
    (strictest, { rule, verdict }) =>
      rule !== "hook" || verdict === "no match" || (strictest !== null && !isStricter(verdict, strictest)) ? strictest : verdict,
    null,
  );
}

/**
 * True if a permission asks for calls besides those that name files with secrets. If it does not, the rules that people have
 * stored change no other verdict.
 */
export function everAsks({ mode, ask, requireApprovalTools }: Permission): boolean {
  const isSettled = mode.kind === "builtin" && mode.name !== "approval" && mode.name !== "default";
  return !isSettled || ask.length > 0 || requireApprovalTools.length > 0;
}

/** The deny rule of a policy that closes a file of these names for this access; null where none does. */
export function closingRule({ permission, bounds }: Policy, names: readonly string[], access: Access): Rule | null {
  for (const { deny } of [permission, ...bounds]) for (const rule of deny) if (closesPath(rule, names, access)) return rule;
  return null;
}

/** Deny, then allow, then ask, of which files with secrets come first, then the mode: the first that decides wins. */
function judgeBy(call: PolicyCall, permission: Permission, standing: readonly StandingRule[]): Explanation {
  const { name } = call;
  const { place, mode, allowTools, denyTools, autoAllowTools, requireApprovalTools } = permission;
  const considered: Consideration[] = [];
  const decided = (verdict: Verdict, rule: string, at: string, reason: string): Explanation => {
    considered.push({ rule, place: at, verdict });
    return { verdict, decidedBy: rule, place: at, reason, considered };
  };
  const passed = (rule: string, at: string): void => void considered.push({ rule, place: at, verdict: "no match" });

  for (const rule of permission.deny) {
    // What a rule closes is left out of a search; what it says of other parameters as well can only be asked beforehand.
    const isMatch = ruleMatches(rule, name, call.values, rule.closedPath === null ? "reaches" : "names");
    if (isMatch || reachesClosed(rule, call)) return decided("deny", `deny ${rule.source}`, rule.place, denyReason(rule, name));
    if (rule.isForTool(name)) passed(`deny ${rule.source}`, rule.place);
  }
  const denied = denyTools.indexOf(name);
  if (denied >= 0) return decided("deny", "denyTools", `${place}.denyTools.${denied}`, `denyTools forbids ${name}`);
  if (denyTools.length > 0) passed("denyTools", `${place}.denyTools`);
  if (allowTools !== null) {
    if (!allowTools.includes(name))
      return decided("deny", "allowTools", `${place}.allowTools`, `allowTools does not name ${name}`);
    passed("allowTools", `${place}.allowTools`);
  }
  if (mode.kind === "builtin" && (mode.name === "deny" || (mode.name === "readonly" && !call.readOnly)))
    return decided("deny", `mode ${mode.name}`, `${place}.mode`, `mode ${mode.name} forbids ${name}`);

  const secrets = secretParameters(call);
  /** True if a rule may allow the call: a rule for a file with secrets must name its path. */
  const mayAllow = ({ conditions }: Rule): boolean =>
    secrets.every((secret) => conditions.some(({ parameter }) => parameter === secret));
  for (const rule of permission.allow) {
    if (mayAllow(rule) && ruleMatches(rule, name, call.values, "covers"))
      return decided("allow", `allow ${rule.source}`, rule.place, `the rule ${rule.source} allows it`);
    if (rule.isForTool(name)) passed(`allow ${rule.source}`, rule.place);
  }
  for (const rule of standing) {
    if (mayAllow(rule) && ruleMatches(rule, name, call.values, "covers"))
      return {
        ...decided("allow", `always allow ${rule.source}`, rule.place, `${rule.createdBy} always allows ${rule.source}`),
        allowRuleId: rule.id,
      };
  }
  const allowed = autoAllowTools.indexOf(name);
  if (allowed >= 0 && secrets.length === 0)
    return decided("allow", "autoAllowTools", `${place}.autoAllowTools.${allowed}`, `autoAllowTools names ${name}`);
  if (autoAllowTools.length > 0) passed("autoAllowTools", `${place}.autoAllowTools`);

  if (secrets.length > 0)
    return decided("ask", "files with secrets", "built in", "the file mostly holds secrets, and no allow rule names it");

  for (const rule of permission.ask) {
    if (ruleMatches(rule, name, call.values, "reaches"))
      return decided("ask", `ask ${rule.source}`, rule.place, `the rule ${rule.source} asks for it`);
    if (rule.isForTool(name)) passed(`ask ${rule.source}`, rule.place);
  }
  const asked = requireApprovalTools.indexOf(name);
  if (asked >= 0)
    return decided("ask", "requireApprovalTools", `${place}.requireApprovalTools.${asked}`, `requireApprovalTools names ${name}`);
  if (requireApprovalTools.length > 0) passed("requireApprovalTools", `${place}.requireApprovalTools`);

  const byMode = modeVerdict(call, mode);
  return decided(byMode.verdict, `mode ${mode.name}`, `${place}.mode`, byMode.reason);
}

function modeVerdict(call: PolicyCall, mode: PermissionMode): { verdict: Verdict; reason: string } {
  const said = (verdict: Verdict): { verdict: Verdict; reason: string } => ({
    verdict,
    reason: `mode ${mode.name} ${verdict === "allow" ? "allows" : verdict === "ask" ? "asks for" : "forbids"} ${call.name}`,
  });
  if (mode.kind === "custom") return customVerdict(call, mode, said);
  switch (mode.name) {
    case "auto":
    case "readonly":
      return said("allow");
    case "approval":
      return said("ask");
    case "default":
      return said(call.readOnly ? "allow" : "ask");
    case "deny":
      return said("deny");
  }
}

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
    return { verdict: "deny", reason: `mode ${name} failed (${messageOf(error)}), and what it cannot judge does not run` };
  }
}

/** The parameters by which a call names files that mostly hold secrets. A search leaves such files out by itself. */
function secretParameters({ values }: PolicyCall): string[] {
  return Object.entries(values).flatMap(([parameter, list]) =>
    list.some((value) => value.kind === "file" && namesOf(value).some(isSecretPath)) ? [parameter] : [],
  );
}

/** Whether the call names a file that the rule closes, through whatever tool. */
function reachesClosed(rule: Rule, { values }: PolicyCall): boolean {
  if (rule.closedPath === null) return false;
  return Object.values(values).some((list) =>
    list.some((value) => value.kind === "file" && closesPath(rule, namesOf(value), value.access)),
  );
}

function denyReason(rule: Rule, tool: string): string {
  return rule.isForTool(tool) ? `the rule ${rule.source} forbids it` : `the rule ${rule.source} forbids what ${tool} would reach`;
}
