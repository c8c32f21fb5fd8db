import { randomUUIDv7 } from "node:crypto";
import { newWrite } from "../../events/write.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import { storable } from "../../lib/text.ts";
import { SERVER, type ActorRef } from "../../events/snapshots.ts";
import type { DelegationSnapshot } from "../../events/tenant-event.ts";
import type { Statement } from "../../db/sql.ts";
import { missingAbility, actorRef, type Actor, type Outcome, noteProblem, type CommandRefusal } from "../actors/actor.ts";
import { answerOf, claimKey, onceByKey, type KeyedRequest } from "../actors/idempotency.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { ApprovalServices } from "./scope.ts";

type DelegationServices = Pick<ApprovalServices, "sql" | "log" | "clock" | "logger">;

export type DelegateApprovals = {
  readonly to: ActorRef;
  readonly until: Date;
  readonly note: string | null;
  readonly idempotencyKey: string | null;
};

/** The longest delegation, in days. */
const DAYS = 90;
const ID_CHARACTERS = 200;

const SNAPSHOT = `json_build_object('delegationId', d.id, 'from', json_build_object('id', d.from_id, 'kind', d.from_kind), 'to', json_build_object('id', d.to_id, 'kind', d.to_kind),
    'note', d.note, 'startsAt', d.starts_at, 'endsAt', d.ends_at)`;
const FIND: Statement<{ grant: DelegationSnapshot; isOver: boolean }, [id: string, tenant: string]> = {
  name: "find_delegation",
  text: `SELECT ${SNAPSHOT} AS grant, d.ends_at <= policy_time() AS "isOver" FROM delegation d WHERE d.id = $1 AND d.tenant = $2`,
};
const FIND_OVER: Statement<{ tenant: string; grant: DelegationSnapshot }, [id: string]> = {
  name: "find_delegation_that_is_over",
  text: `SELECT d.tenant, ${SNAPSHOT} AS grant FROM delegation d WHERE d.id = $1 AND d.ended_at IS NULL AND d.ends_at <= policy_time()`,
};

/** Lets another actor decide in one's own name until a time. Their decisions are recorded as theirs, on one's behalf. */
export async function delegateApprovals(
  services: DelegationServices,
  actor: Actor,
  request: DelegateApprovals,
): Promise<Result<Outcome, CommandRefusal>> {
  const { to, until, note } = request;
  const missing = missingAbility(actor, "DELEGATE");
  if (missing !== null) return refused(missing);
  const body = { to, until: until.toISOString(), note };
  const keyed = { actor, operation: "delegateApprovals", key: request.idempotencyKey, body };
  return onceByKey(services.sql, keyed, () => tryToDelegate(services, actor, request, keyed));
}

async function tryToDelegate(
  services: DelegationServices,
  actor: Actor,
  { to, until, note }: DelegateApprovals,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  const at = services.clock.now();
  const problem = delegateProblem(actor, to, until, at) ?? noteProblem(note);
  if (problem !== null) return refused(problem);
  const id = randomUUIDv7();
  const said = note === null ? null : storable(note);
  const from = actorRef(actor);
  const grant = { delegationId: id, from, to, note: said, startsAt: at.toISOString(), endsAt: until.toISOString() };
  const outcome = await services.log.commitTenant(
    actor.tenant,
    [{ at, body: { kind: "DELEGATION_STARTED", grant, changedBy: from } }],
    {
      ...claimKey(keyed, id, at),
      startDelegation: {
        id,
        tenant: actor.tenant,
        fromId: from.id,
        fromKind: from.kind,
        toId: to.id,
        toKind: to.kind,
        note: said,
        startsAt: at,
        endsAt: until,
        createdAt: at,
        revokedAt: null,
        revokedBy: null,
        revokedByKind: null,
        endedAt: null,
      },
      waits: [
        {
          id,
          tenant: actor.tenant,
          agentId: null,
          callId: null,
          kind: "DELEGATION",
          ref: id,
          due: until,
          process: null,
          settledAt: null,
        },
      ],
    },
    newWrite(id),
  );
  return answerOf(id, outcome, (message) => {
    throw new Error(`a delegation could not be stored: ${message}`);
  });
}

function delegateProblem(actor: Actor, to: ActorRef, until: Date, at: Date): CommandRefusal | null {
  const invalid = (field: string, message: string): CommandRefusal => ({ code: "INVALID", field: [field], message });
  if (to.id.trim() !== to.id || to.id === "" || to.id.length > ID_CHARACTERS || to.id.includes("\0"))
    return invalid("toActorId", `give the id of the actor who may decide, at most ${ID_CHARACTERS} characters`);
  if (to.id === actor.id) return invalid("toActorId", "you cannot delegate to yourself");
  if (!(until.getTime() > at.getTime())) return invalid("until", "must be in the future");
  if (until.getTime() > at.getTime() + DAYS * DAY_MS) return invalid("until", `must be at most ${DAYS} days from now`);
  return null;
}

/** Ends a delegation immediately: one's own, or, for an administrator, anybody's. One that has ended stays ended. */
export async function revokeDelegation(
  services: DelegationServices,
  actor: Actor,
  id: string,
): Promise<Result<Outcome, CommandRefusal>> {
  const [found] = await services.sql.query(FIND, [id, actor.tenant]);
  if (found === undefined || (found.grant.from.id !== actor.id && !actor.roles.includes("admin")))
    return refused({
      code: "NOT_FOUND",
      field: ["delegationId"],
      message: "you have no such delegation: list yours with `delegations`",
    });
  return accepted({ id, position: await end(services, actor.tenant, found.grant, found.isOver ? null : actorRef(actor)) });
}

/** Reports the end of a delegation whose time is up. A compare-and-set reports each end once. */
export async function endDelegation(services: DelegationServices, id: string): Promise<void> {
  const [found] = await services.sql.query(FIND_OVER, [id]);
  if (found !== undefined) await end(services, found.tenant, found.grant, null);
}

async function end(
  { log, clock }: DelegationServices,
  tenant: string,
  found: DelegationSnapshot,
  by: ActorRef | null,
): Promise<number | null> {
  const at = clock.now();
  const grant = {
    ...found,
    startsAt: new Date(found.startsAt).toISOString(),
    endsAt: new Date(found.endsAt).toISOString(),
  };
  const revocation = by === null ? {} : { revokedAt: at, revokedBy: by.id, revokedByKind: by.kind };
  const outcome = await log.commitTenant(tenant, [{ at, body: { kind: "DELEGATION_ENDED", grant, changedBy: by ?? SERVER } }], {
    endDelegation: { id: grant.delegationId, endedAt: at, ...revocation },
  });
  return outcome.outcome === "COMMITTED" ? outcome.position : null;
}
