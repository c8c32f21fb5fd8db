import { Type } from "typebox";
import type { Result } from "../../lib/result.ts";
import { complete, TEXT, TEXTS, withDefault, type Written } from "../../lib/setting.ts";
import type { Tool } from "../tools/tool.ts";
import { isServerTool } from "../tools/tool.ts";
import { type HostRule, isHostRule, parseHostRule } from "./hosts/host-rule.ts";
import { parseRule, type OnAbsent } from "./parse-rule.ts";
import { BUILTIN_MODES, type BuiltinMode, type CustomMode, type Permission, type PermissionMode } from "./permission.ts";
import type { Rule } from "./rule.ts";
import type { RuleProblem } from "./rule-text.ts";

/** A permission block: rules, lists of tool names, and what happens to the rest. */
export const PERMISSION_SETTINGS = {
  /** One of the built-in modes, `ask` (the same as `approval`), or the name of one of `permissionModes`. `default` if omitted. */
  mode: withDefault(TEXT, "default"),
  /** Rules such as `fs_read(path:.env)`, see docs/permissions.md: a call that one speaks of is denied. None if omitted. */
  deny: withDefault(TEXTS, []),
  /** Rules: a call that one speaks of runs without asking. None if omitted. */
  allow: withDefault(TEXTS, []),
  /** Rules: a person is asked about a call that one speaks of. None if omitted. */
  ask: withDefault(TEXTS, []),
  /** Names of tools: calls of all others are denied. Every tool may be called if omitted. */
  allowTools: withDefault(TEXTS, null),
  /** Names of tools whose calls are denied. None if omitted. */
  denyTools: withDefault(TEXTS, []),
  /** Names of tools whose calls run without asking. None if omitted. */
  autoAllowTools: withDefault(TEXTS, []),
  /** Names of tools whose calls run without asking if the template's programs run in a box. None if omitted. */
  autoAllowInBox: withDefault(TEXTS, []),
  /** Names of tools whose calls are asked for. None if omitted. */
  requireApprovalTools: withDefault(TEXTS, []),
  /** True if command lines that are known to only read run without asking: docs/permissions.md says which. False if omitted. */
  readOnlyCommands: withDefault(Type.Boolean(), false),
};

/** A permission block as it is written. */
export type PermissionSource = Written<typeof PERMISSION_SETTINGS>;

/** The lists of a block that name tools. */
type NameList = "allowTools" | "denyTools" | "autoAllowTools" | "autoAllowInBox" | "requireApprovalTools";

/** The problem with a permission block: in which field, and what. */
export type PermissionProblem = { readonly field: readonly string[]; readonly message: string };

/**
 * The most rules of one block, and of those that people have stored for a template; and the longest, in characters: each is
 * asked at every call.
 */
export const MOST_RULES = 300;
export const RULE_CHARACTERS = 1_000;

const HOSTS_ARE_ASKED = "a host that no rule in deny or allow names is asked for anyway: leave this rule out";

/** The tools and modes that a permission block may name. */
export type Vocabulary = {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly modes: ReadonlyMap<string, CustomMode>;
  /** Given: rules of tools that are not there are accepted. */
  readonly onAbsent?: OnAbsent;
};

/** The permission that a block stands for, with everything that is wrong with it: `problems` is empty if nothing is. */
export function readPermission(
  source: PermissionSource,
  place: string,
  vocabulary: Vocabulary,
): { readonly permission: Permission; readonly problems: readonly PermissionProblem[] } {
  const settings = complete(PERMISSION_SETTINGS, source);
  const problems: PermissionProblem[] = [];
  const { tools, modes, onAbsent = null } = vocabulary;
  const written = settings.deny.length + settings.allow.length + settings.ask.length;
  if (written > MOST_RULES)
    problems.push({ field: [], message: `${written} rules are too many: a block has at most ${MOST_RULES}` });
  type List = "deny" | "allow" | "ask";
  const read = <Read>(
    list: List,
    isMeant: (text: string) => boolean,
    parse: (text: string, at: string) => Result<Read, RuleProblem>,
  ): Read[] =>
    settings[list].slice(0, MOST_RULES).flatMap((text, index) => {
      if (!isMeant(text)) return [];
      if (text.length > RULE_CHARACTERS) {
        problems.push({ field: [list, String(index)], message: `a rule has at most ${RULE_CHARACTERS} characters` });
        return [];
      }
      const rule = parse(text, `${place}.${list}.${index}`);
      if (rule.ok) return [rule.value];
      const { character, message } = rule.refusal;
      problems.push({
        field: [list, String(index)],
        message: `at character ${character} of ${JSON.stringify(text)}: ${message}`,
      });
      return [];
    });
  const rules = (list: List): Rule[] =>
    read(
      list,
      (text) => !isHostRule(text),
      (text, at) => parseRule(text, at, tools, onAbsent),
    );
  const hosts = (list: "deny" | "allow"): HostRule[] => read(list, isHostRule, parseHostRule);
  for (const [index, text] of settings.ask.entries())
    if (isHostRule(text)) problems.push({ field: ["ask", String(index)], message: HOSTS_ARE_ASKED });
  const names = (list: NameList): readonly string[] => {
    for (const [index, name] of (settings[list] ?? []).entries()) {
      if (!tools.has(name) && !isServerTool(name))
        problems.push({
          field: [list, String(index)],
          message: `there is no tool ${JSON.stringify(name)}: the tools are ${[...tools.keys()].join(", ")}`,
        });
    }
    return settings[list] ?? [];
  };
  const mode = modeOf(settings.mode, modes);
  if (mode === null)
    problems.push({
      field: ["mode"],
      message: `there is no mode ${JSON.stringify(settings.mode)}: the modes are ${[...BUILTIN_MODES, "ask", ...modes.keys()].join(", ")}`,
    });
  const permission: Permission = {
    above: null,
    place,
    mode: mode ?? { kind: "builtin", name: "deny" },
    deny: rules("deny"),
    allow: rules("allow"),
    ask: rules("ask"),
    hosts: { deny: hosts("deny"), allow: hosts("allow"), unnamed: "built in" },
    allowTools: settings.allowTools === null ? null : names("allowTools"),
    denyTools: names("denyTools"),
    autoAllowTools: names("autoAllowTools"),
    autoAllowInBox: names("autoAllowInBox"),
    requireApprovalTools: names("requireApprovalTools"),
    readOnlyCommands: settings.readOnlyCommands,
  };
  return { permission, problems };
}

function modeOf(name: string, modes: ReadonlyMap<string, CustomMode>): PermissionMode | null {
  if (name === "ask") return { kind: "builtin", name: "approval" };
  const builtin = BUILTIN_MODES.find((candidate): candidate is BuiltinMode => candidate === name);
  if (builtin !== undefined) return { kind: "builtin", name: builtin };
  const judge = modes.get(name);
  return judge === undefined ? null : { kind: "custom", name, judge };
}
