import type { Consideration, ExplainedPart, Explanation } from "../agent/policy/permission.ts";
import { allowRuleByRow } from "../resolvers/allow-rule.ts";
import { AllowRule } from "./approvals/allow-rule.ts";
import { builder } from "./builder.ts";
import { PermissionVerdict } from "./enums.ts";

const PermissionConsideration = builder.objectRef<Consideration>("PermissionConsideration").implement({
  description: "A rule, list, mode or hook that was evaluated for a call.",
  fields: (t) => ({
    rule: t.exposeString("rule", {
      description: "The rule as written, or the name of the list, mode or hook.",
    }),
    place: t.exposeString("place", {
      description: "Its path in the configuration, for example `templates.assistant.permission.deny.0`.",
    }),
    verdict: t.field({
      type: PermissionVerdict,
      nullable: true,
      description: "Its verdict. Null if it did not apply to the call.",
      resolve: ({ verdict }) => (verdict === "no match" ? null : verdict),
    }),
  }),
});

export const CommandPart = builder.objectRef<ExplainedPart>("CommandPart").implement({
  description: "A part of a command line that prevented its call from being allowed.",
  fields: (t) => ({
    parameter: t.exposeString("parameter", {
      description: "Position of the command line in the input, for example `command`, `commands[1]` or `steps[0].command`.",
    }),
    start: t.exposeInt("start", {
      description: "Index of the first character of the part in the line, in UTF-16 code units, from 0.",
    }),
    end: t.exposeInt("end", { description: "Index after the last character of the part." }),
    verdict: t.expose("verdict", { type: PermissionVerdict, description: "Verdict on the part: ASK or DENY." }),
    reason: t.exposeString("reason", { description: "Reason, in words." }),
  }),
});

export const Explained = builder.interfaceRef<Explanation>("Explained").implement({
  description: "A verdict with its explanation.",
  fields: (t) => ({
    verdict: t.expose("verdict", { type: PermissionVerdict, description: "Verdict on the call." }),
    rule: t.exposeString("decidedBy", {
      description: "The rule that decided, as written, or the name of a list, mode, hook or stage.",
    }),
    place: t.exposeString("place", {
      description: "Path in the configuration of the rule that decided. For a stored rule, `allowRules.` and its row id.",
    }),
    reason: t.exposeString("reason", { description: "Reason, in words." }),
    considered: t.field({
      type: [PermissionConsideration],
      description: "Everything that was evaluated, in order, at most 300 entries.",
      resolve: ({ considered }) => [...considered],
    }),
    parts: t.field({
      type: [CommandPart],
      description:
        "Parts of the command lines that prevented the call from being allowed, in order, at most 50. Empty if it was allowed.",
      resolve: ({ parts }) => [...(parts ?? [])],
    }),
    allowRule: t.prismaField({
      type: AllowRule,
      nullable: true,
      description: "The stored rule that decided. Null if another rule, list, mode or hook decided.",
      resolve: (query, { allowRuleId }, _args, context) => allowRuleByRow(context, allowRuleId ?? null, query),
    }),
  }),
});

export const ToolCallExplanation = builder.objectRef<Explanation>("ToolCallExplanation").implement({
  description: "Why a call was allowed, asked about or denied at its latest evaluation.",
  interfaces: [Explained],
});
