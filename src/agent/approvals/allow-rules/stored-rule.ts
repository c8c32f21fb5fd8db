import { randomUUIDv7 } from "node:crypto";
import type { Statement } from "../../../db/sql.ts";
import type { TenantChange } from "../../../db/commit/tenant-change.ts";
import { SERVER, type ActorRef } from "../../../events/snapshots.ts";
import type { AllowRuleSnapshot, TenantEventBody } from "../../../events/tenant-event.ts";
import { accepted, refused, type Result } from "../../../lib/result.ts";
import { storable } from "../../../lib/text.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { actorRef, missingAbility, type Actor, type CommandRefusal, type Outcome } from "../../actors/actor.ts";
import { MOST_RULES } from "../../policy/permission-source.ts";
import type { ApprovalServices } from "../scope.ts";
import { newAllowRule } from "./new-allow-rule.ts";

type RuleServices = Pick<ApprovalServices, "sql" | "log" | "clock">;

/** The end of a rule as a person gives it: a time, or days from now. Both null for no end. */
export type RuleEnd = { readonly at: Date | null; readonly inDays: number | null };

const MOST_DAYS = 3_650;

/** The first moment at which a rule no longer holds; null for no end. */
export function endOf({ at, inDays }: RuleEnd, now: Date): Result<Date | null, CommandRefusal> {
  const invalid = (field: string, message: string): Result<never, CommandRefusal> =>
    refused({ code: "INVALID", field: [field], message });
  if (at !== null && inDays !== null) return invalid("expiresAt", "give `expiresAt` or `expiresInDays`, not both");
  if (inDays !== null && (inDays < 1 || inDays > MOST_DAYS))
    return invalid("expiresInDays", `must be between 1 and ${MOST_DAYS}, not ${inDays}`);
  if (at !== null && at.getTime() <= now.getTime()) return invalid("expiresAt", "must be in the future");
  return accepted(inDays === null ? at : new Date(now.getTime() + inDays * DAY_MS));
}

type RuleToStore = {
  readonly tenant: string;
  readonly templateId: string;
  readonly rule: string;
  readonly approvalId: string;
  readonly note: string | null;
  readonly expiresAt: Date | null;
};

const SNAPSHOT = `json_build_object('allowRuleId', r.id, 'rule', r.rule, 'templateId', r.template_id, 'agentId', r.agent_id, 'approvalId', r.approval_id, 'note', r.note,
      'createdBy', json_build_object('id', r.created_by, 'kind', r.created_by_kind), 'createdAt', r.created_at, 'expiresAt', r.expires_at)`;
const OVER = "coalesce(r.expires_at <= policy_time(), false)";

type Held = { readonly rule: AllowRuleSnapshot; readonly isOver: boolean };

/** The number of stored rules of a template, and the same rule, if it is stored already. */
const FIND_HELD: Statement<{ held: number; same: Held | null }, [tenant: string, templateId: string, rule: string]> = {
  name: "find_held_allow_rules",
  text: `SELECT count(*)::int AS held, (array_agg(json_build_object('rule', ${SNAPSHOT}, 'isOver', ${OVER})) FILTER (WHERE r.rule = $3))[1] AS same
    FROM allow_rule r WHERE r.tenant = $1 AND r.template_id = $2 AND r.agent_id IS NULL AND r.revoked_at IS NULL`,
};
const FIND_STORED: Statement<Held, [id: string, tenant: string]> = {
  name: "find_stored_allow_rule",
  text: `SELECT ${SNAPSHOT} AS rule, ${OVER} AS "isOver" FROM allow_rule r WHERE r.id = $1 AND r.tenant = $2`,
};
const FIND_OVER: Statement<{ tenant: string; rule: AllowRuleSnapshot }, [id: string]> = {
  name: "find_allow_rule_that_is_over",
  text: `SELECT r.tenant, ${SNAPSHOT} AS rule FROM allow_rule r WHERE r.id = $1 AND r.revoked_at IS NULL AND ${OVER}`,
};

function tooManyRules(templateId: string): CommandRefusal {
  const what = `${MOST_RULES} stored rules already apply to ${templateId}, which is the maximum`;
  const instead = "revoke some, or write rules in the configuration";
  return { code: "TOO_LARGE", field: null, message: `${what}: ${instead}` };
}

/** Stores a rule for the agents of a template. The same rule is kept if it ends later; otherwise the new one takes its place. */
export async function storeAllowRule(
  services: RuleServices,
  actor: Actor,
  { tenant, templateId, rule, approvalId, note, expiresAt }: RuleToStore,
  at: Date,
): Promise<Result<Outcome, CommandRefusal>> {
  const said = note === null ? null : storable(note);
  for (;;) {
    const [found] = await services.sql.query(FIND_HELD, [tenant, templateId, rule]);
    const same = found?.same ?? null;
    if (same !== null && !same.isOver && endsLater(same.rule, expiresAt))
      return accepted({ id: same.rule.allowRuleId, position: null });
    if (same === null && (found?.held ?? 0) >= MOST_RULES) return refused(tooManyRules(templateId));
    const id = randomUUIDv7();
    const createdBy = actorRef(actor);
    const former = same === null ? null : ending(same.rule, same.isOver ? SERVER : createdBy, at);
    const row = newAllowRule({ id, tenant, templateId, agentId: null, rule, approvalId, note: said, expiresAt }, actor, at);
    const stored = {
      allowRuleId: id,
      rule,
      templateId,
      agentId: null,
      approvalId,
      note: said,
      createdBy,
      createdAt: at.toISOString(),
      expiresAt: expiresAt?.toISOString() ?? null,
    };
    const outcome = await services.log.commitTenant(
      tenant,
      [
        ...(former === null ? [] : [{ at, body: former.event }]),
        { at, body: { kind: "ALLOW_RULE_STORED", rule: stored, changedBy: createdBy } },
      ],
      {
        ...former?.change,
        storeAllowRule: row,
        mostAllowRules: MOST_RULES,
        ...(expiresAt === null ? {} : { waits: [endOfRule(id, tenant, expiresAt)] }),
      },
    );
    if (outcome.outcome === "COMMITTED") return accepted({ id, position: outcome.position });
  }
}

function endsLater({ expiresAt }: AllowRuleSnapshot, other: Date | null): boolean {
  return expiresAt === null || (other !== null && new Date(expiresAt).getTime() >= other.getTime());
}

function endOfRule(id: string, tenant: string, due: Date): NonNullable<TenantChange["waits"]>[number] {
  return { id, tenant, agentId: null, callId: null, kind: "ALLOW_RULE", ref: id, due, process: null, settledAt: null };
}

/** Revokes a stored rule, immediately on every server. A revoked one stays revoked. */
export async function revokeAllowRule(
  services: RuleServices,
  actor: Actor,
  id: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const missing = missingAbility(actor, "STORE_ALLOW_RULES");
  if (missing !== null) return refused(missing);
  const [found] = await services.sql.query(FIND_STORED, [id, actor.tenant]);
  if (found === undefined)
    return refused({ code: "NOT_FOUND", field: ["allowRuleId"], message: "there is no such rule: list them with `allowRules`" });
  return accepted({ id, position: await end(services, actor.tenant, found.rule, found.isOver ? SERVER : actorRef(actor)) });
}

/** Reports the end of a rule whose time is up. A compare-and-set reports each end once. */
export async function endAllowRule(services: RuleServices, id: string): Promise<void> {
  const [found] = await services.sql.query(FIND_OVER, [id]);
  if (found !== undefined) await end(services, found.tenant, found.rule, SERVER);
}

async function end({ log, clock }: RuleServices, tenant: string, rule: AllowRuleSnapshot, by: ActorRef): Promise<number | null> {
  const at = clock.now();
  const { event, change } = ending(rule, by, at);
  const outcome = await log.commitTenant(tenant, [{ at, body: event }], change);
  return outcome.outcome === "COMMITTED" ? outcome.position : null;
}

function ending(
  found: AllowRuleSnapshot,
  by: ActorRef,
  at: Date,
): { readonly event: TenantEventBody; readonly change: Pick<TenantChange, "revokeAllowRule"> } {
  const { allowRuleId: id, expiresAt } = found;
  const rule = {
    ...found,
    createdAt: new Date(found.createdAt).toISOString(),
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
  const revokedBy = by === SERVER ? {} : { revokedBy: by.id, revokedByKind: by.kind };
  return {
    event: { kind: "ALLOW_RULE_REVOKED", rule, changedBy: by },
    change: { revokeAllowRule: { id, revokedAt: at, ...revokedBy } },
  };
}
