import type { BodyOf } from "../../events/event.ts";
import type {
  AllowRuleSnapshot as StoredRule,
  ConfigurationChange as Change,
  DelegationSnapshot as Granted,
  TenantEventBody,
} from "../../events/tenant-event.ts";
import { globalId } from "../../lib/global-id.ts";
import { allowRuleByRow } from "../../resolvers/allow-rule.ts";
import { delegationByRow } from "../../resolvers/delegation.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { ActorRef } from "../actor.ts";
import { AllowRule } from "../approvals/allow-rule.ts";
import { builder } from "../builder.ts";
import { Delegation } from "../approvals/delegation.ts";
import { ConfigurationChangeKind } from "./enums.ts";
import { eventType, TimelineEvent } from "./event.ts";

const TenantEvent = builder.interfaceRef<EventView<TenantEventBody>>("TenantEvent").implement({
  description:
    "Something that changed rights in a tenant. It has no agent, and who may see their own agents only does not see it.",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    changedBy: t.field({
      type: ActorRef,
      description: "Who changed it; the server itself where a time is up, or where it was started with another configuration.",
      resolve: ({ body }) => body.changedBy,
    }),
  }),
});

const AllowRuleSnapshot = builder.objectRef<StoredRule>("AllowRuleSnapshot").implement({
  description: "A stored rule as it stood when the event was committed. No node: the live rule is beside it as `allowRule`.",
  fields: (t) => ({
    allowRuleId: t.id({ description: "The rule.", resolve: ({ allowRuleId }) => globalId("AllowRule", allowRuleId) }),
    rule: t.exposeString("rule", { description: "The rule, as in the configuration." }),
    templateId: t.exposeID("templateId", { description: "For agents of this template." }),
    agentId: t.id({
      nullable: true,
      description: "The agent for which alone it holds; null for all agents of the template.",
      resolve: ({ agentId }) => (agentId === null ? null : globalId("Agent", agentId)),
    }),
    approvalId: t.id({
      description: "The approval from which it was made.",
      resolve: ({ approvalId }) => globalId("Approval", approvalId),
    }),
    note: t.exposeString("note", { nullable: true, description: "Why it was stored." }),
    createdBy: t.expose("createdBy", { type: ActorRef, description: "Who stored it." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When." }),
  }),
});

const AllowRuleEvent = builder
  .interfaceRef<EventView<BodyOf<"ALLOW_RULE_STORED" | "ALLOW_RULE_REVOKED">>>("AllowRuleEvent")
  .implement({
    description: "Something that happened to a stored rule.",
    interfaces: [TimelineEvent, TenantEvent],
    fields: (t) => ({
      rule: t.field({ type: AllowRuleSnapshot, description: "The rule, whole.", resolve: ({ body }) => body.rule }),
      allowRule: t.prismaField({
        type: AllowRule,
        nullable: true,
        description: "The rule as it stands now.",
        resolve: (query, { body }, _args, context) => allowRuleByRow(context, body.rule.allowRuleId, query),
      }),
    }),
  });

eventType("ALLOW_RULE_STORED").implement({
  description: "Somebody stored a rule by which calls run without asking from now on.",
  interfaces: [TimelineEvent, TenantEvent, AllowRuleEvent],
});

eventType("ALLOW_RULE_REVOKED").implement({
  description: "Somebody took a stored rule back.",
  interfaces: [TimelineEvent, TenantEvent, AllowRuleEvent],
});

const DelegationSnapshot = builder.objectRef<Granted>("DelegationSnapshot").implement({
  description: "A delegation as it stood when the event was committed. No node: the live one is beside it as `delegation`.",
  fields: (t) => ({
    delegationId: t.id({
      description: "The delegation.",
      resolve: ({ delegationId }) => globalId("Delegation", delegationId),
    }),
    from: t.expose("from", { type: ActorRef, description: "In whose name." }),
    to: t.expose("to", { type: ActorRef, description: "Who decides." }),
    note: t.exposeString("note", { nullable: true, description: "Why." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "From when on." }),
    endsAt: t.expose("endsAt", { type: "DateTime", description: "Until when, if it is not revoked." }),
  }),
});

const DelegationEvent = builder
  .interfaceRef<EventView<BodyOf<"DELEGATION_STARTED" | "DELEGATION_ENDED">>>("DelegationEvent")
  .implement({
    description: "Something that happened to a delegation.",
    interfaces: [TimelineEvent, TenantEvent],
    fields: (t) => ({
      grant: t.field({ type: DelegationSnapshot, description: "The delegation, whole.", resolve: ({ body }) => body.grant }),
      delegation: t.prismaField({
        type: Delegation,
        nullable: true,
        description: "The delegation as it stands now.",
        resolve: (query, { body }, _args, context) => delegationByRow(context, body.grant.delegationId, query),
      }),
    }),
  });

eventType("DELEGATION_STARTED").implement({
  description: "Somebody lets another decide in their name.",
  interfaces: [TimelineEvent, TenantEvent, DelegationEvent],
});

eventType("DELEGATION_ENDED").implement({
  description: "A delegation was revoked, or its time is up.",
  interfaces: [TimelineEvent, TenantEvent, DelegationEvent],
});

const ConfigurationChange = builder.objectRef<Change>("ConfigurationChange").implement({
  description: "A part of the configuration that differs from the one known before.",
  fields: (t) => ({
    part: t.exposeString("part", {
      description: "Its place in the configuration, as in `templates.assistant` or `actors.petra`.",
    }),
    change: t.expose("change", { type: ConfigurationChangeKind, description: "What became of it." }),
  }),
});

eventType("CONFIGURATION_CHANGED").implement({
  description:
    "A server was started with other templates, permissions, tools, roots or actors than the last configuration that was known. Once over all servers.",
  interfaces: [TimelineEvent, TenantEvent],
  fields: (t) => ({
    previousDigest: t.string({ description: "SHA-256 of what was known before.", resolve: ({ body }) => body.previousDigest }),
    digest: t.string({ description: "SHA-256 of what is known now.", resolve: ({ body }) => body.digest }),
    changes: t.field({
      type: [ConfigurationChange],
      description: "What differs, in order of the names; at most 300.",
      resolve: ({ body }) => [...body.changes],
    }),
    changeCount: t.int({ description: "How many parts differ.", resolve: ({ body }) => body.changeCount }),
  }),
});
