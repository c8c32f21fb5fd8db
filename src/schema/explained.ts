import type { Consideration, ExplainedPart, Explanation } from "../agent/policy/permission.ts";
import { allowRuleByRow } from "../resolvers/allow-rule.ts";
import { AllowRule } from "./approvals/allow-rule.ts";
import { builder } from "./builder.ts";
import { PermissionVerdict } from "./enums.ts";

const PermissionConsideration = builder.objectRef<Consideration>("PermissionConsideration").implement({
  description: "A rule, a list, a mode or a hook that was asked what it says of a call.",
  fields: (t) => ({
    rule: t.exposeString("rule", {
      description: "What was asked: a rule as it is written, or the name of a list, a mode or a hook.",
    }),
    place: t.exposeString("place", { description: "Where it stands in the configuration." }),
    verdict: t.field({
      type: PermissionVerdict,
      nullable: true,
      description: "Null if it said nothing of the call.",
      resolve: ({ verdict }) => (verdict === "no match" ? null : verdict),
    }),
  }),
});

export const CommandPart = builder.objectRef<ExplainedPart>("CommandPart").implement({
  description: "A part of a command line that kept its call from being allowed.",
  fields: (t) => ({
    parameter: t.exposeString("parameter", {
      description:
        "Where the line stands in the input: the parameter, with the item of a list, as in `command`, `commands[1]` and `steps[0].command`.",
    }),
    start: t.exposeInt("start", { description: "Its first character in the line, in UTF-16 code units from 0." }),
    end: t.exposeInt("end", { description: "The character behind its last." }),
    verdict: t.expose("verdict", { type: PermissionVerdict, description: "What is said of it: ASK or DENY." }),
    reason: t.exposeString("reason", { description: "Why, in words." }),
  }),
});

export const Explained = builder.interfaceRef<Explanation>("Explained").implement({
  description: "A verdict, and why.",
  fields: (t) => ({
    verdict: t.expose("verdict", { type: PermissionVerdict, description: "What is said of the call." }),
    rule: t.exposeString("decidedBy", {
      description: "What decided: a rule as it is written, or the name of a list, a mode, a hook or a stage.",
    }),
    place: t.exposeString("place", { description: "Where the deciding rule stands in the configuration." }),
    reason: t.exposeString("reason", { description: "Why, in words." }),
    considered: t.field({
      type: [PermissionConsideration],
      description: "All that was asked, in order; at most 300.",
      resolve: ({ considered }) => [...considered],
    }),
    parts: t.field({
      type: [CommandPart],
      description:
        "The parts of its command lines that kept it from being allowed, in order; at most 50, none if it was allowed.",
      resolve: ({ parts }) => [...(parts ?? [])],
    }),
    allowRule: t.prismaField({
      type: AllowRule,
      nullable: true,
      description: "The stored rule that decided, if one did.",
      resolve: (query, { allowRuleId }, _args, context) => allowRuleByRow(context, allowRuleId ?? null, query),
    }),
  }),
});

/** Why a recorded call was allowed, asked or denied. */
export const ToolCallExplanation = builder.objectRef<Explanation>("ToolCallExplanation").implement({
  description: "Why a call was allowed, asked or denied when it was last judged.",
  interfaces: [Explained],
});
