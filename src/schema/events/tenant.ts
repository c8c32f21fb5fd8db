import { rolesOf } from "../../agent/actors/access-token.ts";
import { ROLES } from "../../agent/actors/actor.ts";
import type { BodyOf } from "../../events/event.ts";
import type {
  AccessTokenSnapshot as TokenOfEvent,
  AllowRuleSnapshot as StoredRule,
  ConfigurationChange as Change,
  DelegationSnapshot as Granted,
  TenantEventBody,
} from "../../events/tenant-event.ts";
import { globalId } from "../../lib/global-id.ts";
import { allowRuleByRow } from "../../resolvers/allow-rule.ts";
import { delegationByRow } from "../../resolvers/approval.ts";
import type { EventView } from "../../resolvers/timeline.ts";
import { ActorRef } from "../actor.ts";
import { AllowRule } from "../approvals/allow-rule.ts";
import { builder } from "../builder.ts";
import { Delegation } from "../approvals/delegation.ts";
import { Role } from "../enums.ts";
import { ConfigurationChangeKind } from "./enums.ts";
import { eventType, TimelineEvent } from "./event.ts";

export const TenantEvent = builder.interfaceRef<EventView<TenantEventBody>>("TenantEvent").implement({
  description:
    "A change of rights in the tenant. It has no agent, and is visible only to viewers who may read the tenant (READ_TENANT).",
  interfaces: [TimelineEvent],
  fields: (t) => ({
    changedBy: t.field({
      type: ActorRef,
      description: "Actor that made the change. The server itself if a time ended, or if it started with another configuration.",
      resolve: ({ body }) => body.changedBy,
    }),
  }),
});

const AllowRuleSnapshot = builder.objectRef<StoredRule>("AllowRuleSnapshot").implement({
  description:
    "A stored rule at the time of the event. It is not a node: the current rule is available as `allowRule` next to it.",
  fields: (t) => ({
    allowRuleId: t.id({ description: "Id of the rule.", resolve: ({ allowRuleId }) => globalId("AllowRule", allowRuleId) }),
    rule: t.exposeString("rule", { description: "Rule in the syntax of the configuration." }),
    templateId: t.exposeID("templateId", { description: "Template to whose agents the rule applies." }),
    agentId: t.id({
      nullable: true,
      description: "Id of the only agent to which the rule applies. Null if it applies to all agents of the template.",
      resolve: ({ agentId }) => (agentId === null ? null : globalId("Agent", agentId)),
    }),
    approvalId: t.id({
      description: "Id of the approval from which the rule was created.",
      resolve: ({ approvalId }) => globalId("Approval", approvalId),
    }),
    note: t.exposeString("note", { nullable: true, description: "Reason given by the actor who stored it." }),
    createdBy: t.expose("createdBy", { type: ActorRef, description: "Actor that stored the rule." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time at which the rule was stored." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      nullable: true,
      description: "First moment at which the rule no longer applies. Null if it never expires.",
    }),
  }),
});

const AllowRuleEvent = builder
  .interfaceRef<EventView<BodyOf<"ALLOW_RULE_STORED" | "ALLOW_RULE_REVOKED">>>("AllowRuleEvent")
  .implement({
    description: "A change of a stored rule.",
    interfaces: [TimelineEvent, TenantEvent],
    fields: (t) => ({
      rule: t.field({
        type: AllowRuleSnapshot,
        description: "The complete rule at the time of the event.",
        resolve: ({ body }) => body.rule,
      }),
      allowRule: t.prismaField({
        type: AllowRule,
        nullable: true,
        description: "The rule as it is now.",
        resolve: (query, { body }, _args, context) => allowRuleByRow(context, body.rule.allowRuleId, query),
      }),
    }),
  });

eventType("ALLOW_RULE_STORED").implement({
  description: "An allow rule was stored: from now on matching calls run without asking.",
  interfaces: [TimelineEvent, TenantEvent, AllowRuleEvent],
});

eventType("ALLOW_RULE_REVOKED").implement({
  description: "A stored rule was revoked, or has expired: then the server itself made the change.",
  interfaces: [TimelineEvent, TenantEvent, AllowRuleEvent],
});

const DelegationSnapshot = builder.objectRef<Granted>("DelegationSnapshot").implement({
  description:
    "A delegation at the time of the event. It is not a node: the current delegation is available as `delegation` next to it.",
  fields: (t) => ({
    delegationId: t.id({
      description: "Id of the delegation.",
      resolve: ({ delegationId }) => globalId("Delegation", delegationId),
    }),
    from: t.expose("from", { type: ActorRef, description: "Actor on whose behalf decisions are made." }),
    to: t.expose("to", { type: ActorRef, description: "Actor that may decide." }),
    note: t.exposeString("note", { nullable: true, description: "Reason given for the delegation." }),
    startsAt: t.expose("startsAt", { type: "DateTime", description: "Start time." }),
    endsAt: t.expose("endsAt", { type: "DateTime", description: "End time, unless it is revoked earlier." }),
  }),
});

const DelegationEvent = builder
  .interfaceRef<EventView<BodyOf<"DELEGATION_STARTED" | "DELEGATION_ENDED">>>("DelegationEvent")
  .implement({
    description: "A change of a delegation.",
    interfaces: [TimelineEvent, TenantEvent],
    fields: (t) => ({
      grant: t.field({
        type: DelegationSnapshot,
        description: "The complete delegation at the time of the event.",
        resolve: ({ body }) => body.grant,
      }),
      delegation: t.prismaField({
        type: Delegation,
        nullable: true,
        description: "The delegation as it is now.",
        resolve: (query, { body }, _args, context) => delegationByRow(context, body.grant.delegationId, query),
      }),
    }),
  });

eventType("DELEGATION_STARTED").implement({
  description: "An actor lets another one decide on their behalf.",
  interfaces: [TimelineEvent, TenantEvent, DelegationEvent],
});

eventType("DELEGATION_ENDED").implement({
  description: "A delegation was revoked, or its time ended.",
  interfaces: [TimelineEvent, TenantEvent, DelegationEvent],
});

eventType("TOOL_ACCEPTED").implement({
  description: "An administrator accepted the definition of an MCP server's tool: allow rules apply to it again.",
  interfaces: [TimelineEvent, TenantEvent],
  fields: (t) => ({
    acceptedTool: t.string({ description: "Name of the tool.", resolve: ({ body }) => body.tool }),
    mcpServer: t.string({ description: "Name of its MCP server.", resolve: ({ body }) => body.server }),
    acceptedBefore: t.string({
      nullable: true,
      description: "SHA-256 of the definition that was accepted before. Null for a tool that was new.",
      resolve: ({ body }) => body.previousDigest,
    }),
    acceptedDigest: t.string({ description: "SHA-256 of the accepted definition.", resolve: ({ body }) => body.digest }),
  }),
});

const AccessTokenSnapshot = builder.objectRef<TokenOfEvent>("AccessTokenSnapshot").implement({
  description:
    "An access token at the time of the event, without its secret. It is not a node: `accessTokens` lists those of now.",
  fields: (t) => ({
    accessTokenId: t.id({
      description: "Id of the token.",
      resolve: ({ accessTokenId }) => globalId("AccessToken", accessTokenId),
    }),
    name: t.exposeString("name", { description: "Name that its owner gave it." }),
    owner: t.expose("owner", { type: ActorRef, description: "Actor as whom its bearer acts." }),
    roles: t.field({ type: [Role], description: "Roles that it gives.", resolve: ({ roles }) => [...rolesOf(roles, ROLES)] }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time of creation." }),
    expiresAt: t.expose("expiresAt", { type: "DateTime", description: "Time from which on it is rejected." }),
  }),
});

const AccessTokenEvent = builder
  .interfaceRef<EventView<BodyOf<"ACCESS_TOKEN_CREATED" | "ACCESS_TOKEN_REVOKED">>>("AccessTokenEvent")
  .implement({
    description: "A change of an access token.",
    interfaces: [TimelineEvent, TenantEvent],
    fields: (t) => ({
      accessToken: t.field({
        type: AccessTokenSnapshot,
        description: "The token at the time of the event.",
        resolve: ({ body }) => body.accessToken,
      }),
    }),
  });

eventType("ACCESS_TOKEN_CREATED").implement({
  description: "An actor made an access token for themselves.",
  interfaces: [TimelineEvent, TenantEvent, AccessTokenEvent],
});

eventType("ACCESS_TOKEN_REVOKED").implement({
  description: "An access token was revoked, and with it the sessions that began with it.",
  interfaces: [TimelineEvent, TenantEvent, AccessTokenEvent],
});

eventType("AGENT_DELETED").implement({
  description:
    "An administrator deleted an agent, with those below it. They have no readers from now on, and their events leave the log. Cursors stay valid.",
  interfaces: [TimelineEvent, TenantEvent],
  fields: (t) => ({
    deletedAgentId: t.id({
      description: "`id` that the agent had.",
      resolve: ({ body }) => globalId("Agent", body.deletedAgentId),
    }),
    deletedAgentIds: t.idList({
      description: "`id` of each deleted agent, that one included; at most 500.",
      resolve: ({ body }) => body.agentIds.map((id) => globalId("Agent", id)),
    }),
    agentCount: t.int({ description: "Number of deleted agents.", resolve: ({ body }) => body.agentCount }),
    messageCount: t.int({ description: "Number of messages in their conversations.", resolve: ({ body }) => body.messageCount }),
    stepCount: t.int({ description: "Number of their steps.", resolve: ({ body }) => body.stepCount }),
  }),
});

const ConfigurationChange = builder.objectRef<Change>("ConfigurationChange").implement({
  description: "A part of the configuration that differs from the last known one.",
  fields: (t) => ({
    part: t.exposeString("part", {
      description: "Path in the configuration, for example `templates.assistant` or `actors.petra`.",
    }),
    change: t.expose("change", { type: ConfigurationChangeKind, description: "Kind of change." }),
  }),
});

eventType("CONFIGURATION_CHANGED").implement({
  description:
    "A server started with other templates, permission modes, tools, roots or actors than the last known configuration. Recorded once for all servers.",
  interfaces: [TimelineEvent, TenantEvent],
  fields: (t) => ({
    previousDigest: t.string({
      description: "SHA-256 of the last known configuration.",
      resolve: ({ body }) => body.previousDigest,
    }),
    digest: t.string({ description: "SHA-256 of the new configuration.", resolve: ({ body }) => body.digest }),
    changes: t.field({
      type: [ConfigurationChange],
      description: "Changed parts, ordered by name, at most 300.",
      resolve: ({ body }) => [...body.changes],
    }),
    changeCount: t.int({ description: "Number of changed parts.", resolve: ({ body }) => body.changeCount }),
  }),
});
