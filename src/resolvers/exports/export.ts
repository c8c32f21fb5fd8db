import type { Export, Prisma } from "../../db/generated/client.ts";
import type { ExportFormat, ExportState, ExportSubject } from "../../db/commit/export-rows.ts";
import { cancelExport as cancel, createExport as create, mayReadExport } from "../../deliveries/exports/commands.ts";
import { readFilter, removalTime } from "../../deliveries/exports/export.ts";
import { formatCursor } from "../../events/cursor.ts";
import { rowId } from "../../lib/global-id.ts";
import type { JsonObject } from "../../lib/json.ts";
import { connection, type Connection, type Order, type PageArguments } from "../connection.ts";
import { payloadOf, type Context, type Payload } from "../context.ts";
import { positionOf } from "../timeline.ts";
import { auditFilter, type ToolCallFilter } from "../tool-audit.ts";

/** The time for which the address of an export's file is good, in ms. */
export const LINK_MS = 60 * 60_000;

export type ExportListFilter = { readonly states?: readonly ExportState[] | null | undefined };

export type ExportRequest = {
  readonly what: ExportSubject;
  readonly format: ExportFormat;
  readonly withTexts: boolean;
  readonly filter: ToolCallFilter;
  readonly since: string | null;
  readonly asOf: string | null;
  readonly idempotencyKey: string | null;
};

const NEWEST_FIRST: Order<Export> = {
  name: "exports",
  columns: [
    { name: "createdAt", direction: "desc", holds: "time", nulls: "never" },
    { name: "id", direction: "desc", holds: "text", nulls: "never" },
  ],
};

type Selection = Pick<Prisma.ExportFindUniqueArgs, "select">;

/** The actor's exports; for an administrator, those of the tenant. */
export async function exports(
  context: Context,
  args: PageArguments & { readonly filter?: ExportListFilter | null | undefined },
  selection: Selection,
): Promise<Connection<Export>> {
  await context.snapshot();
  const { prisma } = context;
  const states = args.filter?.states;
  return connection<Export, Prisma.ExportWhereInput, Prisma.ExportOrderByWithRelationInput>(args, {
    order: NEWEST_FIRST,
    where: { ...visibleExports(context), ...(states ? { state: { in: [...states] } } : {}) },
    read: async (query) => prisma.export.findMany({ ...selection, ...query }),
    count: async (query) => prisma.export.count(query),
  });
}

export async function exportById(context: Context, id: string, selection: Selection): Promise<Export | null> {
  await context.snapshot();
  return context.prisma.export.findFirst({ ...selection, where: { ...visibleExports(context), id: rowId("Export", id) } });
}

export async function exportByRow({ prisma }: Context, id: string | null, selection: Selection): Promise<Export | null> {
  return id === null ? null : prisma.export.findUnique({ ...selection, where: { id } });
}

function visibleExports({ tenant, actor }: Context): Prisma.ExportWhereInput {
  return actor.roles.includes("admin") ? { tenant } : { tenant, createdBy: actor.id, createdByKind: actor.kind };
}

/** The address of the file for the viewer; null if there is none, or if the viewer may not read its rows now. */
export function viewerUrl(
  { actor, services, signIn, exportUrl }: Context,
  { id, state, filter, hasTexts, endedAt }: Pick<Export, "id" | "state" | "filter" | "hasTexts" | "endedAt">,
): string | null {
  if (endedAt !== null && removalTime(endedAt) <= services.clock.now()) return null;
  const mayRead = mayReadExport(actor, { filter: readFilter(filter as JsonObject), hasTexts });
  return state === "DONE" && mayRead ? exportUrl({ actor, signIn }, id) : null;
}

export async function cursorOf(context: Context, position: bigint): Promise<string> {
  return formatCursor(await context.snapshot(), Number(position));
}

export async function createExport(context: Context, request: ExportRequest): Promise<Payload> {
  const head = await context.snapshot();
  const { what, format, withTexts, filter, idempotencyKey } = request;
  const { tenant: _tenant, haveRun: _haveRun, visible: _visible, ...asked } = auditFilter(context, filter);
  return payloadOf(
    context,
    await create(context.services, context.actor, {
      what,
      format,
      hasTexts: withTexts,
      filter: asked,
      since: request.since === null ? null : positionOf(request.since, head),
      asOf: request.asOf === null ? null : positionOf(request.asOf, head),
      head: head.position,
      idempotencyKey,
    }),
  );
}

export async function cancelExport(context: Context, exportId: string): Promise<Payload> {
  return payloadOf(context, await cancel(context.services, context.actor, rowId("Export", exportId)));
}
