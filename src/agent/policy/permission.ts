import type { HostRule } from "./hosts/host-rule.ts";
import type { Rule } from "./rule.ts";
import type { RuleValues } from "./rule-values.ts";

/** The verdict of a rule, a list, a mode or a hook on a call. */
export const VERDICTS = ["allow", "ask", "deny"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** True if `verdict` is stricter than `than`. */
export function isStricter(verdict: Verdict, than: Verdict): boolean {
  return VERDICTS.indexOf(verdict) > VERDICTS.indexOf(than);
}

/** One thing that was asked what it says of a call, and its answer. */
export type Consideration = {
  readonly rule: string;
  /** The place in the configuration, for example `templates.assistant.permission.deny.0`. */
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
  /** The stored rule that decided, or that allowed a part of the call, if one did. */
  readonly allowRuleId?: string;
  /** The parts of command lines that kept the call from being allowed; absent if it was allowed, or has none. */
  readonly parts?: readonly ExplainedPart[];
};

/** A part of a command line that was asked about or denied, and why. */
export type ExplainedPart = {
  /** The parameter that holds the line. */
  readonly parameter: string;
  /** The first character of the part and the one behind its last, in UTF-16 code units from 0. */
  readonly start: number;
  readonly end: number;
  readonly verdict: "ask" | "deny";
  readonly reason: string;
};

/** A call as policies see it: the values are normalised. */
export type PolicyCall = {
  readonly agentId: string;
  readonly name: string;
  readonly readOnly: boolean;
  readonly values: RuleValues;
  /** The reason why allow rules do not hold for a tool of an MCP server: its definition is not the accepted one. Absent if they hold. */
  readonly changed?: string;
  /** The reason why modes and lists do not let a write to memory run: its text may come from outside. Absent for other calls. */
  readonly fromOutside?: string;
};

/** The operator's own mode: decides what no list decides. One that throws denies. */
export type CustomMode = (call: PolicyCall) => Verdict;

/**
 * The built-in modes, for a call that no list decides: `auto` runs it, `approval` asks, `readonly` denies what is not
 * read-only, `deny` denies everything, `default` runs read-only tools and asks for the rest.
 */
export const BUILTIN_MODES = ["auto", "approval", "readonly", "deny", "default"] as const;
export type BuiltinMode = (typeof BUILTIN_MODES)[number];
export type PermissionMode =
  | { readonly kind: "builtin"; readonly name: BuiltinMode }
  | { readonly kind: "custom"; readonly name: string; readonly judge: CustomMode };

/** A rule that a person has stored with "always allow this". */
export type StoredRule = Rule & { readonly id: string; readonly createdBy: string };

/** An agent above another whose limits bind it. */
export type AgentAbove = { readonly agentId: string; readonly templateId: string };

/** A permission: the things that agents may do without asking, after asking, and not at all. */
export type Permission = {
  /** The agent above for which it holds; null for a permission of the agent itself. */
  readonly above: AgentAbove | null;
  /** The place in the configuration: `templates.assistant.permission`. */
  readonly place: string;
  readonly mode: PermissionMode;
  readonly deny: readonly Rule[];
  readonly allow: readonly Rule[];
  readonly ask: readonly Rule[];
  /** The rules of its lists that speak of hosts. `unnamed`: the place that asks about hosts without a rule; null if none does. */
  readonly hosts: { readonly deny: readonly HostRule[]; readonly allow: readonly HostRule[]; readonly unnamed: string | null };
  /** The only tools that are not denied; null for all. */
  readonly allowTools: readonly string[] | null;
  readonly denyTools: readonly string[];
  readonly autoAllowTools: readonly string[];
  /** Tools that run without asking if the agent's programs run in a box. */
  readonly autoAllowInBox: readonly string[];
  readonly requireApprovalTools: readonly string[];
  /** True if command lines that only read run without asking. */
  readonly readOnlyCommands: boolean;
};

/** An agent's permissions: `bounds` hold besides `permission`, and can only tighten. */
export type Permissions = { readonly permission: Permission; readonly bounds: readonly Permission[] };

/** A box as policies see it: it keeps denied files from programs, and these paths, from the workspace's root, as they are. */
export type PolicyBox = { readonly protectedPaths: readonly string[] };

/** All that an agent's calls are judged by: its permissions, and the rules that people have stored for its template. */
export type Policy = Permissions & {
  readonly stored: readonly StoredRule[];
  /** The box in which the agent's programs run; null if they run without one. */
  readonly box: PolicyBox | null;
};
