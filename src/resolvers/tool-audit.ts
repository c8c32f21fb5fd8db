import { auditCounts, type AuditCount, auditTotal } from "../agent/calls/audit/counts.ts";
import { fromRows, OF_CALLS, type AuditFilter } from "../agent/calls/audit/rows.ts";
import { auditPage, type AuditKey, type AuditPart } from "../agent/calls/audit/page.ts";
import { readsTenant } from "../agent/actors/actor.ts";
import type { Prisma, ToolCall } from "../db/generated/client.ts";
import type { ToolCallState } from "../db/generated/enums.ts";
import type { ToolCallErrorType } from "../events/snapshots.ts";
import { rowId } from "../lib/global-id.ts";
import { actorIds, type ActorNameOrId, namesIn } from "./actor.ts";
import {
  checkPage,
  connection,
  type Connection,
  type PageArguments,
  type PageQuery,
  type Part,
  type Order,
  type SortKey,
  within,
  type TimeRange,
} from "./connection.ts";
import { type Context, visibleAgents } from "./context.ts";

type ToolCallSelection = Pick<Prisma.ToolCallFindUniqueArgs, "include" | "select">;
type Query = PageQuery<Prisma.ToolCallWhereInput, Prisma.ToolCallOrderByWithRelationInput>;

export type ToolCallFilter = {
  readonly created?: TimeRange | null | undefined;
  readonly agentIds?: readonly string[] | null | undefined;
  readonly templateIds?: readonly string[] | null | undefined;
  readonly tools?: readonly string[] | null | undefined;
  readonly states?: readonly ToolCallState[] | null | undefined;
  readonly errorTypes?: readonly ToolCallErrorType[] | null | undefined;
  readonly verdicts?: readonly ("allow" | "ask" | "deny")[] | null | undefined;
  readonly rules?: readonly string[] | null | undefined;
  readonly places?: readonly string[] | null | undefined;
  readonly createdBy?: readonly ActorNameOrId[] | null | undefined;
  readonly decidedBy?: readonly ActorNameOrId[] | null | undefined;
  readonly minDurationMs?: number | null | undefined;
  readonly exitCodes?: readonly number[] | null | undefined;
  readonly hosts?: readonly string[] | null | undefined;
  readonly models?: readonly string[] | null | undefined;
};

export type ToolCallOrder = {
  readonly field: "CREATED_AT" | "DURATION";
  readonly direction: "ASC" | "DESC";
};

/** The tool audit: every call that the actor may see, in any state, by default newest first. */
export async function toolCalls(
  context: Context,
  args: PageArguments & {
    readonly filter?: ToolCallFilter | null | undefined;
    readonly orderBy?: ToolCallOrder | null | undefined;
  },
  selection: ToolCallSelection,
): Promise<Connection<ToolCall>> {
  await context.snapshot();
  const { prisma } = context;
  const filter = args.filter ?? {};
  const { field, direction } = args.orderBy ?? { field: "CREATED_AT", direction: "DESC" };
  const sort = direction === "ASC" ? "asc" : "desc";
  const order = { column: field === "CREATED_AT" ? "created_at" : "duration_ms", direction: sort } as const;
  return connection<ToolCall, Prisma.ToolCallWhereInput, Prisma.ToolCallOrderByWithRelationInput>(args, {
    order: orderOf(field, sort),
    where: visibleCalls(context, filter),
    read: async (query, part) =>
      (await found(context, auditFilter(context, filter), auditPart(order, query.take, part), selection, query)) ??
      prisma.toolCall.findMany({ ...selection, ...query }),
    count: async (query) => {
      const asked = auditFilter(context, filter);
      const { reads } = context.services;
      return (await fromRows(asked, (behind) => auditTotal(reads, asked, query.take, behind))) ?? prisma.toolCall.count(query);
    },
  });
}

/**
 * A call may end between the two reads of a page. The page is read again until both agree, at most so often. After that
 * it consists of the unchanged calls, filled up from behind: a short page would say that it is the last.
 */
const MOST_TRIES = 3;

async function found(
  context: Context,
  filter: AuditFilter,
  part: AuditPart,
  selection: ToolCallSelection,
  query: Pick<Query, "where">,
): Promise<ToolCall[] | null> {
  const { prisma, services } = context;
  for (let tries = 1; ; tries += 1) {
    const entries = await fromRows(filter, (behind) => auditPage(services.reads, filter, part, behind));
    if (entries === null) return null;
    const rows = await prisma.toolCall.findMany({
      ...selection,
      where: { AND: [query.where, { id: { in: entries.map(({ id }) => id) } }] },
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    const asFound = entries.flatMap((entry) => {
      const row = byId.get(entry.id);
      return row !== undefined && (part.order.column === "created_at" || row.durationMs === entry.by) ? [row] : [];
    });
    if (asFound.length === entries.length) return asFound;
    const last = entries.at(-1);
    if (tries < MOST_TRIES || last === undefined) continue;
    if (entries.length < part.most) return asFound;
    const place = part.isBackwards ? { before: last } : { after: last };
    const left = { ...part, ...place, most: part.most - asFound.length };
    const rest = await found(context, filter, left, selection, query);
    return rest === null ? null : [...asFound, ...rest];
  }
}

function auditPart(order: AuditPart["order"], most: number, { after, before, isBackwards }: Part): AuditPart {
  const keyOf = ([by = null, id]: SortKey): AuditKey => ({ by, id: String(id) });
  return {
    order,
    after: after === null ? null : keyOf(after),
    before: before === null ? null : keyOf(before),
    isBackwards,
    most,
  };
}

/** The filter of the audit's rows, for calls that the actor may see. */
export function auditFilter({ actor, tenant }: Context, filter: ToolCallFilter): AuditFilter {
  const { created, agentIds, templateIds, tools, states, errorTypes, verdicts, rules, places } = filter;
  const { createdBy, decidedBy, minDurationMs } = filter;
  return {
    tenant,
    visible: readsTenant(actor) ? null : actor.roles.includes("user") ? [actor.id] : [],
    from: created?.from ?? null,
    to: created?.to ?? null,
    agentIds: agentIds?.map((id) => rowId("Agent", id)) ?? null,
    templateIds: templateIds ? namesIn(templateIds) : null,
    tools: tools ? namesIn(tools) : null,
    states: states ?? null,
    errorTypes: errorTypes ?? null,
    verdicts: verdicts ?? null,
    rules: rules ? namesIn(rules) : null,
    places: places ? namesIn(places) : null,
    createdBy: createdBy ? actorIds(createdBy) : null,
    decidedBy: decidedBy ? actorIds(decidedBy) : null,
    minDurationMs: minDurationMs ?? null,
    haveRun: false,
    exitCodes: filter.exitCodes ?? null,
    hosts: filter.hosts ? namesIn(filter.hosts) : null,
    models: filter.models ? namesIn(filter.models) : null,
  };
}

function orderOf(field: ToolCallOrder["field"], direction: "asc" | "desc"): Order<ToolCall> {
  return {
    name: `toolCalls ${field} ${direction}`,
    columns: [
      field === "CREATED_AT"
        ? { name: "createdAt", direction, holds: "time", nulls: "never" }
        : { name: "durationMs", direction, holds: "number", nulls: "last" },
      { name: "id", direction, holds: "text", nulls: "never" },
    ],
  };
}

export type ToolStats = {
  readonly tool: string;
  readonly calls: number;
  readonly states: readonly { readonly state: ToolCallState; readonly calls: number }[];
  readonly executed: number;
  /** Of executed calls that have ended, in ms; null if there are none. */
  readonly meanMs: number | null;
  readonly slowestMs: number | null;
};

export async function toolStats(context: Context, filter: ToolCallFilter): Promise<readonly ToolStats[]> {
  const { services, expensive, actor } = context;
  const asked = auditFilter(context, filter);
  const counts = await expensive.run(
    actor,
    async () => (await auditCounts(services.reads, asked)) ?? (await auditCounts(services.reads, asked, OF_CALLS)) ?? [],
  );
  const stats = [...Map.groupBy(counts, ({ name }) => name)].map(([tool, rows]): ToolStats => {
    const sum = (of: (row: AuditCount) => number): number => rows.reduce((total, row) => total + of(row), 0);
    const timed = sum((row) => row.timed);
    const most = rows.flatMap(({ mostMs }) => mostMs ?? []);
    return {
      tool,
      calls: sum((row) => row.calls),
      states: rows.map(({ state, calls }) => ({ state, calls })),
      executed: sum((row) => row.executed),
      meanMs: timed === 0 ? null : sum((row) => row.sumMs) / timed,
      slowestMs: most.length === 0 ? null : Math.max(...most),
    };
  });
  return stats.sort((one, other) => other.calls - one.calls || (one.tool < other.tool ? -1 : 1));
}

export async function slowestCalls(
  context: Context,
  filter: ToolCallFilter,
  first: number,
  selection: ToolCallSelection,
): Promise<ToolCall[]> {
  checkPage({ first });
  const order = { column: "duration_ms", direction: "desc" } as const;
  const part = { order, after: null, before: null, isBackwards: false, most: first };
  const where = { AND: [visibleCalls(context, filter), { startedAt: { not: null }, durationMs: { not: null } }] };
  return context.expensive.run(
    context.actor,
    async () =>
      (await found(context, { ...auditFilter(context, filter), haveRun: true }, part, selection, { where })) ??
      context.prisma.toolCall.findMany({ ...selection, where, orderBy: [{ durationMs: "desc" }, { id: "desc" }], take: first }),
  );
}

/** The calls of the filter that the actor may see. Only the audit knows their models. A fork's copies are left out: the original calls count. */
function visibleCalls({ actor, tenant }: Context, filter: ToolCallFilter): Prisma.ToolCallWhereInput {
  const { created, agentIds, templateIds, tools, states, errorTypes, verdicts, rules, places } = filter;
  const { createdBy, decidedBy, minDurationMs, exitCodes, hosts } = filter;
  const explained = (field: string, values: readonly string[]): Prisma.ToolCallWhereInput => ({
    verdict: { not: null },
    OR: namesIn(values).map((value) => ({ explanation: { path: [field], equals: value } })),
  });
  return {
    tenant,
    copiedFrom: null,
    agent: {
      ...visibleAgents(actor),
      ...(templateIds ? { templateId: { in: namesIn(templateIds) } } : {}),
      ...(createdBy ? { AND: { createdBy: { in: actorIds(createdBy) } } } : {}),
    },
    ...(agentIds ? { agentId: { in: agentIds.map((id) => rowId("Agent", id)) } } : {}),
    ...(tools ? { name: { in: namesIn(tools) } } : {}),
    ...(states ? { state: { in: [...states] } } : {}),
    AND: [
      ...(errorTypes ? [{ OR: errorTypes.map((type) => ({ error: { path: ["type"], equals: type } })) }] : []),
      ...(rules ? [explained("decidedBy", rules)] : []),
      ...(places ? [explained("place", places)] : []),
      ...(hosts ? [{ OR: namesIn(hosts).map((host) => ({ hosts: { array_contains: [host] } })) }] : []),
    ],
    ...(verdicts ? { verdict: { in: [...verdicts] } } : {}),
    ...(decidedBy ? { approvals: { some: { decisions: { some: { actorId: { in: actorIds(decidedBy) } } } } } } : {}),
    ...(typeof minDurationMs === "number" ? { durationMs: { gte: minDurationMs } } : {}),
    ...(exitCodes ? { exitCode: { in: [...exitCodes] } } : {}),
    createdAt: within(created),
  };
}
