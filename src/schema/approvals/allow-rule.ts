import { allowRules, matchesOfAllowRule } from "../../resolvers/allow-rule.ts";
import { isHostRule } from "../../agent/policy/hosts/host-rule.ts";
import { globalId } from "../../lib/global-id.ts";
import { RuleMatches } from "../groups/rule-yields.ts";
import { ActorRef } from "../actor.ts";
import { builder, connectionOf, nodesSelection } from "../builder.ts";

/** The price of comparing recorded calls with a rule. The rules of one template share the read of the calls. */
const MATCHES_PRICE = 100;

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
    place: t.string({
      description:
        "Place of the rule, as in `explanation.place` of the calls that it let run. `ToolCallFilter.places` finds them.",
      select: { id: true },
      resolve: ({ id }) => `allowRules.${id}`,
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
    matches: t.field({
      type: RuleMatches,
      nullable: true,
      complexity: MATCHES_PRICE,
      description:
        "Recorded calls of the template's agents that the rule matches, whatever decided them. `against` counts those that a person denied: a rule that was never used may still let them through. Null for rules about hosts, if no tool of the rule is configured, and for actors who do not read the tenant.",
      args: {
        from: t.arg({ type: "DateTime", description: "Calls requested at or after this moment." }),
        to: t.arg({ type: "DateTime", description: "Calls requested before this moment." }),
      },
      select: { id: true, rule: true, templateId: true },
      resolve: (rule, range, context) => matchesOfAllowRule(context, rule, range),
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
