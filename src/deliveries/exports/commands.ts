import { randomUUIDv7 } from "node:crypto";
import {
  actorRef,
  missingAbility,
  readsTenant,
  type Actor,
  type CommandRefusal,
  type Outcome,
} from "../../agent/actors/actor.ts";
import { answerOf, claimKey, onceByKey, type KeyedRequest } from "../../agent/actors/idempotency.ts";
import type { ExportState } from "../../db/commit/export-rows.ts";
import type { Sql } from "../../db/sql.ts";
import type { EventLog } from "../../events/log.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import type { ExportSnapshot } from "../../events/tenant-event.ts";
import { newWrite } from "../../events/write.ts";
import { accepted, refused, type Result } from "../../lib/result.ts";
import type { Clock } from "../../lib/time.ts";
import { MOST_OF_ACTOR, MOST_RUNNING, removalTime, storedFilter, type Export, type ExportFilter } from "./export.ts";
import { findExport } from "./stored.ts";
import { foreignConditions, mayHaveTexts } from "./subjects.ts";

/** `since` and `asOf` are positions of the log, which cursors named. `asOf` is `head`, the end of the log, if it is null. */
export type CreateExport = Pick<Export, "what" | "format" | "hasTexts" | "since"> & {
  readonly asOf: number | null;
  readonly head: number;
  readonly filter: Omit<ExportFilter, "visible">;
  readonly idempotencyKey: string | null;
};

type Asked = Omit<CreateExport, "idempotencyKey" | "head" | "asOf"> & Pick<Export, "asOf">;

type Services = { readonly sql: Sql; readonly log: Pick<EventLog, "commitTenant">; readonly clock: Clock };

/** Begins an export of the rows that the actor may read. The servers make its file. */
export async function createExport(
  services: Services,
  actor: Actor,
  { idempotencyKey: key, head, asOf, ...request }: CreateExport,
): Promise<Result<Outcome, CommandRefusal>> {
  const { what, format, hasTexts, since, filter } = request;
  const body = { what, format, hasTexts, since, asOf, filter: storedFilter({ visible: null, ...filter }) };
  const keyed = { actor, operation: "createExport", key, body };
  return onceByKey(services.sql, keyed, () => tryToCreate(services, actor, { ...request, asOf: asOf ?? head }, keyed));
}

async function tryToCreate(
  { log, clock }: Services,
  actor: Actor,
  request: Asked,
  keyed: KeyedRequest,
): Promise<Result<Outcome, CommandRefusal> | "KEY_USED"> {
  const problem = problemOf(actor, request);
  if (problem !== null) return refused(problem);
  const { what, format, hasTexts, since, asOf } = request;
  const filter = { ...request.filter, visible: visibleTo(actor) };
  const id = randomUUIDv7();
  const at = clock.now();
  const by = actorRef(actor);
  const { tenant } = actor;
  const outcome = await log.commitTenant(
    tenant,
    [
      {
        at,
        body: {
          kind: "EXPORT_CREATED",
          exported: snapshotOf({ ...request, id, createdBy: by, rows: 0 }, "RUNNING"),
          changedBy: by,
        },
      },
    ],
    {
      ...claimKey(keyed, id, at),
      createExport: {
        id,
        tenant,
        what,
        format,
        hasTexts,
        filter: storedFilter(filter),
        since,
        asOf,
        state: "RUNNING",
        place: null,
        parts: 0,
        rows: 0,
        bytes: 0,
        keptBytes: 0,
        problem: null,
        createdBy: by.id,
        createdByKind: by.kind,
        createdAt: at,
        endedAt: null,
      },
      mostExports: MOST_RUNNING,
      waits: [{ id, tenant, agentId: null, callId: null, kind: "EXPORT", ref: id, due: at, process: null, settledAt: null }],
    },
    newWrite(id),
  );
  return answerOf(id, outcome, (): Result<never, CommandRefusal> => refused(TOO_MANY));
}

const TOO_MANY: CommandRefusal = {
  code: "QUEUE_FULL",
  field: null,
  message: `${MOST_OF_ACTOR} of your exports, or ${MOST_RUNNING} of the tenant, are being made, the most at a time: wait for one, or cancel it`,
};

function problemOf(actor: Actor, { what, hasTexts, since, asOf, filter }: Asked): CommandRefusal | null {
  const missing = hasTexts ? missingAbility(actor, "EXPORT_TEXTS") : null;
  if (missing !== null) return { ...missing, field: ["withTexts"] };
  if (hasTexts && !mayHaveTexts(what))
    return { code: "INVALID", field: ["withTexts"], message: `an export of ${what} has no texts: leave it out` };
  if (since !== null && since > asOf)
    return { code: "INVALID", field: ["since"], message: "must not lie after `asOf`: an export continues forwards" };
  const [foreign] = foreignConditions(what, { visible: null, ...filter });
  if (foreign === undefined) return null;
  return { code: "INVALID", field: ["filter", foreign], message: `an export of ${what} cannot be filtered by \`${foreign}\`` };
}

/** The creators whose agents' rows the actor may export; null for all of the tenant. */
export function visibleTo(actor: Actor): readonly string[] | null {
  return readsTenant(actor) ? null : actor.roles.includes("user") ? [actor.id] : [];
}

/** True if the actor may read the rows of an export now: those that had more rights when they asked may not. */
export function mayReadExport(actor: Actor, { filter, hasTexts }: Pick<Export, "filter" | "hasTexts">): boolean {
  const visible = visibleTo(actor);
  const isVisible = visible === null || (filter.visible !== null && filter.visible.every((id) => visible.includes(id)));
  return isVisible && (!hasTexts || missingAbility(actor, "EXPORT_TEXTS") === null);
}

/** True if the actor may see that there is such an export: one's own, or, for an administrator, anybody's. */
export function maySeeExport(
  actor: Actor,
  of: { readonly tenant: string; readonly createdBy: string; readonly createdByKind: ActorRef["kind"] },
): boolean {
  const isOwn = of.createdBy === actor.id && of.createdByKind === actor.kind;
  return of.tenant === actor.tenant && (isOwn || actor.roles.includes("admin"));
}

/** Ends an export, and removes its file: one's own, or, for an administrator, anybody's. One without a file stays as it is. */
export async function cancelExport(services: Services, actor: Actor, id: string): Promise<Result<Outcome, CommandRefusal>> {
  const found = await findExport(services.sql, id);
  if (found === null || !maySeeExport(actor, { ...found, createdBy: found.createdBy.id, createdByKind: found.createdBy.kind }))
    return refused({ code: "NOT_FOUND", field: ["exportId"], message: "you have no such export: list yours with `exports`" });
  const end = { from: ["RUNNING", "DONE"], state: "CANCELLED", problem: null } as const;
  return accepted({ id, position: await endExport(services, found, end, actorRef(actor)) });
}

/** Ends an export that is in one of the states `from`. Returns the position of its event; null if it is in none of them. */
export async function endExport(
  { log, clock }: Pick<Services, "log" | "clock">,
  of: Export,
  end: { readonly from: readonly ExportState[]; readonly state: ExportState; readonly problem: string | null },
  by: ActorRef,
): Promise<number | null> {
  const at = clock.now();
  const outcome = await log.commitTenant(
    of.tenant,
    [{ at, body: { kind: "EXPORT_ENDED", exported: snapshotOf(of, end.state), changedBy: by } }],
    { endExport: { id: of.id, ...end, endedAt: at, due: removalTime(at) } },
  );
  return outcome.outcome === "COMMITTED" ? outcome.position : null;
}

function snapshotOf(
  { id, what, format, hasTexts, rows, createdBy }: Pick<Export, "id" | "what" | "format" | "hasTexts" | "rows" | "createdBy">,
  state: ExportState,
): ExportSnapshot {
  return { exportId: id, what, format, hasTexts, state, rows: state === "DONE" ? rows : 0, createdBy };
}
