import { globalId } from "../../lib/global-id.ts";
import { eventType, TimelineEvent } from "./event.ts";
import { TenantEvent } from "./tenant.ts";

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
