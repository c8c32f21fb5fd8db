import { ApprovalKind, type ApprovalDecision, type ApprovalState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import type { BudgetQuestion } from "../../events/budgets/budget-question.ts";
import type { ToolQuestion } from "../../events/tool-question.ts";
import type { Json } from "../../lib/json.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { maySee, type Actor, missingAbility, mayDecide, type CommandRefusal } from "../actors/actor.ts";
import type { OwnPermission, VersionOfAgent } from "../policy/own-permission.ts";

export type DecisionRow = {
  readonly actorId: string;
  readonly onBehalfOf: string | null;
  readonly decision: ApprovalDecision;
  /** The hash of the allowed input, if it differs from the shown one. */
  readonly inputHash: string | null;
  /** The values of a form, or the limits to which a budget is raised; null for other kinds. */
  readonly values: Json;
};

type Subject =
  | { readonly kind: Exclude<ApprovalKind, "NETWORK_HOST" | "TOOL_INPUT" | "BUDGET">; readonly toolCallId: string }
  | { readonly kind: "TOOL_INPUT"; readonly toolCallId: string; readonly question: ToolQuestion }
  | { readonly kind: "BUDGET"; readonly toolCallId: null; readonly budget: BudgetQuestion }
  | { readonly kind: "NETWORK_HOST"; readonly toolCallId: null; readonly host: string; readonly port: number };

export type FoundApproval = Subject & FoundRow;

export type FoundHost = Extract<FoundApproval, { readonly kind: "NETWORK_HOST" }>;

export type FoundInput = Extract<FoundApproval, { readonly kind: "TOOL_INPUT" }>;

export type FoundBudget = Extract<FoundApproval, { readonly kind: "BUDGET" }>;

export type FoundCall = Exclude<FoundApproval, FoundHost | FoundInput | FoundBudget>;

type FoundRow = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly templateId: string;
  readonly templateVersion: VersionOfAgent;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
  readonly state: ApprovalState;
  readonly inputHash: string;
  /** The tool of its call; null if it is about no call. */
  readonly tool: string | null;
  readonly quorum: number;
  /** ISO 8601. */
  readonly expiresAt: string | null;
  /** True if it has expired, even if that is not committed yet. */
  readonly isOverdue: boolean;
  readonly decisions: readonly DecisionRow[];
  /**
   * The senders of the messages that the asking calls' turns answer, and people who edited the call's input: the call
   * is their request.
   */
  readonly requesters: readonly ActorRef[];
};

const FIND: Statement<{ found: FoundApproval }, [ids: readonly string[], kinds: readonly string[]]> = {
  name: "find_approvals",
  text: `SELECT json_build_object('id', p.id, 'tenant', p.tenant, 'agentId', p.agent_id, 'createdBy', a.created_by, 'templateId', a.template_id, 'templateVersion', a.template_version, 'workspace', a.workspace,
      'permission', a.permission, 'toolCallId', p.tool_call_id, 'tool', (SELECT t.name FROM tool_call t WHERE t.id = p.tool_call_id), 'host', p.host, 'port', p.port, 'question', p.question, 'budget', CASE WHEN p.kind = 'BUDGET' THEN p.input END, 'kind', p.kind, 'state', p.state, 'inputHash', p.input_hash, 'quorum', coalesce(p.quorum, 1), 'expiresAt', p.expires_at, 'isOverdue', coalesce(p.expires_at <= policy_time(), false),
      'decisions', (SELECT coalesce(json_agg(json_build_object('actorId', d.actor_id, 'onBehalfOf', d.on_behalf_of, 'decision', d.decision, 'inputHash', d.input_hash, 'values', CASE WHEN p.kind IN ('TOOL_INPUT', 'BUDGET') THEN d.input END) ORDER BY d.decided_at), '[]')
        FROM decision d WHERE d.approval_id = p.id),
      'requesters', (SELECT coalesce(jsonb_agg(DISTINCT who), '[]') FROM requesters_of_approval(p) who)) AS found
    FROM approval p JOIN agent a ON a.id = p.agent_id WHERE p.id = ANY ($1) AND p.kind::text = ANY ($2)`,
};

export async function readApprovals(sql: Sql, ids: readonly string[]): Promise<readonly FoundApproval[]> {
  return (await sql.query(FIND, [ids, Object.keys(ApprovalKind)])).map(({ found }) => found);
}

const READ_SPAWNERS: Statement<{ spawners: readonly ActorRef[] }, [agentIds: readonly string[]]> = {
  name: "read_spawners",
  text: `SELECT (SELECT coalesce(jsonb_agg(DISTINCT who), '[]') FROM requesters_of_calls(ARRAY[g.parent_call_id]) who) AS spawners
    FROM unnest($1::text[]) WITH ORDINALITY AS p(id, place) CROSS JOIN LATERAL (SELECT b.parent_call_id FROM agent b WHERE b.id = p.id OFFSET 0) g ORDER BY p.place`,
};

/** The requesters of the calls that started agents, in the order of the agents. All of them must be there. */
export async function readSpawners(sql: Sql, agentIds: readonly string[]): Promise<readonly (readonly ActorRef[])[]> {
  return (await sql.query(READ_SPAWNERS, [agentIds])).map(({ spawners }) => spawners);
}

/** The approval, if the actor may see it. Invisible approvals are reported as missing. */
export async function findApproval(sql: Sql, actor: Actor, id: string): Promise<Result<FoundApproval, CommandRefusal>> {
  const [found] = await readApprovals(sql, [id]);
  if (found !== undefined && maySee(actor, found)) return accepted(found);
  return refused({
    code: "NOT_FOUND",
    field: ["approvalId"],
    message: "there is no such approval: list the pending ones with `approvals(filter: { states: [PENDING] })`",
  });
}

export type Authority = { readonly onBehalfOf: ActorRef | null };

/** The template of an agent that asks, with those of the agents above it. Undefined if one is not configured. */
type SelfApproval = { readonly selfApproval: boolean; readonly above: readonly { readonly selfApproval: boolean }[] } | undefined;

/** True if requesters may decide themselves: the templates of the agent and of all above it allow that. */
export function allowsSelfApproval(template: SelfApproval): boolean {
  return template !== undefined && [template, ...template.above].every(({ selfApproval }) => selfApproval);
}

/**
 * The name in which the actor may decide: their own, or that of a delegator. Requesters may not decide, nor delegate
 * the decision, unless the templates allow it. Only people decide the approvals of a child.
 */
export function authorityOf(actor: Actor, approval: FoundApproval, template: SelfApproval): Result<Authority, CommandRefusal> {
  const { requesters, decisions, permission } = approval;
  const missing = missingAbility(actor, "DECIDE");
  if (missing !== null) return refused(missing);
  if (permission?.ancestors !== undefined && actor.kind !== "USER")
    return refused({
      code: "FORBIDDEN",
      field: null,
      message: "an agent that another started asks people: a person must decide",
    });
  const isOwnAllowed = allowsSelfApproval(template);
  const isDecider = mayDecide(actor);
  const mayBe = (id: string): boolean => isOwnAllowed || !requesters.some((requester) => requester.id === id);
  const hasDecided = (id: string): boolean => decisions.some(({ actorId, onBehalfOf }) => (onBehalfOf ?? actorId) === id);
  const allowed = actor.delegators.filter(({ id }) => mayBe(id));
  const delegator = allowed.find(({ id }) => !hasDecided(id)) ?? allowed[0];
  if (mayBe(actor.id) && (isDecider || delegator !== undefined))
    return accepted({ onBehalfOf: isDecider ? null : (delegator ?? null) });
  return refused({
    code: "SELF_APPROVAL",
    field: null,
    message:
      "you, or the actor who delegates to you, asked for this, and the template forbids self-approval: another approver must decide",
  });
}

export function earlierDecision(
  actor: Pick<Actor, "id">,
  { decisions }: Pick<FoundApproval, "decisions">,
  { onBehalfOf: delegator }: Authority,
): DecisionRow | undefined {
  const principal = delegator?.id ?? actor.id;
  return decisions.find(({ actorId, onBehalfOf }) => actorId === actor.id || (onBehalfOf ?? actorId) === principal);
}

export const CANNOT_DECIDE_REASONS = ["CLOSED", "EXPIRED", "NO_ROLE", "SELF_APPROVAL", "ALREADY_DECIDED"] as const;
export type CannotDecideReason = (typeof CANNOT_DECIDE_REASONS)[number];

/** Every reason for which `decideApproval` would refuse the actor at present; none if they may decide. */
export function cannotDecide(actor: Actor, approval: FoundApproval, template: SelfApproval): readonly CannotDecideReason[] {
  const reasons: CannotDecideReason[] = [];
  if (approval.state !== "PENDING") reasons.push("CLOSED");
  else if (approval.isOverdue) reasons.push("EXPIRED");
  const authority = authorityOf(actor, approval, template);
  if (!authority.ok) reasons.push(authority.refusal.code === "SELF_APPROVAL" ? "SELF_APPROVAL" : "NO_ROLE");
  else if (earlierDecision(actor, approval, authority.value) !== undefined) reasons.push("ALREADY_DECIDED");
  return reasons;
}
