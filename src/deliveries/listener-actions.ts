import { accepted, refused, type Result } from "../lib/result.ts";
import type { ReminderCategory, ReminderPriority } from "../events/snapshots.ts";
import type { Actor, CommandRefusal, Outcome } from "../agent/actors/actor.ts";
import type { DeliveryKey } from "../agent/actors/idempotency.ts";
import { sendMessage } from "../agent/commands/messages.ts";
import { remindAgent } from "../agent/commands/reminders.ts";
import { interruptAgent } from "../agent/commands/turn.ts";
import type { AgentOfTenant } from "../agent/loop/lease.ts";
import type { AgentServices } from "../agent/loop/scope.ts";

/** The name under which a listener acts, and the agent; that of the event if omitted. */
type Acting = { readonly as: string; readonly agentId?: string };

export type ListenerReminder = Acting & {
  readonly text: string;
  /** GENERAL if omitted. */
  readonly category?: ReminderCategory;
  /** MEDIUM if omitted. */
  readonly priority?: ReminderPriority;
  /** True to begin a turn of an idle agent. False if omitted. */
  readonly startsTurn?: boolean;
};

export type ListenerMessage = Acting & { readonly text: string };

export type ListenerInterrupt = Acting & { readonly note?: string };

/** An action that was done: `messageId` of a reminder or a message, null for an interrupt. */
export type Acted = { readonly messageId: string | null };

/**
 * The actions on agents: a listener takes one of them for an event, at most once, however often the event is delivered.
 * Each returns `{ ok: true }`, or `{ ok: false, refusal: { code, field, message } }`.
 */
export type AgentActions = {
  remind(reminder: ListenerReminder): Promise<Result<Acted, CommandRefusal>>;
  send(message: ListenerMessage): Promise<Result<Acted, CommandRefusal>>;
  interrupt(interrupt: ListenerInterrupt): Promise<Result<Acted, CommandRefusal>>;
};

/** The event that a listener acts on. `agentId` is null for an event of the tenant itself. */
export type ActedOn = {
  readonly tenant: string;
  readonly agentId: string | null;
  readonly position: number;
  readonly kind: string;
};

/** The actions of a listener on one event, as a service actor of the tenant. */
export function agentActions(services: AgentServices, wake: (agent: AgentOfTenant) => void, event: ActedOn): AgentActions {
  const delivery: DeliveryKey = { operation: `on.${event.kind}`, key: String(event.position) };
  const acted = async (
    { as, agentId = event.agentId }: { readonly as: string; readonly agentId?: string | null },
    act: (actor: Actor, agentId: string) => Promise<Result<Outcome, CommandRefusal>>,
    hasMessage: boolean,
  ): Promise<Result<Acted, CommandRefusal>> => {
    if (as.trim() === "") throw new Error("a listener acts under a name: give `as`");
    if (agentId === null) throw new Error("the event is the tenant's: give `agentId`");
    const actor: Actor = { id: as, kind: "SERVICE", tenant: event.tenant, roles: ["admin"], delegators: [] };
    const result = await act(actor, agentId);
    if (!result.ok) return result.refusal.code === "IDEMPOTENCY_KEY_REUSED" ? refused(ACTED_BEFORE) : result;
    wake({ agentId, tenant: event.tenant });
    return accepted({ messageId: hasMessage ? result.value.id : null });
  };
  return {
    remind: async ({ text, category = "GENERAL", priority = "MEDIUM", startsTurn = false, ...acting }) =>
      acted(
        acting,
        async (actor, agentId) => {
          const request = { agentId, text, category, priority, startsTurn, idempotencyKey: null };
          return remindAgent(services, actor, request, delivery);
        },
        true,
      ),
    send: async ({ text, ...acting }) =>
      acted(
        acting,
        async (actor, agentId) =>
          sendMessage(services, actor, { agentId, text, images: [], outputSchema: null, idempotencyKey: null }, delivery),
        true,
      ),
    interrupt: async ({ note, ...acting }) =>
      acted(
        acting,
        async (actor, agentId) => interruptAgent(services, actor, { agentId, note: note ?? null, tree: false }, delivery),
        false,
      ),
  };
}

const ACTED_BEFORE: CommandRefusal = {
  code: "IDEMPOTENCY_KEY_REUSED",
  field: null,
  message: "the listener has acted on this event before: it takes one action for an event",
};
