import { ApprovalKind, type ApprovalDecision, type ApprovalState } from "../../db/generated/enums.ts";
import type { Sql, Statement } from "../../db/sql.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { maySee, mayDecide, type Actor } from "../actor.ts";
import type { OwnPermission } from "../gate/agent-policy.ts";
import type { Template } from "../template.ts";
import type { CommandRefusal } from "./refusal.ts";

/** What was decided on an approval so far. */
export type DecisionRow = {
  readonly actorId: string;
  readonly onBehalfOf: string | null;
  readonly decision: ApprovalDecision;
  /** The hash of the input that was allowed, where it is not the one that was shown. */
  readonly inputHash: string | null;
};

/** An approval with all that deciding on it depends on. */
export type FoundApproval = {
  readonly id: string;
  readonly tenant: string;
  readonly agentId: string;
  readonly createdBy: string;
  readonly templateId: string;
  readonly workspace: string;
  readonly permission: OwnPermission | null;
  readonly toolCallId: string;
  readonly kind: ApprovalKind;
  readonly state: ApprovalState;
  readonly inputHash: string;
  readonly quorum: number;
  /** ISO 8601. */
  readonly expiresAt: string | null;
  readonly decisions: readonly DecisionRow[];
  /** Who sent the messages that the call's turn answers: those who asked for it. */
  readonly requesters: readonly string[];
};

const FIND: Statement = {
  name: "find_approval",
  text: `SELECT json_build_object('id', p.id, 'tenant', p.tenant, 'agentId', p.agent_id, 'createdBy', a.created_by, 'templateId', a.template_id, 'workspace', a.workspace,
      'permission', a.permission, 'toolCallId', p.tool_call_id, 'kind', p.kind, 'state', p.state, 'inputHash', p.input_hash, 'quorum', coalesce(p.quorum, 1), 'expiresAt', p.expires_at,
      'decisions', (SELECT coalesce(json_agg(json_build_object('actorId', d.actor_id, 'onBehalfOf', d.on_behalf_of, 'decision', d.decision, 'inputHash', d.input_hash) ORDER BY d.decided_at), '[]')
        FROM decision d WHERE d.approval_id = p.id),
      'requesters', (SELECT coalesce(json_agg(DISTINCT m.created_by), '[]') FROM tool_call t JOIN message m ON m.agent_id = t.agent_id AND m.turn = t.turn AND m.kind = 'USER'
        WHERE t.id = p.tool_call_id)) AS found
    FROM approval p JOIN agent a ON a.id = p.agent_id WHERE p.id = $1 AND p.kind::text = ANY ($2)`,
};

/** The approval, where the actor may see it. One that they may not see is answered like one that does not exist. */
export async function findApproval(sql: Sql, actor: Actor, id: string): Promise<Result<FoundApproval, CommandRefusal>> {
  const [row] = await sql.query<{ found: FoundApproval }>(FIND, [id, Object.keys(ApprovalKind)]);
  if (row !== undefined && maySee(actor, row.found)) return accepted(row.found);
  return refused({
    code: "NOT_FOUND",
    field: ["approvalId"],
    message: "there is no such approval: list the open ones with `approvals(state: PENDING)`",
  });
}

/** In whose name an actor decides. */
export type Authority = { readonly onBehalfOf: string | null };

/**
 * In whose name the actor may decide on this: their own, or that of somebody who delegated to them. Nobody decides on
 * what they asked for, nor lets another do it in their name, unless the template allows it.
 */
export function authorityOf(
  actor: Actor,
  { requesters, decisions }: FoundApproval,
  template: Pick<Template, "selfApproval"> | undefined,
): Result<Authority, CommandRefusal> {
  const isDecider = mayDecide(actor);
  if (!isDecider && actor.delegators.length === 0)
    return refused({
      code: "FORBIDDEN",
      field: null,
      message: "deciding needs the role approver or admin, or somebody with one of them who delegates to you",
    });
  const mayBe = (id: string): boolean => template?.selfApproval === true || !requesters.includes(id);
  const hasDecided = (id: string): boolean => decisions.some(({ actorId, onBehalfOf }) => (onBehalfOf ?? actorId) === id);
  const allowed = actor.delegators.filter(mayBe);
  const delegator = allowed.find((id) => !hasDecided(id)) ?? allowed[0];
  if (mayBe(actor.id) && (isDecider || delegator !== undefined))
    return accepted({ onBehalfOf: isDecider ? null : (delegator ?? null) });
  return refused({
    code: "SELF_APPROVAL",
    field: null,
    message:
      "you, or who delegated to you, asked for this, and the template does not allow deciding on it: another approver must",
  });
}
