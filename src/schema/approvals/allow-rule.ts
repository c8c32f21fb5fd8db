import { allowRuleProposal, allowRules } from "../../resolvers/allow-rule.ts";
import type { RuleProposal } from "../../agent/approvals/allow-rules/rule-proposal.ts";
import type { RuleProposalResult } from "../../resolvers/allow-rule.ts";
import { globalId } from "../../lib/global-id.ts";
import { ActorRef } from "../actor.ts";
import { builder } from "../builder.ts";
import { connectionOf, nodesSelection } from "../connection.ts";
import { UserError } from "../user-error.ts";

export const AllowRule = builder.prismaNode("AllowRule", {
  id: { field: "id", description: "The rule's id." },
  description:
    "A rule that a person stored: with allowAlways, for calls of the template or the hosts that they reach, or with a yes to a host, for one agent.",
  fields: (t) => ({
    rule: t.exposeString("rule", { description: "The rule, as in the configuration." }),
    templateId: t.exposeID("templateId", { description: "For agents of this template." }),
    agentId: t.id({
      nullable: true,
      description: "The agent for which alone it holds; null for all agents of the template.",
      select: { agentId: true },
      resolve: ({ agentId }) => (agentId === null ? null : globalId("Agent", agentId)),
    }),
    approvalId: t.id({
      description: "The approval from which it was made.",
      select: { approvalId: true },
      resolve: ({ approvalId }) => globalId("Approval", approvalId),
    }),
    note: t.exposeString("note", { nullable: true, description: "Why it was stored." }),
    createdBy: t.field({
      type: ActorRef,
      description: "Who stored it.",
      select: { createdBy: true, createdByKind: true },
      resolve: ({ createdBy, createdByKind }) => ({ id: createdBy, kind: createdByKind }),
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was stored." }),
    revokedAt: t.expose("revokedAt", {
      type: "DateTime",
      nullable: true,
      description: "When it was taken back; null while it holds.",
    }),
    isActive: t.boolean({
      description: "True while it holds.",
      select: { revokedAt: true },
      resolve: ({ revokedAt }) => revokedAt === null,
    }),
    revokedBy: t.field({
      type: ActorRef,
      nullable: true,
      description: "Who took it back.",
      select: { revokedBy: true, revokedByKind: true },
      resolve: ({ revokedBy, revokedByKind }) => (revokedBy === null ? null : { id: revokedBy, kind: revokedByKind ?? "USER" }),
    }),
  }),
});

const AllowRuleFilter = builder.inputType("AllowRuleFilter", {
  description: "All conditions that are given must hold.",
  fields: (t) => ({
    isActive: t.boolean({ description: "Those that hold now only, or those that were taken back." }),
    templateIds: t.idList({ description: "For agents of one of these templates." }),
  }),
});

builder.queryField("allowRules", (t) =>
  t.connection(
    {
      type: AllowRule,
      description: "The rules that people have stored, newest first: for those who read the tenant.",
      args: { filter: t.arg({ type: AllowRuleFilter, description: "Which; all if omitted." }) },
      resolve: (_root, args, context, info) => allowRules(context, args, nodesSelection(context, info)),
    },
    connectionOf("AllowRule", AllowRule),
  ),
);

const PastCalls = builder.objectRef<RuleProposal["past"]>("PastCalls").implement({
  description:
    "What a rule would have meant for the recorded calls of its tool and template in the last 30 days: of the newest 10,000, or of fewer if rules see more than 16 MB of them; for a rule about hosts, for the hosts that were asked for.",
  fields: (t) => ({
    examined: t.exposeInt("examined", { description: "Calls that were looked at." }),
    matched: t.exposeInt("matched", { description: "Calls that it would have allowed." }),
    asked: t.exposeInt("asked", { description: "Those of them that people were asked for." }),
    denied: t.exposeInt("denied", { description: "Those of them that people denied." }),
  }),
});

const AllowRuleProposal = builder.objectRef<RuleProposal>("AllowRuleProposal").implement({
  description: "The narrowest rule by which calls like this one would run without asking: `allowAlways` stores it.",
  fields: (t) => ({
    rule: t.exposeString("rule", { description: "The rule." }),
    past: t.expose("past", { type: PastCalls, description: "What it would have meant lately." }),
    matching: t.stringList({
      description:
        "Command lines or hosts that it takes in, the approval's first; then what else a wide rule would let run; at most 6, and none for a tool without command lines.",
      resolve: ({ matching }) => [...matching],
    }),
    notMatching: t.stringList({
      description:
        "Command lines that it does not take in: recorded ones, and some that begin as the call's does; or hosts that were asked for; at most 6.",
      resolve: ({ notMatching }) => [...notMatching],
    }),
    takesInAll: t.exposeBoolean("takesInAll", {
      description: "True if it takes in every call of its tool, or every host: nothing is left for `notMatching`.",
    }),
  }),
});

const AllowRuleProposalResult = builder.objectRef<RuleProposalResult>("AllowRuleProposalResult").implement({
  description: "A rule to offer, or why there is none.",
  fields: (t) => ({
    proposal: t.expose("proposal", { type: AllowRuleProposal, nullable: true, description: "The rule; null if there is none." }),
    problems: t.field({
      type: [UserError],
      description:
        "Why there is none, at most one reason: FORBIDDEN for who may not store rules, INVALID if no narrow rule takes in the call, or if it would be asked about still, NOT_FOUND.",
      resolve: ({ problems }) => [...problems],
    }),
  }),
});

builder.queryField("allowRuleProposal", (t) =>
  t.field({
    type: AllowRuleProposalResult,
    complexity: 100,
    description: "The rule to offer beside an approval, for those who may decide on it.",
    args: {
      approvalId: t.arg.id({ required: true, description: "The approval." }),
      rule: t.arg.string({
        description: "Another rule, to see what it would mean; the narrowest that is worth keeping if omitted.",
      }),
    },
    resolve: (_root, { approvalId, rule }, context) => allowRuleProposal(context, approvalId, rule ?? null),
  }),
);
