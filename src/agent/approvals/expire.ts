import { ApprovalKind } from "../../db/generated/enums.ts";
import type { ToolCallTransition } from "../../db/commit/change.ts";
import type { Statement } from "../../db/sql.ts";
import type { AgentEventBody } from "../../events/event.ts";
import { endEvents, confirmationEnded, confirmedStages } from "../calls/events.ts";
import { type CallStep, readCall, type CallView, sealCall } from "../calls/call.ts";
import type { OwnPermission, VersionOfAgent } from "../policy/own-permission.ts";
import { answerTold } from "./hosts/answered-host.ts";
import { closedEvent } from "./request.ts";
import { refusedStep } from "../calls/refusals/refusal-details.ts";
import type { ApprovalServices } from "./scope.ts";

type Expiring = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly templateId: string;
  readonly templateVersion: VersionOfAgent;
  readonly permission: OwnPermission | null;
  readonly toolCallId: string | null;
  readonly expiresAt: string | null;
};

const FIND: Statement<{ expiring: Expiring }, [approvalId: string, kinds: readonly string[]]> = {
  name: "find_expired_approval",
  text: `SELECT json_build_object('id', p.id, 'tenant', p.tenant, 'agentId', p.agent_id, 'createdBy', a.created_by, 'templateId', a.template_id, 'templateVersion', a.template_version, 'permission', a.permission, 'toolCallId', p.tool_call_id, 'expiresAt', p.expires_at) AS expiring
    FROM approval p JOIN agent a ON a.id = p.agent_id WHERE p.id = $1 AND p.state = 'PENDING' AND p.expires_at <= policy_time() AND p.kind::text = ANY ($2)`,
};

/** Expires an approval whose time has come, unless a decision came first. */
export async function expireDue(services: ApprovalServices, approvalId: string): Promise<void> {
  const [found] = await services.sql.query(FIND, [approvalId, Object.keys(ApprovalKind)]);
  if (found !== undefined) await expireApproval(services, found.expiring, services.clock.now());
}

/**
 * Expires one approval and denies its call, with a separate refusal. A call that has run with an unknown outcome is
 * sealed. A host stays closed, and a call whose tool asked for input continues without. Does nothing if a decision came first.
 */
export async function expireApproval(services: ApprovalServices, approval: Expiring, at: Date): Promise<void> {
  const expiredAt = new Date(approval.expiresAt ?? at).toISOString();
  const end = await endOf(services, approval, expiredAt, at);
  if (end === null) return;
  const { agentId, createdBy, id } = approval;
  const isCall = approval.toolCallId !== null;
  const told = isCall ? {} : await answerTold(services.sql, id, { state: "EXPIRED", note: null }, at);
  const closed = closedEvent(id, approval.toolCallId, "EXPIRED", `no decision before ${expiredAt}`);
  await services.log.commit(
    approval.tenant,
    { agentId, createdBy, events: [closed, ...end.events].map((body) => ({ at, body })) },
    {
      wake: true,
      approvalTransitions: [{ id, from: "PENDING", to: "EXPIRED", closedAt: at }],
      transitions: end.transitions,
      ...told,
    },
  );
}

async function endOf(
  services: ApprovalServices,
  approval: Expiring,
  expiredAt: string,
  at: Date,
): Promise<{ readonly events: readonly AgentEventBody[]; readonly transitions: readonly ToolCallTransition[] } | null> {
  if (approval.toolCallId === null) return { events: [], transitions: [] };
  const call = await readCall(services.sql, approval.toolCallId);
  if (call.approval?.id !== approval.id) return null;
  // The call of a question continues: its tool is told that no answer came.
  if (call.approval.kind === "TOOL_INPUT") return { events: [], transitions: [] };
  if (call.state !== "APPROVAL_REQUIRED") return null;
  const expired = { ...call, approval: { ...call.approval, state: "EXPIRED" } } as const;
  const step =
    call.startedAt === null ? deny(expired, expiredAt, at) : sealCall(expired, { note: notDecided(call, expiredAt) }, at);
  const held = await services.heldTemplate(approval);
  const template = "missing" in held ? undefined : held;
  const isTraced = template?.trace === true && call.approval.kind === "TOOL_CALL";
  const confirmed = isTraced ? confirmationEnded(step.call) : [];
  return { events: [...confirmed, ...endEvents(step.call, template)], transitions: [step.transition] };
}

function notDecided({ approval }: CallView, expiredAt: string): string {
  return `no ${approval?.kind === "OUTCOME_UNKNOWN" ? "outcome was reported" : "decision"} before ${expiredAt}`;
}

function deny(call: CallView, expiredAt: string, at: Date): CallStep {
  const refusal = { type: "approval_expired", stage: "confirmation", expiredAt } as const;
  const facts = { durationMs: 0, stages: confirmedStages(call.stages, at) };
  return refusedStep(call, refusal, at, { facts, trail: { note: `no decision before ${expiredAt}` } });
}
