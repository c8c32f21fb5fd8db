import { readsTenant } from "../../agent/actors/actor.ts";
import {
  stepPage,
  stepTotal,
  turnPage,
  turnTotal,
  type StepAuditFilter,
  type TurnAuditFilter,
  type TurnKey,
  type TurnPart,
} from "../../agent/calls/audit/turn-page.ts";
import type { ModelErrorKind } from "../../agent/models/model.ts";
import type { DoneReason } from "../../db/commit/change.ts";
import type { AuditStep, AuditTurn } from "../../db/generated/client.ts";
import { ActorKind, type StepState } from "../../db/generated/enums.ts";
import type { ActorRef } from "../../events/snapshots.ts";
import { rowId } from "../../lib/global-id.ts";
import { actorIds, type ActorNameOrId, namesIn } from "../actor.ts";
import {
  connection,
  type Connection,
  type Order,
  type PageArguments,
  type Part,
  type SortKey,
  type TimeRange,
} from "../connection.ts";
import type { Context } from "../context.ts";

type SharedFilter = {
  readonly started?: TimeRange | null | undefined;
  readonly agentIds?: readonly string[] | null | undefined;
  readonly rootAgentIds?: readonly string[] | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly requestedBy?: readonly ActorNameOrId[] | null | undefined;
  readonly isUnpriced?: boolean | null | undefined;
  readonly errorTypes?: readonly ModelErrorKind[] | null | undefined;
};

export type StepFilter = SharedFilter & {
  readonly states?: readonly StepState[] | null | undefined;
  readonly stopReasons?: readonly string[] | null | undefined;
};

export type TurnFilter = SharedFilter & {
  readonly reasons?: readonly DoneReason[] | null | undefined;
  readonly isOpen?: boolean | null | undefined;
};

export type TurnOrder = { readonly field: "STARTED_AT" | "DURATION" | "COST"; readonly direction: "ASC" | "DESC" };

type ListArguments<Filter> = PageArguments & {
  readonly filter?: Filter | null | undefined;
  readonly orderBy?: TurnOrder | null | undefined;
};

const NEWEST_FIRST: TurnOrder = { field: "STARTED_AT", direction: "DESC" };

/** The steps that the actor may see, without the copies of forks: by default newest first. */
export async function steps(context: Context, args: ListArguments<StepFilter>): Promise<Connection<AuditStep>> {
  await context.snapshot();
  const filter = stepAuditFilter(context, args.filter ?? {});
  const { reads } = context.services;
  const order = args.orderBy ?? NEWEST_FIRST;
  return connection<AuditStep, object, object>(args, {
    order: orderOf<AuditStep>("steps", order, "step"),
    where: {},
    read: (query, part) => stepPage(reads, filter, auditPart(order, query.take, part)),
    count: ({ take }) => stepTotal(reads, filter, take),
  });
}

/** The same of turns: those that have a step or have ended. */
export async function turns(context: Context, args: ListArguments<TurnFilter>): Promise<Connection<AuditTurn>> {
  await context.snapshot();
  const filter = turnAuditFilter(context, args.filter ?? {});
  const { reads } = context.services;
  const order = args.orderBy ?? NEWEST_FIRST;
  return connection<AuditTurn, object, object>(args, {
    order: orderOf<AuditTurn>("turns", order, "turn"),
    where: {},
    read: (query, part) => turnPage(reads, filter, auditPart(order, query.take, part)),
    count: ({ take }) => turnTotal(reads, filter, take),
  });
}

/** The senders of a turn's messages. */
export function requestersOf({ requesters }: AuditTurn): ActorRef[] {
  return requesters.flatMap((text) => {
    const kind = ACTOR_KINDS.find((known) => text.startsWith(`${known}:`));
    return kind === undefined ? [] : [{ kind, id: text.slice(kind.length + 1) }];
  });
}

const ACTOR_KINDS = Object.values(ActorKind);

/** For steps that the actor may see. The groups of a deleted agent have them too. */
export function stepAuditFilter(context: Context, filter: StepFilter): StepAuditFilter {
  return {
    ...sharedFilter(context, filter),
    states: filter.states ?? null,
    stopReasons: filter.stopReasons ? namesIn(filter.stopReasons) : null,
  };
}

export function turnAuditFilter(context: Context, filter: TurnFilter): TurnAuditFilter {
  return { ...sharedFilter(context, filter), reasons: filter.reasons ?? null, isOpen: filter.isOpen ?? null };
}

function sharedFilter({ actor, tenant }: Context, filter: SharedFilter) {
  const { started, templateIds, models, requestedBy } = filter;
  return {
    tenant,
    visible: readsTenant(actor) ? null : actor.roles.includes("user") ? [actor.id] : [],
    from: started?.from ?? null,
    to: started?.to ?? null,
    agentIds: rowsOf(filter.agentIds),
    rootIds: rowsOf(filter.rootAgentIds),
    templateIds: templateIds ? namesIn(templateIds) : null,
    models: models ? namesIn(models) : null,
    requestedBy: requestedBy ? actorIds(requestedBy) : null,
    isUnpriced: filter.isUnpriced ?? null,
    errorTypes: filter.errorTypes ?? null,
  };
}

/** Row ids of agents; null for none given. */
function rowsOf(ids: readonly string[] | null | undefined): readonly string[] | null {
  return ids === null || ids === undefined ? null : [...new Set(ids.map((id) => rowId("Agent", id)))];
}

const COLUMNS = {
  STARTED_AT: { name: "startedAt", column: "started_at" },
  DURATION: { name: "durationMs", column: "duration_ms" },
  COST: { name: "costUsd", column: "cost_usd" },
} as const;

function orderOf<Row extends AuditStep | AuditTurn>(
  list: "steps" | "turns",
  { field, direction: asked }: TurnOrder,
  number: keyof Row & string,
): Order<Row> {
  const direction = asked === "ASC" ? "asc" : "desc";
  const { name } = COLUMNS[field];
  return {
    name: `${list} ${field} ${direction}`,
    columns: [
      field === "STARTED_AT"
        ? { name, direction, holds: "time", nulls: "never" }
        : { name, direction, holds: "number", nulls: "last" },
      { name: "agentId", direction, holds: "text", nulls: "never" },
      { name: number, direction, holds: "integer", nulls: "never" },
    ],
  };
}

function auditPart({ field, direction }: TurnOrder, most: number, { after, before, isBackwards }: Part): TurnPart {
  const keyOf = ([by = null, agentId, number]: SortKey): TurnKey => ({ by, agentId: String(agentId), number: Number(number) });
  return {
    order: { column: COLUMNS[field].column, direction: direction === "ASC" ? "asc" : "desc" },
    after: after === null ? null : keyOf(after),
    before: before === null ? null : keyOf(before),
    isBackwards,
    most,
  };
}
