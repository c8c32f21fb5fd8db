import type { Actor } from "../../src/agent/actors/actor.ts";
import { createAgent } from "../../src/agent/commands/create-agent.ts";
import { sendMessage } from "../../src/agent/commands/messages.ts";
import { readPermission, type PermissionSource } from "../../src/agent/policy/permission-source.ts";
import { beginTerm, claim, LEASE_TIMES } from "../../src/agent/loop/lease.ts";
import { Loop } from "../../src/agent/loop/loop.ts";
import type { AgentServices } from "../../src/agent/loop/scope.ts";

const ANNA: Actor = { id: "anna", kind: "USER", tenant: "one", roles: ["admin"], delegators: [] };

/** An agent of the tenant `one` that the test holds itself: messages to it, and a loop under a new lease. */
export type HeldAgent = {
  readonly agentId: string;
  send(text: string): Promise<void>;
  hold(services?: AgentServices): Promise<Loop>;
};

/** Creates an agent of the template `assistant` that does nothing yet. */
export async function heldAgent(services: AgentServices): Promise<HeldAgent> {
  const created = await createAgent(services, ANNA, {
    templateId: "assistant",
    workspace: null,
    model: null,
    toolTimeoutMs: null,
    permission: null,
    title: null,
    hooks: [],
    idempotencyKey: null,
  });
  if (!created.ok) throw new Error(created.refusal.message);
  const { id: agentId } = created.value;
  return {
    agentId,
    send: async (text) => {
      const sent = await sendMessage(services, ANNA, { agentId, text, images: [], outputSchema: null, idempotencyKey: null });
      if (!sent.ok) throw new Error(sent.refusal.message);
    },
    hold: async (own = services) => {
      const [lease] = await claim(services.sql, services.serverId, [agentId], LEASE_TIMES, "RUN_OUT");
      if (lease === undefined) throw new Error("the agent is runnable");
      return new Loop(own, lease, beginTerm(own));
    },
  };
}

/** A permission as a template's configuration gives it. */
export function permissionOf(source: PermissionSource): ReturnType<typeof readPermission>["permission"] {
  return readPermission(source, "test", { tools: new Map(), modes: new Map() }).permission;
}
