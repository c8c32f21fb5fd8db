import type { KnownConsumer } from "../events/retention.ts";
import type { ApprovalDecision } from "../db/generated/enums.ts";
import type { PrivateKind, TenantEventBody } from "../events/tenant-event.ts";
import type { BodyOf, EventKind, TimelineEvent } from "../events/event.ts";
import type { Consumer } from "./consumer.ts";
import type { Sql } from "../db/sql.ts";
import type { Json } from "../lib/json.ts";
import type { Result } from "../lib/result.ts";
import type { Actor, CommandRefusal } from "../agent/actors/actor.ts";
import { callOf } from "../agent/approvals/allow-rules/always-allow.ts";
import { readApprovals } from "../agent/approvals/approval.ts";
import { decideApproval } from "../agent/approvals/decide.ts";
import type { Decided } from "../agent/approvals/decision.ts";
import { readHostRule } from "../agent/approvals/allow-rules/always-allow-host.ts";
import { hostRuleAllows, isHostRule } from "../agent/policy/hosts/host-rule.ts";
import { ruleMatches } from "../agent/policy/rule.ts";
import { parseRule } from "../agent/policy/parse-rule.ts";
import { agentActions, type AgentActions } from "./listener-actions.ts";
import { hookAnswer } from "../agent/tools/tool-hooks.ts";
import { ownCodeOf, runOwnCode } from "../agent/tools/own-code.ts";
import type { AgentOfTenant } from "../agent/loop/lease.ts";
import type { AgentServices, ServerServices } from "../agent/loop/scope.ts";

export type ListenedEvent<Kind extends EventKind = EventKind> = BodyOf<Kind> & {
  readonly tenant: string;
  /** Null for an event of the tenant itself. */
  readonly agentId: Kind extends TenantEventBody["kind"] ? null : string;
  readonly position: number;
  readonly seq: number;
  readonly timestamp: Date;
};

export type ListenerDecision = {
  readonly as: string;
  readonly approvalId: string;
  readonly decision: Extract<ApprovalDecision, "ALLOW" | "DENY">;
  readonly inputHash?: string | null;
  readonly input?: Json;
  /** With ALLOW of a TOOL_INPUT: the values of its form, by field. */
  readonly values?: Json;
  readonly note?: string;
};

export type ListenerActions = AgentActions & {
  /** Returns `{ ok: true }`, or `{ ok: false, refusal: { code, field, message } }`. */
  decide(decision: ListenerDecision): Promise<Result<Decided, CommandRefusal>>;
  /**
   * True if a rule matches the whole call of an approval, with resolved paths, as an allow rule would; or its host, for
   * `network(host:…)`. Throws if the rule is invalid.
   */
  matches(approvalId: string, rule: string): Promise<boolean>;
};

/**
 * Gets each event of its kind after the commit, at least once: some are repeated after a crash. A few run concurrently,
 * so that a failing event does not block the others. A listener that throws, or takes more than 10 s, is called again.
 */
export type Listener<Kind extends EventKind> = (event: ListenedEvent<Kind>, actions: ListenerActions) => void | Promise<void>;

export type Listeners = { readonly [Kind in Exclude<EventKind, PrivateKind>]?: Listener<Kind> };

const CONCURRENCY = 8;

const GIVE_UP_MS = 10 * 60_000;

export function knownListeners(listeners: Listeners): readonly KnownConsumer[] {
  return Object.keys(listeners).map((kind) => ({ name: `on.${kind}`, kinds: [kind], tenant: null }));
}

export function listenerConsumers(
  listeners: Listeners,
  services: ServerServices,
  wake: (agent: AgentOfTenant) => void,
): Consumer[] {
  return Object.entries(listeners).map(([kind, listener]): Consumer => ({
    name: `on.${kind}`,
    kinds: [kind as EventKind],
    tenant: null,
    concurrency: CONCURRENCY,
    giveUpMs: GIVE_UP_MS,
    deliver: async (event, signal) => {
      const actions: ListenerActions = {
        decide: async (decision) => decide(services.of(event.tenant), wake, event.tenant, decision),
        matches: async (approvalId, rule) => matches(services.of(event.tenant), approvalId, rule),
        ...agentActions(services.of(event.tenant), wake, { ...event, kind }),
      };
      const { agentId: id, tenant, createdBy } = event;
      const agent = id === null || createdBy === null ? null : { id, tenant, createdBy };
      const code = ownCodeOf(services, agent, `the listener on.${kind}`, "SYSTEM");
      await runOwnCode(code, () => hookAnswer(() => (listener as Listener<EventKind>)(listened(event), actions), signal));
    },
  }));
}

async function matches({ sql, tools }: AgentServices, approvalId: string, source: string): Promise<boolean> {
  if (isHostRule(source)) return matchesHost(sql, approvalId, source);
  const rule = parseRule(source, "listener", tools);
  if (!rule.ok) throw new Error(`at character ${rule.refusal.character} of ${JSON.stringify(source)}: ${rule.refusal.message}`);
  const call = await callOf(sql, approvalId);
  return call !== null && call.values !== null && ruleMatches(rule.value, call.name, call.values, "covers");
}

async function matchesHost(sql: Sql, approvalId: string, source: string): Promise<boolean> {
  const rule = readHostRule(source);
  if (!rule.ok) throw new Error(rule.refusal);
  const [approval] = await readApprovals(sql, [approvalId]);
  return approval?.kind === "NETWORK_HOST" && hostRuleAllows(rule.value, approval);
}

function listened({ body, tenant, agentId, position, seq, at }: TimelineEvent): ListenedEvent {
  return { ...structuredClone(body), tenant, agentId, position, seq, timestamp: at };
}

/** Decides as a service actor with the role approver, under the rules for people. */
async function decide(
  services: AgentServices,
  wake: (agent: AgentOfTenant) => void,
  tenant: string,
  { as, approvalId, decision, inputHash, input, values, note }: ListenerDecision,
): Promise<Result<Decided, CommandRefusal>> {
  if (as.trim() === "") throw new Error("a listener decides under a name: give `as`");
  const actor: Actor = { id: as, kind: "SERVICE", tenant, roles: ["approver"], delegators: [] };
  const request = {
    approvalId,
    decision,
    inputHash: inputHash ?? null,
    input: input ?? null,
    values: values ?? null,
    raiseTo: null,
    note: note ?? null,
    result: null,
  };
  const decided = await decideApproval(services, actor, request);
  if (decided.ok) wake({ agentId: decided.value.agentId, tenant });
  return decided;
}
