import { allowRuleProposal, allowRules, type RuleProposalResult } from "../../resolvers/allow-rule.ts";
import type { RuleProposal } from "../../agent/approvals/allow-rules/rule-examples.ts";
import { isHostRule } from "../../agent/policy/hosts/host-rule.ts";
import { globalId } from "../../lib/global-id.ts";
import { toolCallsByRows } from "../../resolvers/tool-call.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf, nodesSelection } from "../builder.ts";
import { UserError } from "../payload.ts";
import { entries } from "../price.ts";
import { ToolCall } from "../tool-call.ts";

export const AllowRule = builder.prismaNode("AllowRule", {
  id: { field: "id", description: "Relay id of the rule." },
  description:
    "An allow rule stored by a person. `allowAlways` stores rules for all agents of a template. Allowing a NETWORK_HOST approval stores a rule for one agent.",
  fields: (t) => ({
    rule: t.exposeString("rule", { description: "Rule in the syntax of the configuration, for example `fs_write(path:/docs)`." }),
    templateId: t.exposeID("templateId", { description: "Template to whose agents the rule applies." }),
    agentId: t.id({
      nullable: true,
      description: "Id of the only agent to which the rule applies. Null if it applies to all agents of the template.",
      select: { agentId: true },
      resolve: ({ agentId }) => (agentId === null ? null : globalId("Agent", agentId)),
    }),
    approvalId: t.id({
      description: "Id of the approval from which the rule was created.",
      select: { approvalId: true },
      resolve: ({ approvalId }) => globalId("Approval", approvalId),
    }),
    note: t.exposeString("note", { nullable: true, description: "Reason given by the actor who stored it." }),
    createdBy: t.field({
      type: ActorRef,
      description: "Actor that stored the rule.",
      select: { createdBy: true, createdByKind: true },
      resolve: ({ createdBy, createdByKind }) => ({ id: createdBy, kind: createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time at which the rule was stored." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description:
        "First moment at which the rule no longer applies: matching calls need approval again. Null if it never expires.",
    }),
    useCount: t.int({
      nullable: true,
      description:
        "Number of ended calls that ran by the rule, about a second behind. Null for rules about hosts, whose connections are not counted.",
      select: { rule: true, useCount: true },
      resolve: ({ rule, useCount }) => (isHostRule(rule) ? null : useCount),
    }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description: "Start of the last call that `useCount` counts. Null if there is none.",
    }),
    revokedAt: t.field({
      type: "DateTime",
      nullable: true,
      description: "Time of revocation. Null if it was not revoked.",
      select: { revokedAt: true, revokedBy: true },
      resolve: ({ revokedAt, revokedBy }) => (revokedBy === null ? null : revokedAt),
    }),
    isActive: t.boolean({
      description: "True until the rule is revoked or expires.",
      select: { revokedAt: true, expiresAt: true },
      resolve: ({ revokedAt, expiresAt }, _args, context) =>
        revokedAt === null && (expiresAt === null || expiresAt > context.services.clock.now()),
    }),
    revokedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Actor that revoked the rule. Null if it was not revoked.",
      select: { revokedBy: true, revokedByKind: true },
      resolve: ({ revokedBy, revokedByKind }) => (revokedBy === null ? null : { id: revokedBy, kind: revokedByKind ?? "USER" }),
    }),
  }),
});

const AllowRuleFilter = builder.inputType("AllowRuleFilter", {
  description: "Filter for stored rules. All given conditions must match.",
  fields: (t) => ({
    isActive: t.boolean({ description: "True for active rules only, false for revoked and expired rules only." }),
    templateIds: t.idList({ description: "Rules for agents of one of these templates, given by `templateId`." }),
  }),
});

builder.queryField("allowRules", (t) =>
  t.connection(
    {
      type: AllowRule,
      description: "Stored rules, newest first. Empty if the viewer may not read the tenant (READ_TENANT).",
      args: { filter: t.arg({ type: AllowRuleFilter, description: "Filter. All rules if omitted." }) },
      resolve: (_root, args, context, info) => allowRules(context, args, nodesSelection(context, info)),
    },
    connectionOf("AllowRule", AllowRule),
  ),
);

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
