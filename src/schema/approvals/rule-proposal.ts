import type { RuleProposal } from "../../agent/approvals/allow-rules/rule-examples.ts";
import { allowRuleProposal, type RuleProposalResult } from "../../resolvers/allow-rule.ts";
import { toolCallsByRows } from "../../resolvers/tool-call.ts";
import { builder } from "../builder.ts";
import { UserError } from "../payload.ts";
import { entries } from "../price.ts";
import { ToolCall } from "../tool-call.ts";

const PastCalls = builder.objectRef<RuleProposal["past"]>("PastCalls").implement({
  description:
    "Effect that a rule would have had in the last 30 days on calls of its tool and template. Covers the newest 10,000 calls, or fewer if their values exceed 16 MB or other templates have used the tool more often. For a host rule, requests for hosts are counted instead of calls.",
  fields: (t) => ({
    since: t.expose("since", { type: "DateTime", description: "First moment that is examined." }),
    examined: t.exposeInt("examined", { description: "Number of calls examined." }),
    isPartial: t.exposeBoolean("isPartial", { description: "True if older calls since `since` were left out." }),
    matched: t.exposeInt("matched", { description: "Number of calls that the rule matches." }),
    asked: t.exposeInt("asked", { description: "Number of those calls about which a person was asked." }),
    denied: t.exposeInt("denied", { description: "Number of those calls that a person denied." }),
    letThrough: t.exposeInt("letThrough", {
      description:
        "Number of calls in `asked` that would have run without asking, by the current rules and this one. Other calls need approval for another reason as well.",
    }),
    letThroughCalls: t.prismaField({
      type: [ToolCall],
      complexity: entries(20),
      description: "Calls in `letThrough`, at most 20: denied ones first, then the newest. Empty for a host rule.",
      resolve: (query, { letThroughCalls }, _args, context) => toolCallsByRows(context, letThroughCalls, query),
    }),
  }),
});

const AllowRuleProposal = builder.objectRef<RuleProposal>("AllowRuleProposal").implement({
  description: "A rule under which calls like this one would run without asking. `allowAlways` stores it.",
  fields: (t) => ({
    rule: t.exposeString("rule", { description: "Rule in the syntax of the configuration." }),
    past: t.expose("past", { type: PastCalls, description: "Effect that the rule would have had on recent calls." }),
    matching: t.stringList({
      description:
        "Examples that the rule matches, at most 6. First the command line or host of the approval, then recorded ones, then others that a broad rule allows. Empty for tools without command lines.",
      resolve: ({ matching }) => [...matching],
    }),
    notMatching: t.stringList({
      description:
        "Examples that the rule does not match, at most 6: command lines similar to the call's, recorded command lines, or requested hosts.",
      resolve: ({ notMatching }) => [...notMatching],
    }),
    matchingCalls: t.prismaField({
      type: [ToolCall],
      complexity: entries(5),
      description: "Recent calls that the rule matches, newest first, at most 5. Empty for a host rule.",
      resolve: (query, { matchingCalls }, _args, context) => toolCallsByRows(context, matchingCalls, query),
    }),
    notMatchingCalls: t.prismaField({
      type: [ToolCall],
      complexity: entries(5),
      description: "Recent calls of the tool that the rule does not match, newest first, at most 5. Empty for a host rule.",
      resolve: (query, { notMatchingCalls }, _args, context) => toolCallsByRows(context, notMatchingCalls, query),
    }),
    takesInAll: t.exposeBoolean("takesInAll", {
      description: "True if the rule matches every call of its tool, or every host: no example for `notMatching` exists.",
    }),
  }),
});

const AllowRuleProposalResult = builder.objectRef<RuleProposalResult>("AllowRuleProposalResult").implement({
  description: "A proposed rule, or the reason why there is none.",
  fields: (t) => ({
    proposal: t.expose("proposal", {
      type: AllowRuleProposal,
      nullable: true,
      description: "The proposed rule. Null if there is none.",
    }),
    problems: t.field({
      type: [UserError],
      description:
        "Reason why there is no proposal, at most one entry. FORBIDDEN: the viewer may not store rules. INVALID: no narrow rule matches the call, or the call would still need approval. NOT_FOUND: no such approval.",
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.queryField("allowRuleProposal", (t) =>
  t.field({
    type: AllowRuleProposalResult,
    complexity: 100,
    description: "Rule to offer next to an approval: the narrowest one that matches it, with its effect on recent calls.",
    args: {
      approvalId: t.arg.id({ required: true, description: "`id` of the approval." }),
      rule: t.arg.string({
        description: "Another rule to examine. The narrowest useful rule if omitted.",
      }),
    },
    resolve: (_root, { approvalId, rule }, context) => allowRuleProposal(context, approvalId, rule ?? null),
  }),
);
